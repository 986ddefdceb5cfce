// SPDX-License-Identifier: Apache-2.0
// sound: what the engine relies on, checked where bytes or a plan come from outside: sorted names,
// references that lead somewhere, values within their ranges. What follows from the rules (books,
// R1 to R9) is in invariants.c.
#include <string.h>

#include "engine/machine.h"
#include "model/ids.h"
#include "model/limits.h"
#include "model/units.h"

/* ---- plan ---- */

static bool sorted(const void *items, size_t size, uint32_t count, uint32_t len_max)
{
    struct str last = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct str name; // first in each of these structs
        memcpy(&name, (const char *)items + size * i, sizeof(name));
        if (name.len == 0 || name.len > len_max || (i > 0 && str_cmp(last, name) >= 0)) {
            return false;
        }
        last = name;
    }
    return true;
}

static bool amount_ok(int64_t quota, int64_t most)
{
    return quota >= AMOUNT_UNLIMITED && quota <= QUEUE_AMOUNT_MAX && most >= AMOUNT_UNLIMITED &&
           most <= QUEUE_AMOUNT_MAX;
}

static bool duration_ok(int64_t ms)
{
    return ms >= -1 && ms <= MIN_RUNTIME_MAX_MS;
}

static bool window_ok(const struct pool *p)
{
    return p->usage_window <= USAGE_CRON && p->usage_window_ms >= 0 &&
           p->usage_window_ms <= USAGE_WINDOW_MAX_MS && p->usage_start_ms >= 0 &&
           p->usage_start_ms <= DURATION_MAX_MS && p->usage_half_life_ms >= 0 &&
           p->usage_half_life_ms <= MIN_RUNTIME_MAX_MS && p->usage_k_less_one >= -WEIGHT_ONE &&
           p->usage_k_less_one <= K_PERMILLE_MAX - WEIGHT_ONE &&
           p->usage_low_less_one >= -WEIGHT_ONE && p->usage_low_less_one <= 0;
}

static bool quotas_sound(const struct plan *p, const struct quota *quotas, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct quota *q = &quotas[i];
        bool ok = q->gpu_share >= 0 && amount_ok(q->gpu_share, q->gpu_max_share) &&
                  amount_ok(q->cpu_milli, q->cpu_max_milli) &&
                  amount_ok(q->memory_bytes, q->memory_max_bytes) && q->weight_milli >= 0 &&
                  q->weight_milli <= WEIGHT_MILLI_MAX && q->rank >= 0 && q->rank <= 1000 &&
                  duration_ok(q->reclaim_min_runtime_ms) && duration_ok(q->preempt_min_runtime_ms);
        if (!ok || tables_pool(p, q->pool) == IX_NONE) {
            return false;
        }
    }
    return sorted(quotas, sizeof(*quotas), count, NAME_LEN_MAX);
}

bool plan_sorted(const struct plan *p)
{
    return sorted(p->pools, sizeof(*p->pools), p->pools_count, NAME_LEN_MAX) &&
           sorted(p->departments, sizeof(*p->departments), p->departments_count, NAME_LEN_MAX) &&
           sorted(p->projects, sizeof(*p->projects), p->projects_count, NAME_LEN_MAX);
}

static bool rules_ok(const struct scheduling_rules *r)
{
    const int64_t limits[] = {r->training_run_ms, r->training_idle_ms, r->workspace_run_ms,
                              r->workspace_idle_ms, r->workspace_preemptible_idle_ms};
    for (uint32_t i = 0; i < COUNT_OF(limits); i++) {
        if (limits[i] < 0 || !duration_ok(limits[i])) {
            return false;
        }
    }
    return true;
}

