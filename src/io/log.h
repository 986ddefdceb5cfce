// SPDX-License-Identifier: Apache-2.0
// log: one event a line on stderr: JSON, or key=value for a person at a terminal. The event's name
// and the keys are stable; an error line says what a person should do. Never a token, a secret or
// a user's payload. Usable from any thread.
//
//     LOG(LOG_INFO, "workload_submitted", LOG_STR("project", name), LOG_I64("seq", seq));
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_field {
    const char *key;
    bool is_number;
    struct str text;
    int64_t number;
};

#define LOG_STR(k, v) ((struct log_field){.key = (k), .text = (v)})
#define LOG_C(k, v)   ((struct log_field){.key = (k), .text = str_from_c(v)})
#define LOG_I64(k, v) ((struct log_field){.key = (k), .is_number = true, .number = (v)})
#define LOG(level, event, ...)                                           \
    log_write((level), (event), (const struct log_field[]){__VA_ARGS__}, \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

/* log_setup: events below level are dropped; for_people chooses key=value. Before it: info, JSON. */
void log_setup(enum log_level level, bool for_people);
/* log_level_parse reads debug, info, warn or error. */
MUST_USE bool log_level_parse(struct str word, enum log_level *out);
void log_write(enum log_level level, const char *event, const struct log_field *fields,
               size_t count);
/* log_err logs an error value: its text, hint, place and our own source line. */
void log_err(enum log_level level, const char *event, const struct err *err);
