// SPDX-License-Identifier: Apache-2.0
#include "api/places.h"

#include "base/array.h"
#include "base/map.h"
#include "base/sort.h"

/* Those that wait in one queue, in order of age, then of place. */
struct line {
    struct str pool;
    uint32_t next; /* line of the same project; IX_NONE */
    uint32_t *rows;
    uint32_t count, cap;
    bool level; /* all of one priority so far */
};

static bool waits(const struct workload *wl)
{
    if (wl->end_ms != TIME_NEVER || wl->desired != WANT_RUN) {
        return false;
    }
    for (uint32_t i = 0; i < wl->pods_count; i++) {
        if (wl->pods[i].phase == POD_PENDING) {
            return true;
        }
    }
    return false;
}

struct lines {
    struct arena *arena;
    struct map first; /* of a project: its first line, others follow by next */
    ARRAY(struct line) items;
};

static struct line *line_of(struct lines *l, const struct workload *wl)
{
    struct str pool = workload_pool(wl);
    uint32_t at = IX_NONE;
    uint32_t first = IX_NONE;
    if (map_get(&l->first, wl->project, &first)) {
        for (at = first; at != IX_NONE && !str_eq(l->items.items[at].pool, pool);) {
            at = l->items.items[at].next;
        }
    }
    if (at == IX_NONE) {
        map_put(&l->first, wl->project, l->items.count);
        at = l->items.count;
        struct line *line = ARRAY_PUSH(l->arena, &l->items);
        *line = (struct line){.pool = pool, .next = first, .level = true};
    }
    return &l->items.items[at];
}

static int by_priority(const void *a, const void *b, void *ctx)
{
    const struct workload *all = ctx;
    int64_t x = all[*(const uint32_t *)a].spec.priority;
    int64_t y = all[*(const uint32_t *)b].spec.priority;
    return x > y ? -1 : x < y; /* stable: older rows come first */
}

static void find_all(struct places *p, const struct state *st)
{
    struct lines l = {.arena = &p->arena};
    map_init(&l.first, &p->arena);
    p->of = ARENA_ARRAY(&p->arena, uint32_t, st->workloads_count + 1);
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        if (!waits(&st->workloads[i])) {
            continue;
        }
        struct line *line = line_of(&l, &st->workloads[i]);
        if (line->count == line->cap) {
            line->rows = array_grow(&p->arena, line->rows, sizeof *line->rows, line->count,
                                    &line->cap);
        }
        line->level = line->level &&
                      (line->count == 0 || by_priority(&line->rows[0], &i, st->workloads) == 0);
        line->rows[line->count++] = i;
    }
    for (uint32_t k = 0; k < l.items.count; k++) {
        struct line *line = &l.items.items[k];
        if (!line->level) {
            sort_stable(line->rows, line->count, sizeof *line->rows, by_priority, st->workloads,
                        &p->arena);
        }
        for (uint32_t i = 0; i < line->count; i++) {
            p->of[line->rows[i]] = i + 1;
        }
    }
}

void places_done(struct places *p)
{
    arena_done(&p->arena);
    *p = (struct places){0};
}

uint32_t places_of(struct places *p, const struct engine *engine, const struct workload *wl)
{
    const struct state *st = engine_state(engine);
    if (!waits(wl)) {
        return 0;
    }
    if (p->of == NULL || p->seq != st->seq) {
        arena_reset(&p->arena);
        find_all(p, st);
        p->seq = st->seq;
    }
    return p->of[wl - st->workloads];
}
