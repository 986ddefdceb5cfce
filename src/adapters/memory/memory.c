// SPDX-License-Identifier: Apache-2.0
// memory: a list of committed records and, behind it, a queue of groups that are appended and not
// committed. A poll commits from the front of the queue and acknowledges at once, so between two
// polls "written" and "acknowledged" are the same but at a crash, which decides how much of the
// queue had been written.
#include "adapters/memory/memory.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"

struct row {
    int64_t seq;
    char *bytes;
    uint32_t len;
    bool damaged;
};

struct group {
    struct group *next;
    struct row *rows;
    uint32_t count;
    bool refused;
    store_done *done;
    void *arg;
};

struct memory_store {
    struct row *rows; /* committed, in order */
    uint32_t count, cap;
    int64_t last_seq; /* of what is committed */
    int64_t next_seq; /* of what comes next, behind the queue */
    struct group *first, *last;
    uint32_t groups, groups_per_poll, appends_left;
    bool refusing;
    int64_t checkpoint_seq;
    uint64_t checkpoint_hash;
    char *checkpoint;
    uint32_t checkpoint_len;
};

static void rows_free(struct row *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        mem_free(rows[i].bytes);
    }
}

static void group_free(struct group *g)
{
    rows_free(g->rows, g->refused ? g->count : 0);
    mem_free(g->rows);
    mem_free(g);
}

// Takes the rows of g over into the committed list.
static void commit(struct memory_store *m, struct group *g)
{
    uint32_t need = m->count + g->count;
    if (need > m->cap) {
        uint32_t cap = m->cap * 2 > need ? m->cap * 2 : need;
        m->rows = mem_resize(m->rows, sizeof(*m->rows) * m->cap, sizeof(*m->rows) * cap);
        m->cap = cap;
    }
    if (g->count > 0) {
        memcpy(m->rows + m->count, g->rows, sizeof(*g->rows) * g->count);
        m->last_seq = g->rows[g->count - 1].seq;
    }
    m->count = need;
}

static struct group *take_first(struct memory_store *m)
{
    struct group *g = m->first;
    m->first = g->next;
    m->last = m->first ? m->last : NULL;
    m->groups--;
    return g;
}

static void acknowledge_first(struct memory_store *m)
{
    struct group *g = take_first(m);
    struct err err;
    enum status status = STATUS_OK;
    if (g->refused) {
        status = err_set(&err, STATUS_IO, "memory store: the disk refuses, as it was told to");
    } else {
        commit(m, g);
    }
    if (g->done) {
        g->done(g->arg, status, status == STATUS_OK ? NULL : &err);
    }
    group_free(g);
}

/* ---- the port ---- */

static void memory_append(void *ctx, const struct store_record *records, uint32_t count,
                          store_done *done, void *arg)
{
    struct memory_store *m = ctx;
    struct group *g = mem_alloc(sizeof(*g));
    m->refusing = m->refusing || m->appends_left == 0;
    m->appends_left -= m->appends_left > 0 && m->appends_left != UINT32_MAX;
    *g = (struct group){.count = count, .refused = m->refusing, .done = done, .arg = arg};
    g->rows = mem_alloc(sizeof(*g->rows) * count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(m->refusing || records[i].seq == m->next_seq + i);
        g->rows[i] = (struct row){.seq = records[i].seq, .len = records[i].bytes.len};
        g->rows[i].bytes = mem_alloc(g->rows[i].len);
        if (g->rows[i].len > 0) {
            memcpy(g->rows[i].bytes, records[i].bytes.ptr, g->rows[i].len);
        }
    }
    m->next_seq += g->refused ? 0 : count;
    if (m->last) {
        m->last->next = g;
    } else {
        m->first = g;
    }
    m->last = g;
    m->groups++;
}

static void memory_poll(void *ctx)
{
    struct memory_store *m = ctx;
    for (uint32_t i = 0; i < m->groups_per_poll && m->first; i++) {
        acknowledge_first(m);
    }
}

