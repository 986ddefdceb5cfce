// SPDX-License-Identifier: Apache-2.0
#include "agent/process.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/num.h"
#include "io/file.h"

enum {
    STAT_MAX = 4096,
    FIELD_FIRST = 3,
    FIELD_PARENT = 4,
    FIELD_TIME = 14,
    FIELD_TIME_LAST = 17,
    FIELD_START = 22
};

/* 123 (name) S 122 …: the name may hold anything, brackets too, so the last one ends it. */
static bool stat_parse(struct str all, struct process *out)
{
    uint32_t from = str_find(all, '(') + 1, to = all.len;
    while (to > 0 && all.ptr[to - 1] != ')') {
        to--;
    }
    if (to <= from) {
        return false;
    }
    (void)snprintf(out->name, sizeof(out->name), STR_FMT,
                   STR_ARG(str_sub(all, from, to - 1 - from)));
    struct str rest = str_trim(str_sub(all, to, all.len)), part;
    int64_t parent = -1;
    int64_t ticks = 0;
    out->start = -1;
    out->ticks = 0;
    for (int field = FIELD_FIRST; field <= FIELD_START && str_split(&rest, ' ', &part); field++) {
        if ((field == FIELD_PARENT && !num_parse_i64(part, &parent)) ||
            (field == FIELD_START && !num_parse_i64(part, &out->start))) {
            return false;
        }
        if (field >= FIELD_TIME && field <= FIELD_TIME_LAST && num_parse_i64(part, &ticks)) {
            out->ticks += ticks;
        }
    }
    out->parent = (pid_t)parent;
    return out->start >= 0;
}

bool process_read(pid_t pid, struct process *out)
{
    char path[64];
    struct buf text;
    buf_init(&text, STAT_MAX);
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    out->pid = pid;
    bool found = file_read(AT_FDCWD, path, &text, NULL) == STATUS_OK &&
                 stat_parse(buf_view(&text), out);
    buf_done(&text);
    return found;
}

int64_t process_start(pid_t pid)
{
    struct process p;
    return process_read(pid, &p) ? p.start : -1;
}
