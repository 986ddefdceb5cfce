// SPDX-License-Identifier: Apache-2.0
// A line is built whole and written with one write, so that lines of threads and of the jobs'
// supervisors do not mix.
#include "io/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/rfc3339.h"
#include "codec/json.h"
#include "io/clock.h"

enum { LINE_MAX_BYTES = 8192 };

static _Atomic enum log_level least = LOG_INFO;
static _Atomic bool people;

static const struct str level_words[] = {
    [LOG_DEBUG] = STRS("debug"),
    [LOG_INFO] = STRS("info"),
    [LOG_WARN] = STRS("warn"),
    [LOG_ERROR] = STRS("error"),
};

void log_setup(enum log_level level, bool for_people)
{
    atomic_store(&least, level);
    atomic_store(&people, for_people);
}

bool log_level_parse(struct str word, enum log_level *out)
{
    for (size_t i = 0; i < COUNT_OF(level_words); i++) {
        if (str_eq(word, level_words[i])) {
            *out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

static void write_json(struct buf *line, enum log_level level, struct str time, const char *event,
                       const struct log_field *fields, size_t count)
{
    struct jw w;
    jw_init(&w, line, false);
    jw_object_begin(&w);
    jw_member_string(&w, STR("time"), time);
    jw_member_string(&w, STR("level"), level_words[level]);
    jw_member_string(&w, STR("event"), str_from_c(event));
    for (size_t i = 0; i < count; i++) {
        struct str key = str_from_c(fields[i].key);
        if (fields[i].is_number) {
            jw_member_i64(&w, key, fields[i].number);
        } else {
            jw_member_string(&w, key, fields[i].text);
        }
    }
    jw_object_end(&w);
}

static void write_words(struct buf *line, enum log_level level, struct str time, const char *event,
                        const struct log_field *fields, size_t count)
{
    buf_printf(line, STR_FMT " " STR_FMT " %s", STR_ARG(time), STR_ARG(level_words[level]), event);
    for (size_t i = 0; i < count; i++) {
        buf_printf(line, " %s=", fields[i].key);
        if (fields[i].is_number) {
            buf_printf(line, "%lld", (long long)fields[i].number);
        } else {
            struct jw w;
            jw_init(&w, line, false);
            jw_string(&w, fields[i].text);
        }
    }
}

void log_write(enum log_level level, const char *event, const struct log_field *fields,
               size_t count)
{
    if (level < atomic_load(&least)) {
        return;
    }
    char time_text[RFC3339_TEXT_SIZE];
    struct str time = rfc3339_format(clock_wall_ms(), time_text);
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    if (atomic_load(&people)) {
        write_words(&line, level, time, event, fields, count);
    } else {
        write_json(&line, level, time, event, fields, count);
    }
    if (line.full) { /* too long: the event alone is worth more than half a line of JSON */
        buf_clear(&line);
        write_json(&line, level, time, event, NULL, 0);
    }
    buf_char(&line, '\n');
    ssize_t n;
    do {
        n = write(STDERR_FILENO, line.ptr, line.len);
    } while (n < 0 && errno == EINTR); /* nowhere to complain when it fails otherwise */
    buf_done(&line);
}

void log_err(enum log_level level, const char *event, const struct err *err)
{
    LOG(level, event, LOG_C("text", err->text), LOG_C("hint", err->hint),
        LOG_C("field", err->field), LOG_C("source", err->source));
}
