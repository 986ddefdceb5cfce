// SPDX-License-Identifier: Apache-2.0
// show: what the state holds as JSON, in the forms of docs/api.md. Pure on the engine; now_ms is for
// what still counts (how long it runs, how long it waits).
#pragma once

#include "api/places.h"
#include "api/sight.h"
#include "codec/json.h"
#include "engine/engine.h"

struct show {
    const struct engine *engine;
    int64_t now_ms;
    struct arena *arena; /* scratch of the answer */
    struct sight *sight; /* what is not in it is left out, or shown without its name */
    struct places *places;
    /* Workloads of each queue by pool, made when first needed. */
    struct queue_counts *counts;
};

void show_workload(struct show *s, struct jw *w, const struct workload *wl, bool with_events);
void show_why(struct show *s, struct jw *w, const struct why *why);
/* show_remedy_hide takes the names of workloads that the reader may not see out of it. */
void show_remedy_hide(struct show *s, struct remedy_told *told);
/* show_remedy: null when it does not wait. */
void show_remedy(struct jw *w, const struct remedy_told *told);
/* A list of sentences. */
void show_story(struct show *s, struct jw *w, const struct workload *wl,
                const struct remedy_told *remedy);
void show_department(struct show *s, struct jw *w, const struct department *d);
void show_project(struct show *s, struct jw *w, const struct project *p);
void show_pool(struct show *s, struct jw *w, const struct pool *p, bool with_queues);
void show_node(struct show *s, struct jw *w, const struct node *n);
void show_summary(struct show *s, struct jw *w); /* of the cluster */
void show_changes(struct jw *w, const struct plan_change *changes, uint32_t count);
void show_problems(struct jw *w, const struct problems *problems);

/* show_fingerprint changes whenever what show_workload shows may have changed, except for what
 * merely counts time. */
uint64_t show_fingerprint(const struct workload *wl);
struct str show_kind(enum workload_kind kind);
struct str show_framework(enum framework framework); /* "" for none */
/* show_find_project: by name, NULL when there is none. */
const struct project *show_find_project(const struct plan *plan, struct str name);
