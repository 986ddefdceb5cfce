// SPDX-License-Identifier: Apache-2.0
// invariants: what must hold after every input, said slowly and from the state alone, so that it
// does not share the mistakes of what it checks. What concerns a start or a stop (R1 to R4, limits
// and guarantees at the moment of a start) is a matter of two states and is checked where both
// are known, in sim/.
#include "base/check.h"
#include "engine/machine.h"
#include "model/units.h"

struct inspector {
    const struct engine *e;
    struct arena *a;
    struct str breach;
};

#define BREACH(in, ...) ((in)->breach = arena_printf((in)->a, __VA_ARGS__), false)

static bool is_active(const struct pod *p)
{
    return p->phase == POD_BINDING || p->phase == POD_RUNNING;
}

/* ---- devices ---- */

static bool device_ok(struct inspector *in, const struct node *n, uint32_t device)
{
    const struct state *s = &in->e->s;
    struct str uuid = n->devices[device].uuid;
    int64_t share = 0;
    int64_t rounded = 0; /* of memory, each up to a share */
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        const struct workload *w = &s->workloads[i];
        for (uint32_t k = 0; k < w->pods_count; k++) {
            const struct pod *p = &w->pods[k];
            for (uint32_t d = 0; d < p->devices_count && str_eq(p->node, n->name); d++) {
                bool here = str_eq(p->devices[d].uuid, uuid);
                share += here ? p->devices[d].share : 0;
                rounded += here && workload_pod(w, k)->gpu_memory_bytes > 0;
            }
        }
    }
    uint32_t row = tables_node(s, n->name);
    share -= rounded;
    if (share > DEVICE_SHARE) {
        return BREACH(in, "device %.*s of node %.*s is given out %lld/7000 times", STR_ARG(uuid),
                      STR_ARG(n->name), (long long)share);
    }
    if (in->e->t.node_rows[row].device_share[device] != share) {
        return BREACH(in, "books of device %.*s of node %.*s say %lld, held is %lld", STR_ARG(uuid),
                      STR_ARG(n->name), (long long)in->e->t.node_rows[row].device_share[device],
                      (long long)share);
    }
    return true;
}