bool plan_sound(const struct plan *p, struct arena *scratch)
{
    if (!plan_sorted(p) || tables_pool(p, DEFAULT_NAME) == IX_NONE || p->pools_count > POOLS_MAX ||
        p->departments_count >= QUEUES_MAX ||
        p->projects_count >= QUEUES_MAX - p->departments_count) {
        return false;
    }
    for (uint32_t i = 0; i < p->pools_count; i++) {
        const struct pool *pool = &p->pools[i];
        if (pool->gpu_placement > PLACEMENT_PACK || pool->cpu_placement > PLACEMENT_SPREAD ||
            pool->reclaim_min_runtime_ms < 0 || !duration_ok(pool->reclaim_min_runtime_ms) ||
            pool->preempt_min_runtime_ms < 0 || !duration_ok(pool->preempt_min_runtime_ms) ||
            pool->reservation_after_ms < 0 || !duration_ok(pool->reservation_after_ms) ||
            !window_ok(pool)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->departments_count; i++) {
        if (!quotas_sound(p, p->departments[i].quotas, p->departments[i].quotas_count) ||
            !rules_ok(&p->departments[i].rules)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->projects_count; i++) {
        const struct project *project = &p->projects[i];
        bool ok = tables_department(p, project->department) != IX_NONE &&
                  quotas_sound(p, project->quotas, project->quotas_count) &&
                  rules_ok(&project->rules) && project->default_preemptibility <= NON_PREEMPTIBLE &&
                  project->default_priority >= 0 && project->default_priority <= 1000;
        for (uint32_t k = 0; ok && k < project->default_pools_count; k++) {
            ok = tables_pool(p, project->default_pools[k].value) != IX_NONE;
        }
        if (!ok) {
            return false;
        }
    }
    return tables_departments(p, ARENA_ARRAY(scratch, uint32_t, p->departments_count));
}

/* ---- nodes ---- */

bool node_sound(const struct node *n)
{
    if (n->name.len == 0 || n->name.len > NODE_NAME_LEN_MAX || n->cpu_milli < 0 ||
        n->cpu_milli > AMOUNT_MAX || n->memory_bytes < 0 || n->memory_bytes > AMOUNT_MAX ||
        n->pods_max < 0 || n->pods_max > AMOUNT_MAX || n->devices_count > NODE_DEVICES_MAX ||
        n->zones_count > NODE_ZONES_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < n->zones_count; i++) {
        const struct zone *z = &n->zones[i];
        if (z->cpu_milli < 0 || z->cpu_milli > AMOUNT_MAX || z->memory_bytes < 0 ||
            z->memory_bytes > AMOUNT_MAX || (i > 0 && z->numa_node <= n->zones[i - 1].numa_node) ||
            z->numa_node < 0) {
            return false;
        }
    }
    for (uint32_t i = 0; i < n->devices_count; i++) {
        const struct device *d = &n->devices[i];
        if (d->uuid.len == 0 || d->memory_bytes < 0 || d->memory_bytes > AMOUNT_MAX) {
            return false;
        }
        for (uint32_t k = 0; k < i; k++) {
            if (str_eq(d->uuid, n->devices[k].uuid)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- state ---- */

static bool pod_sound(const struct state *s, const struct pod *p)
{
    if (uuid_is_zero(p->id) || p->phase > POD_FAILED) {
        return false;
    }
    for (uint32_t i = 0; i < p->devices_count; i++) {
        if (p->devices[i].share <= 0 || p->devices[i].share > DEVICE_SHARE) {
            return false;
        }
    }
    return pod_holds(p) ? tables_node(s, p->node) != IX_NONE : p->devices_count == 0;
}

static bool updates_sound(const struct workload *w)
{
    struct outcome ignored;
    const struct update *u = w->updates;
    return w->updates_count == 0 ||
           (w->updates_count == 1 && spec_numbers_ok(&u->spec, &ignored) &&
            (int64_t)u->pod_ids_count == u->spec.pods && u->spec.pools_count > 0);
}

static bool workload_sound(const struct state *s, const struct workload *w)
{
    const struct workload_spec *spec = &w->spec;
    struct outcome ignored;
    bool live = w->end_ms == TIME_NEVER;
    if (uuid_is_zero(w->id) || w->desired > WANT_DELETED || w->kind > WORKLOAD_DISTRIBUTED ||
        !spec_numbers_ok(spec, &ignored) || (int64_t)w->pods_count < spec->pods ||
        !updates_sound(w) ||
        (spec->preemptibility != PREEMPTIBLE && spec->preemptibility != NON_PREEMPTIBLE) ||
        w->events_count > EVENTS_MAX + 1 || w->port < 0 || w->port > UINT16_MAX) {
        return false;
    }
    if (live &&
        (w->pool_ix >= spec->pools_count || tables_project(&s->plan, w->project) == IX_NONE)) {
        return false;
    }
    for (uint32_t i = 0; live && i < spec->pools_count; i++) {
        if (tables_pool(&s->plan, spec->pools[i].value) == IX_NONE) {
            return false;
        }
    }
    for (uint32_t i = 0; i < w->pods_count; i++) {
        if (!pod_sound(s, &w->pods[i]) || (!live && pod_holds(&w->pods[i]))) {
            return false;
        }
    }
    return true;
}

/* ---- books ---- */

static bool use_sound(const struct use *u)
{
    for (int r = 0; r < RES_COUNT; r++) {
        if (u->low.v[r] < 0 || u->all.v[r] < u->low.v[r]) {
            return false;
        }
    }
    return true;
}

static bool book_sound(const struct state *s, const struct map *projects, const struct book *b)
{
    uint32_t project;
    if ((b->project != 0 && !map_get(projects, id_key(&b->project), &project)) ||
        tables_pool(&s->plan, b->pool) == IX_NONE || b->until_ms < 0 || b->until_ms > s->now_ms ||
        s->now_ms > DURATION_MAX_MS) {
        return false;
    }
    for (uint32_t i = 0; i < b->uses_count; i++) {
        const struct use *u = &b->uses[i];
        if (!use_sound(u) || u->start_ms < (i > 0 ? b->uses[i - 1].start_ms + 1 : 0) ||
            u->start_ms > b->until_ms) {
            return false;
        }
    }
    return true;
}

enum status state_sound(const struct state *s, struct arena *scratch, struct err *err)
{
    if (!plan_sound(&s->plan, scratch)) {
        return err_set(err, STATUS_CORRUPT, "the plan in the state contradicts itself");
    }
    if (!sorted(s->nodes, sizeof(*s->nodes), s->nodes_count, NODE_NAME_LEN_MAX)) {
        return err_set(err, STATUS_CORRUPT, "the nodes in the state are not in order");
    }
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        if (!node_sound(&s->nodes[i])) {
            struct str name = str_sub(s->nodes[i].name, 0, 100);
            return err_set(err, STATUS_CORRUPT, "node \"%.*s\" in the state is damaged",
                           STR_ARG(name));
        }
    }
    if (!drains_sorted(s)) {
        return err_set(err, STATUS_CORRUPT, "the drains in the state are not in order");
    }
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        if (!workload_sound(s, &s->workloads[i])) {
            struct str name = str_sub(s->workloads[i].name, 0, 100);
            return err_set(err, STATUS_CORRUPT, "workload %u (\"%.*s\") in the state is damaged", i,
                           STR_ARG(name));
        }
    }
    struct map projects;
    plan_projects_by_id(&s->plan, &projects, scratch);
    for (uint32_t i = 0; i < s->books_count; i++) {
        if (!book_sound(s, &projects, &s->books[i])) {
            return err_set(err, STATUS_CORRUPT, "the books of past use in the state are damaged");
        }
    }
    for (uint32_t i = 0; i < s->deleted_count; i++) {
        const struct workload *w = &s->deleted[i];
        struct outcome ignored;
        if (w->kind > WORKLOAD_DISTRIBUTED || w->desired != WANT_DELETED || w->end_ms < 0 ||
            w->end_ms > DURATION_MAX_MS || w->pods_count > 0 || w->events_count > 0 ||
            w->updates_count > 0 || !spec_numbers_ok(&w->spec, &ignored)) {
            return err_set(err, STATUS_CORRUPT, "deleted workload %u in the state is damaged", i);
        }
    }
    if (!types_sound(s)) {
        return err_set(err, STATUS_CORRUPT, "the types of workloads in the state are damaged");
    }
    if (!assets_sound(s)) {
        return err_set(err, STATUS_CORRUPT, "the assets in the state are damaged");
    }
    if (!policies_sound(s)) {
        return err_set(err, STATUS_CORRUPT, "the policies in the state are damaged");
    }
    if (!identity_sound(&s->identity)) {
        return err_set(err, STATUS_CORRUPT,
                       "users, keys, roles or access rules in the state are damaged");
    }
    return STATUS_OK;
}
