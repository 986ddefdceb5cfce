// SPDX-License-Identifier: Apache-2.0
// past: every pool with every project, at every input: slow, and without any notion of buckets,
// lazy booking or restarts.
#include "sim/past.h"

#include "model/units.h"

static struct past_row *row_of(struct sim_past *p, struct str pool, uint32_t project)
{
    for (uint32_t i = 0; i < p->rows.count; i++) {
        struct past_row *row = &p->rows.items[i];
        if (row->project == project && str_eq(row->pool, pool)) {
            return row;
        }
    }
    struct past_row *row = ARRAY_PUSH(p->arena, &p->rows);
    *row = (struct past_row){.pool = arena_str(p->arena, pool), .project = project};
    return row;
}

static int64_t pool_has(const struct engine *e, struct str pool)
{
    const struct state *s = engine_state(e);
    int64_t share = 0;
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        const struct node *n = &s->nodes[i];
        bool open = n->ready && !engine_drain(e, n->name, STR(""));
        for (uint32_t d = 0; open && d < n->devices_count; d++) {
            if (n->devices[d].healthy && !engine_drain(e, n->name, n->devices[d].uuid) &&
                str_eq(engine_pool_of(e, n), pool)) {
                share += DEVICE_SHARE;
            }
        }
    }
    return share;
}

void past_step(struct sim_past *p, const struct engine *e, int64_t to_ms)
{
    const struct state *s = engine_state(e);
    int64_t ms = s->seq > 0 ? to_ms - s->now_ms : 0;
    p->since_ms = p->since_ms == 0 ? to_ms : p->since_ms;
    for (uint32_t k = 0; k < s->plan.pools_count && ms > 0; k++) {
        struct str pool = s->plan.pools[k].name;
        int64_t had = pool_has(e, pool);
        for (uint32_t i = 0; i < s->plan.projects_count; i++) {
            const struct project *j = &s->plan.projects[i];
            struct past_row *row = row_of(p, pool, j->id);
            row->gpu_share_ms += engine_held(e, pool, j->name, false).gpu_share * ms;
            row->had_gpu_share_ms += had * ms;
        }
    }
}

// The name of the project of a row that the plan still has, with its pool; "" otherwise.
static struct str still_there(const struct state *s, const struct past_row *row)
{
    bool pool = false;
    for (uint32_t i = 0; i < s->plan.pools_count; i++) {
        pool = pool || str_eq(s->plan.pools[i].name, row->pool);
    }
    for (uint32_t i = 0; pool && i < s->plan.projects_count; i++) {
        if (s->plan.projects[i].id == row->project) {
            return s->plan.projects[i].name;
        }
    }
    return STR("");
}

struct str past_check(struct sim_past *p, const struct engine *e, struct arena *arena)
{
    const struct state *s = engine_state(e);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->rows.count; i++) {
        struct past_row row = p->rows.items[i];
        struct str name = still_there(s, &row);
        if (name.len == 0) {
            continue; // gone with its history
        }
        p->rows.items[kept++] = row;
        struct usage u = engine_usage(e, row.pool, name, false, s->now_ms);
        if (u.from_ms > p->since_ms) {
            continue;
        }
        if (u.used.v[RES_GPU] != row.gpu_share_ms || u.had.v[RES_GPU] < row.had_gpu_share_ms) {
            return arena_printf(arena,
                                "books say that " STR_FMT " used %lld of %lld in pool " STR_FMT
                                ", it was %lld of at least %lld",
                                STR_ARG(name), (long long)u.used.v[RES_GPU],
                                (long long)u.had.v[RES_GPU], STR_ARG(row.pool),
                                (long long)row.gpu_share_ms, (long long)row.had_gpu_share_ms);
        }
    }
    p->rows.count = kept;
    return STR("");
}