static bool devices_ok(struct inspector *in)
{
    const struct state *s = &in->e->s;
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        for (uint32_t d = 0; d < s->nodes[i].devices_count; d++) {
            if (!device_ok(in, &s->nodes[i], d)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- books ---- */

static bool held_eq(const struct held *a, const struct held *b)
{
    return a->gpu_share == b->gpu_share && a->cpu_milli == b->cpu_milli &&
           a->memory_bytes == b->memory_bytes &&
           a->gpu_share_nonpreemptible == b->gpu_share_nonpreemptible &&
           a->cpu_milli_nonpreemptible == b->cpu_milli_nonpreemptible &&
           a->memory_bytes_nonpreemptible == b->memory_bytes_nonpreemptible &&
           a->gpu_share_low == b->gpu_share_low && a->cpu_milli_low == b->cpu_milli_low &&
           a->memory_bytes_low == b->memory_bytes_low;
}

// What the pods of one project hold in one pool.
static struct held project_holds(const struct engine *e, uint32_t pool, struct str project)
{
    struct held sum = {0};
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        const struct workload *w = &e->s.workloads[i];
        for (uint32_t k = 0; k < w->pods_count && str_eq(w->project, project); k++) {
            if (pod_holds(&w->pods[k])) {
                uint32_t node = tables_node(&e->s, w->pods[k].node);
                struct held h = pod_amounts(w, &w->pods[k]);
                if (tables_pool_of(&e->s.plan, &e->s.nodes[node]) == pool) {
                    held_add(&sum, &h, false);
                }
            }
        }
    }
    return sum;
}

// A department holds what its projects and the departments below it hold.
static struct held children_hold(const struct engine *e, uint32_t pool, struct str department)
{
    const struct plan *p = &e->s.plan;
    struct held sum = {0};
    for (uint32_t i = 0; i < p->projects_count; i++) {
        if (str_eq(p->projects[i].department, department)) {
            held_add(&sum, &e->t.project_held[pool * p->projects_count + i], false);
        }
    }
    for (uint32_t i = 0; i < p->departments_count; i++) {
        if (str_eq(p->departments[i].parent, department)) {
            held_add(&sum, &e->t.department_held[pool * p->departments_count + i], false);
        }
    }
    return sum;
}

static bool books_ok(struct inspector *in)
{
    const struct engine *e = in->e;
    const struct plan *p = &e->s.plan;
    for (uint32_t pool = 0; pool < p->pools_count; pool++) {
        for (uint32_t i = 0; i < p->projects_count; i++) {
            struct held want = project_holds(e, pool, p->projects[i].name);
            if (!held_eq(&want, &e->t.project_held[pool * p->projects_count + i])) {
                return BREACH(in, "books of project %.*s in pool %.*s are wrong",
                              STR_ARG(p->projects[i].name), STR_ARG(p->pools[pool].name));
            }
        }
        for (uint32_t i = 0; i < p->departments_count; i++) {
            struct held want = children_hold(e, pool, p->departments[i].name);
            if (!held_eq(&want, &e->t.department_held[pool * p->departments_count + i])) {
                return BREACH(in,
                              "department %.*s in pool %.*s does not hold what those below hold",
                              STR_ARG(p->departments[i].name), STR_ARG(p->pools[pool].name));
            }
        }
    }
    return true;
}

/* ---- past use ---- */

static bool is_closed(const struct state *s, struct str node, struct str device)
{
    for (uint32_t i = 0; i < s->drains_count; i++) {
        if (str_eq(s->drains[i].node, node) && str_eq(s->drains[i].device, device)) {
            return true;
        }
    }
    return false;
}

static struct held pool_has(const struct engine *e, uint32_t pool)
{
    struct held h = {0};
    for (uint32_t i = 0; i < e->s.nodes_count; i++) {
        const struct node *n = &e->s.nodes[i];
        if (n->ready && !is_closed(&e->s, n->name, STR("")) &&
            tables_pool_of(&e->s.plan, n) == pool) {
            h.cpu_milli += n->cpu_milli;
            h.memory_bytes += n->memory_bytes;
            for (uint32_t d = 0; d < n->devices_count; d++) {
                bool open = n->devices[d].healthy && !is_closed(&e->s, n->name, n->devices[d].uuid);
                h.gpu_share += open ? DEVICE_SHARE : 0;
            }
        }
    }
    return h;
}

static bool usage_ok(struct inspector *in)
{
    enum { USES_MAX = 600 };
    const struct engine *e = in->e;
    const struct plan *p = &e->s.plan;
    for (uint32_t i = 0; i < p->pools_count; i++) {
        struct held has = pool_has(e, i);
        if (!held_eq(&has, &e->t.pool_has[i])) {
            return BREACH(in, "books of what pool %.*s has are wrong", STR_ARG(p->pools[i].name));
        }
    }
    for (uint32_t i = 0; i < e->s.books_count; i++) {
        const struct book *b = &e->s.books[i];
        if (b->until_ms > e->s.now_ms || b->uses_count > USES_MAX) {
            return BREACH(in, "a book of past use of pool %.*s is ahead or has %u rows",
                          STR_ARG(b->pool), b->uses_count);
        }
        for (uint32_t k = 0; k < b->uses_count; k++) {
            if (b->uses[k].start_ms > b->until_ms ||
                (k > 0 && b->uses[k].start_ms <= b->uses[k - 1].start_ms)) {
                return BREACH(in, "a book of past use of pool %.*s is out of order",
                              STR_ARG(b->pool));
            }
        }
        for (uint32_t k = 0; k < i; k++) {
            if (e->s.books[k].project == b->project && str_eq(e->s.books[k].pool, b->pool)) {
                return BREACH(in, "there are two books of one project and pool");
            }
        }
    }
    return true;
}

/* ---- workloads ---- */

static bool pod_ok(struct inspector *in, const struct workload *w, const struct pod *p)
{
    const char *wrong = NULL;
    if (pod_holds(p) && (p->node.len == 0 || p->attempt == 0)) {
        wrong = "holds a place nowhere";
    } else if (!pod_holds(p) && p->devices_count > 0) {
        wrong = "holds devices without a place";
    } else if (is_active(p) && w->desired != WANT_RUN) {
        wrong = "runs though nobody wants it to";
    } else if (p->phase == POD_RUNNING && p->start_ms == TIME_NEVER) {
        wrong = "runs without having started";
    } else if (pod_holds(p) &&
               p->devices_count !=
                   (uint32_t)workload_pod(w, (uint32_t)(p - w->pods))->gpu_devices) {
        wrong = "holds other devices than it asked for";
    }
    if (wrong) {
        return BREACH(in, "a pod of workload %.*s %s", STR_ARG(w->name), wrong);
    }
    return true;
}

static bool workload_ok(struct inspector *in, uint32_t row)
{
    const struct workload *w = &in->e->s.workloads[row];
    int64_t active = 0;
    int64_t done = 0;
    for (uint32_t i = 0; i < w->pods_count; i++) {
        if (!pod_ok(in, w, &w->pods[i])) {
            return false;
        }
        active += is_active(&w->pods[i]);
        done += w->pods[i].phase == POD_SUCCEEDED;
    }
    if (active > 0 && active + done < w->spec.pods_min && w->stale_since_ms == TIME_NEVER) {
        return BREACH(in, "gang %.*s runs with %lld of at least %lld members (R5)",
                      STR_ARG(w->name), (long long)active, (long long)w->spec.pods_min);
    }
    if (workload_is_terminal(w) != (w->end_ms != TIME_NEVER)) {
        return BREACH(in, "workload %.*s: end and time of end disagree", STR_ARG(w->name));
    }
    if (w->events_count > EVENTS_MAX + 1) {
        return BREACH(in, "workload %.*s keeps %u events", STR_ARG(w->name), w->events_count);
    }
    return true;
}

/* ---- indexes ---- */

static bool indexes_ok(struct inspector *in)
{
    const struct engine *e = in->e;
    uint32_t pods = 0;
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        const struct workload *w = &e->s.workloads[i];
        uint32_t at;
        if (!map_get(&e->t.workloads, uuid_bytes(&w->id), &at) || at != i) {
            return BREACH(in, "index of workloads loses %.*s", STR_ARG(w->name));
        }
        const struct workload *named = engine_find_name(e, w->project, w->name);
        if (!named || named < w) {
            return BREACH(in, "index of names loses %.*s", STR_ARG(w->name));
        }
        for (uint32_t k = 0; k < w->pods_count; k++, pods++) {
            if (!map_get(&e->t.pods, uuid_bytes(&w->pods[k].id), &at) ||
                e->t.pod_rows[at].workload != i || e->t.pod_rows[at].pod != k) {
                return BREACH(in, "index of pods loses one of %.*s", STR_ARG(w->name));
            }
        }
    }
    if (pods != e->t.pod_rows_count) {
        return BREACH(in, "index of pods has %u, the state %u", e->t.pod_rows_count, pods);
    }
    return true;
}

/* ---- identity ---- */

static bool identity_ok(struct inspector *in)
{
    const struct identity *d = &in->e->s.identity;
    for (uint32_t i = 0; i < d->rules_count; i++) {
        const struct access_rule *r = &d->rules[i];
        if (!scope_exists(&in->e->s.plan, r->scope) || !role_exists(d, r->role)) {
            return BREACH(in, "access rule %u is about a scope or a role that is gone", r->id);
        }
        if (r->subject_kind == SUBJECT_APPLICATION &&
            identity_application_named(d, r->subject) == NULL) {
            return BREACH(in, "access rule %u is about a service account that is gone", r->id);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (d->rules[k].id >= r->id) {
                return BREACH(in, "access rules are not in the order of their ids");
            }
        }
    }
    return true;
}

struct str engine_invariants(const struct engine *e, struct arena *arena)
{
    struct inspector in = {.e = e, .a = arena, .breach = STR("")};
    bool ok = devices_ok(&in) && books_ok(&in) && usage_ok(&in) && indexes_ok(&in) &&
              identity_ok(&in);
    for (uint32_t i = 0; ok && i < e->s.workloads_count; i++) {
        ok = workload_ok(&in, i);
    }
    return in.breach;
}