static void memory_wait(void *ctx)
{
    struct memory_store *m = ctx;
    while (m->first) {
        acknowledge_first(m);
    }
}

static enum status memory_read(void *ctx, int64_t after, store_visit *visit, void *arg,
                               struct err *err)
{
    struct memory_store *m = ctx;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct row *r = &m->rows[i];
        if (r->seq <= after) {
            continue;
        }
        if (r->damaged) {
            return err_set(err, STATUS_CORRUPT, "memory store: record %lld is damaged",
                           (long long)r->seq);
        }
        enum status status = visit(arg, r->seq, (struct str){r->bytes, r->len}, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status memory_checkpoint(void *ctx, int64_t seq, uint64_t hash, struct str bytes,
                                     struct err *err)
{
    struct memory_store *m = ctx;
    if (m->refusing) {
        return err_set(err, STATUS_IO, "memory store: the disk refuses, as it was told to");
    }
    mem_free(m->checkpoint);
    m->checkpoint = mem_alloc(bytes.len);
    if (bytes.len > 0) {
        memcpy(m->checkpoint, bytes.ptr, bytes.len);
    }
    m->checkpoint_len = bytes.len;
    m->checkpoint_seq = seq;
    m->checkpoint_hash = hash;
    return STATUS_OK;
}

static enum status memory_latest(void *ctx, struct arena *arena, int64_t *seq, uint64_t *hash,
                                 struct str *bytes, struct err *err)
{
    const struct memory_store *m = ctx;
    (void)err;
    *seq = m->checkpoint_seq;
    *hash = m->checkpoint_hash;
    *bytes = m->checkpoint_len > 0
                 ? arena_str(arena, (struct str){m->checkpoint, m->checkpoint_len})
                 : (struct str){0};
    return STATUS_OK;
}

struct store memory_port(struct memory_store *m)
{
    return (struct store){
        .ctx = m,
        .append = memory_append,
        .poll = memory_poll,
        .wait = memory_wait,
        .read = memory_read,
        .checkpoint = memory_checkpoint,
        .latest = memory_latest,
    };
}

/* ---- life and faults ---- */

struct memory_store *memory_open(void)
{
    struct memory_store *m = mem_alloc(sizeof(*m));
    m->next_seq = 1;
    m->groups_per_poll = UINT32_MAX;
    m->appends_left = UINT32_MAX;
    return m;
}

void memory_close(struct memory_store *m)
{
    if (!m) {
        return;
    }
    memory_crash(m, 0);
    rows_free(m->rows, m->count);
    mem_free(m->rows);
    mem_free(m->checkpoint);
    mem_free(m);
}

void memory_delay(struct memory_store *m, uint32_t groups)
{
    m->groups_per_poll = groups;
}

uint32_t memory_outstanding(const struct memory_store *m)
{
    return m->groups;
}

void memory_crash(struct memory_store *m, uint32_t keep)
{
    for (uint32_t i = 0; m->first; i++) {
        struct group *g = take_first(m);
        if (i < keep && !g->refused) {
            commit(m, g);
        } else {
            g->refused = true; // its rows are nobody's
        }
        group_free(g);
    }
    m->next_seq = m->last_seq + 1;
    m->refusing = false;
    m->appends_left = UINT32_MAX;
}

void memory_refuse(struct memory_store *m, uint32_t appends)
{
    m->appends_left = appends;
}

void memory_damage(struct memory_store *m, int64_t seq)
{
    for (uint32_t i = 0; i < m->count; i++) {
        m->rows[i].damaged = m->rows[i].damaged || m->rows[i].seq == seq;
    }
}

void memory_forget(struct memory_store *m, int64_t seq)
{
    uint32_t drop = 0;
    while (drop < m->count && m->rows[drop].seq <= seq) {
        drop++;
    }
    rows_free(m->rows, drop);
    m->count -= drop;
    if (m->count > 0) {
        memmove(m->rows, m->rows + drop, sizeof(*m->rows) * m->count);
    }
}
