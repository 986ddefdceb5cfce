// SPDX-License-Identifier: Apache-2.0
// series: metrics (values over time) and telemetry (values now), as JSON or, when the client asks for
// text/csv, as lines. All numbers are JSON strings there.
#pragma once

#include "api/runai/common.h"

#define METRIC_ARGS(words) \
    "metricType* [" words "], start* ts, end* ts, numberOfSamples int(0..1000) = 20"

/* One value for a stretch of time; false: there is none (not known, or not measured). */
struct sample {
    struct str type; /* of metricType */
    uint32_t variant;
    int64_t from_ms, to_ms;
};
struct metrics {
    struct call *c;
    void *ctx;
    bool (*value)(const struct metrics *m, const struct sample *s, int64_t *milli);
    /* Whether that type is measured at all; NULL: all are. */
    bool (*measured)(struct str type);
    /* Measurements of one type, told apart by a label or a group; NULL: one of each. */
    uint32_t (*variants)(const struct metrics *m, struct str type);
    void (*show_variant)(const struct metrics *m, struct str type, uint32_t variant, struct jw *w);
};
/* metrics_answer answers for the types, the time and the number of samples of the arguments: 200, or
 * 207 when something of it is not measured. A sample is of the stretch that ends with it. */
void metrics_answer(const struct metrics *m);

/* Telemetry: begin, any number of values, end. */
struct telemetry {
    struct call *c;
    struct jw w;
    bool csv;
    struct str type;
};
struct telemetry_group {
    struct str key, value, name;
};
void telemetry_begin(struct telemetry *t, struct call *c);
void telemetry_value(struct telemetry *t, int64_t milli, const struct telemetry_group *groups,
                     uint32_t groups_count);
void telemetry_end(struct telemetry *t);
/* telemetry_by: the argument groupBy has that word. */
bool telemetry_by(const struct call *c, struct str word);

/* Of departments and projects. */
#define ORG_METRIC_ARGS                                                                            \
    METRIC_ARGS("'GPU_QUOTA'|'CPU_QUOTA_MILLICORES'|'CPU_MEMORY_QUOTA_MB'|'GPU_ALLOCATION'|"       \
                "'CPU_ALLOCATION_MILLICORES'|'CPU_MEMORY_ALLOCATION_MB'|'GPU_MEMORY_UTILIZATION'") \
    ", nodepoolName str"
#define ORG_TELEMETRY_WORDS                                                                  \
    "'GPU_QUOTA'|'CPU_QUOTA'|'MEMORY_QUOTA'|'GPU_ALLOCATION'|'CPU_ALLOCATION'|"              \
    "'MEMORY_ALLOCATION'|'GPU_ALLOCATION_NON_PREEMPTIBLE'|'CPU_ALLOCATION_NON_PREEMPTIBLE'|" \
    "'MEMORY_ALLOCATION_NON_PREEMPTIBLE'"
void queue_metrics(struct call *c, struct str queue, bool department);
void queue_telemetry(struct call *c, bool departments);
