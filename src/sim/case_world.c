// SPDX-License-Identifier: Apache-2.0
// Freezing copies the tables one to one, so that an index of the world is the index of the row as
// pushed and, after sorting, its tag.
//
// Carrying (tests/cases/FORMAT.md): binding pods run; pipelined ones wait again, their place kept by
// a claim; a pod that was told to stop is gone at once and made anew by its controller, so it waits
// too, unless its workload says that it stays deleted.
#include "sim/case_world.h"

#include "base/check.h"
#include "base/intern.h"

static const struct str state_names[CASE_POD_STATE_COUNT] = {
    [CASE_PENDING] = STRS("pending"),     [CASE_GATED] = STRS("gated"),
    [CASE_RUNNING] = STRS("running"),     [CASE_RELEASING] = STRS("releasing"),
    [CASE_SUCCEEDED] = STRS("succeeded"), [CASE_FAILED] = STRS("failed"),
    [CASE_PIPELINED] = STRS("pipelined"), [CASE_BINDING] = STRS("binding"),
};

struct str case_pod_state_name(enum case_pod_state state)
{
    CHECK(state < CASE_POD_STATE_COUNT);
    return state_names[state];
}

bool case_pod_state_parse(struct str name, enum case_pod_state *out)
{
    for (uint32_t s = 0; s < CASE_POD_STATE_COUNT; s++) {
        if (str_eq(name, state_names[s])) {
            *out = (enum case_pod_state)s;
            return true;
        }
    }
    return false;
}

bool case_pod_holds(const struct case_pod *pod)
{
    return pod->state == CASE_RUNNING || pod->state == CASE_RELEASING || pod->state == CASE_BINDING;
}

void case_world_init(struct case_world *w, struct arena *arena, int64_t now_ms)
{
    struct snapshot defaults;
    snapshot_init(&defaults, now_ms);
    *w = (struct case_world){.arena = arena, .now_ms = now_ms, .config = defaults.config};
}

/* ---- freezing ---- */

static enum task_state task_state_of(enum case_pod_state state)
{
    switch (state) {
    case CASE_PENDING:
    case CASE_PIPELINED:
        return TASK_PENDING;
    case CASE_GATED:
        return TASK_GATED;
    case CASE_BINDING:
        return TASK_BINDING;
    case CASE_RUNNING:
        return TASK_RUNNING;
    case CASE_RELEASING:
        return TASK_RELEASING;
    case CASE_SUCCEEDED:
        return TASK_SUCCEEDED;
    case CASE_FAILED:
        return TASK_FAILED;
    case CASE_POD_STATE_COUNT:
        break;
    }
    check_fail(__FILE__, __LINE__, "not a case_pod_state");
}

/* What the freezing of one world shares between its tables. */
struct freezing {
    const struct case_world *w;
    struct arena *arena;
    struct snapshot *s;
    struct intern extended;   /* names of MIG resources: index in s->extended */
    struct intern label_keys; /* index in s->label_keys */
    bool tainted;             /* some node has a taint */
};

/* "nvidia.com/mig-3g.20gb" has 3 compute slices; 0 for anything else. */
static int64_t mig_slices(struct str name)
{
    uint32_t slash = str_find(name, '/');
    struct str profile = str_sub(name, slash < name.len ? slash + 1 : 0, name.len);
    if (!str_starts(profile, STR("mig-")) || profile.len < 6 || profile.ptr[5] != 'g') {
        return 0;
    }
    char digit = profile.ptr[4];
    return digit >= '1' && digit <= '7' ? digit - '0' : 0;
}

static uint32_t extended_run(struct freezing *f, uint32_t first, uint32_t count)
{
    uint32_t at = f->s->extended_amounts.count;
    for (uint32_t i = first; i < first + count; i++) {
        const struct case_amount *a = &f->w->amounts.items[i];
        uint32_t ix = intern_id(&f->extended, a->name);
        if (ix == f->s->extended.count) {
            *ARRAY_PUSH(f->arena, &f->s->extended) = (struct snap_extended){
                .name = a->name, .mig_slices = mig_slices(a->name)};
        }
        *ARRAY_PUSH(f->arena, &f->s->extended_amounts) = (struct snap_extended_amount){
            .extended = ix, .amount = a->amount};
    }
    return at;
}

static uint32_t label_key(struct freezing *f, struct str key)
{
    uint32_t ix = intern_id(&f->label_keys, key);
    if (ix < f->s->label_keys.count) {
        return ix;
    }
    struct snap_label_key *row = ARRAY_PUSH(f->arena, &f->s->label_keys);
    *row = (struct snap_label_key){
        .name = key, .values = ARENA_ARRAY(f->arena, uint32_t, f->w->nodes.count + 1)};
    struct intern values;
    intern_init(&values, f->arena);
    for (uint32_t n = 0; n < f->w->nodes.count; n++) {
        const struct case_node *node = &f->w->nodes.items[n];
        row->values[n] = IX_NONE;
        for (uint32_t l = node->label_first; l < node->label_first + node->label_count; l++) {
            if (str_eq(f->w->labels.items[l].key, key)) {
                row->values[n] = intern_id(&values, f->w->labels.items[l].value);
            }
        }
    }
    return ix;
}

static void freeze_nodes(struct freezing *f)
{
    for (uint32_t n = 0; n < f->w->nodes.count; n++) {
        const struct case_node *node = &f->w->nodes.items[n];
        struct snap_node row = {.name = node->name,
                                .tag = n,
                                .device_first = node->device_first,
                                .device_count = node->device_count,
                                .extended_count = node->mig_count,
                                .cpu_milli = node->cpu_milli,
                                .memory_bytes = node->memory_bytes,
                                .pods = node->pods,
                                .mig = node->mig,
                                .ready = !node->lost,
                                .schedulable = !node->cordoned && !node->draining,
                                .draining = node->draining};
        row.extended_first = extended_run(f, node->mig_first, node->mig_count);
        f->tainted = f->tainted || node->taint_count > 0;
        row.zone_first = node->zone_first;
        row.zone_count = node->zone_count;
        *ARRAY_PUSH(f->arena, &f->s->nodes) = row;
    }
    for (uint32_t z = 0; z < f->w->zones.count; z++) {
        const struct case_zone *zone = &f->w->zones.items[z];
        *ARRAY_PUSH(f->arena, &f->s->zones) = (struct snap_zone){
            .cpu_milli = zone->cpu_milli, .memory_bytes = zone->memory_bytes};
    }
    for (uint32_t d = 0; d < f->w->devices.count; d++) {
        const struct case_device *device = &f->w->devices.items[d];
        *ARRAY_PUSH(f->arena, &f->s->devices) = (struct snap_device){
            .node = {device->node},
            .tag = d,
            .ordinal = device->ordinal,
            .zone = device->zone,
            .memory_bytes = device->memory_bytes,
            .healthy = !device->sick && !device->draining,
            .draining = device->draining};
    }
}

static void freeze_topologies(struct freezing *f)
{
    for (uint32_t t = 0; t < f->w->topologies.count; t++) {
        const struct case_topology *topology = &f->w->topologies.items[t];
        struct snap_topology row = {.name = topology->name, .level_count = topology->level_count};
        CHECK(topology->level_count <= TOPOLOGY_LEVELS_MAX);
        for (uint32_t l = 0; l < topology->level_count; l++) {
            row.level_keys[l] = label_key(f, f->w->keys.items[topology->level_first + l]);
        }
        *ARRAY_PUSH(f->arena, &f->s->topologies) = row;
    }
}

static void freeze_queues(struct freezing *f)
{
    for (uint32_t q = 0; q < f->w->queues.count; q++) {
        const struct case_queue *queue = &f->w->queues.items[q];
        *ARRAY_PUSH(f->arena, &f->s->queues) = (struct snap_queue){
            .name = queue->name,
            .tag = q,
            .parent = {queue->parent},
            .quota = queue->quota,
            .limit = queue->limit,
            .weight_milli = queue->weight_milli,
            .usage = queue->usage,
            .priority = queue->priority,
            .created_seq = q,
            .reclaim_min_runtime_ms = queue->reclaim_min_runtime_ms,
            .preempt_min_runtime_ms = queue->preempt_min_runtime_ms};
    }
}

/* The value of the label that node affinity looks at: the name unless the case gives another. */
static struct str node_type(const struct case_world *w, const struct case_node *node)
{
    for (uint32_t l = node->label_first; l < node->label_first + node->label_count; l++) {
        if (str_eq(w->labels.items[l].key, CASE_NODE_LABEL)) {
            return w->labels.items[l].value;
        }
    }
    return node->name;
}

static uint32_t selected_set(struct freezing *f, const struct case_shape *shape)
{
    if (!shape->only_nodes) {
        return IX_NONE;
    }
    uint32_t node_count = f->w->nodes.count;
    uint64_t *words = ARENA_ARRAY(f->arena, uint64_t, (node_count + 63) / 64 + 1);
    for (uint32_t n = 0; n < node_count; n++) {
        for (uint32_t k = shape->node_first; k < shape->node_first + shape->node_count; k++) {
            if (str_eq(node_type(f->w, &f->w->nodes.items[n]), f->w->keys.items[k])) {
                words[n / 64] |= UINT64_C(1) << (n % 64);
            }
        }
    }
    uint32_t ix = f->s->node_sets.count;
    *ARRAY_PUSH(f->arena, &f->s->node_sets) = (struct snap_node_set){.words = words};
    return ix;
}

static bool tolerates(const struct case_world *w, const struct case_shape *shape, struct str taint)
{
    for (uint32_t i = 0; i < shape->tolerates_count; i++) {
        if (str_eq(w->keys.items[shape->tolerates_first + i], taint)) {
            return true;
        }
    }
    return false;
}

/* The nodes all of whose taints the shape tolerates. */
static uint32_t tolerated_set(struct freezing *f, const struct case_shape *shape)
{
    uint32_t node_count = f->w->nodes.count;
    if (!f->tainted) {
        return IX_NONE;
    }
    uint64_t *words = ARENA_ARRAY(f->arena, uint64_t, (node_count + 63) / 64 + 1);
    bool all = true;
    for (uint32_t n = 0; n < node_count; n++) {
        const struct case_node *node = &f->w->nodes.items[n];
        bool here = true;
        for (uint32_t k = 0; k < node->taint_count; k++) {
            here = here && tolerates(f->w, shape, f->w->keys.items[node->taint_first + k]);
        }
        words[n / 64] |= (uint64_t)here << (n % 64);
        all = all && here;
    }
    if (all) {
        return IX_NONE;
    }
    *ARRAY_PUSH(f->arena, &f->s->node_sets) = (struct snap_node_set){.words = words};
    return f->s->node_sets.count - 1;
}

/* Whether pods of shape `pod` carry all the labels that pods of shape `term` carry. */
static bool labels_match(const struct case_world *w, const struct case_shape *pod,
                         const struct case_shape *term)
{
    for (uint32_t i = term->label_first; i < term->label_first + term->label_count; i++) {
        bool found = false;
        for (uint32_t j = pod->label_first; j < pod->label_first + pod->label_count; j++) {
            found = found || (str_eq(w->labels.items[i].key, w->labels.items[j].key) &&
                              str_eq(w->labels.items[i].value, w->labels.items[j].value));
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

/* Terms of a shape are those of its index: two each at most, affinity first. */
struct shape_terms {
    uint32_t term[2];
};

static struct shape_terms *freeze_terms(struct freezing *f)
{
    struct shape_terms *terms = ARENA_ARRAY(f->arena, struct shape_terms, f->w->shapes.count + 1);
    for (uint32_t i = 0; i < f->w->shapes.count; i++) {
        const struct case_shape *shape = &f->w->shapes.items[i];
        for (uint32_t anti = 0; anti < 2; anti++) {
            struct str key = anti == 0 ? shape->affinity_key : shape->anti_affinity_key;
            terms[i].term[anti] = IX_NONE;
            if (key.len > 0) {
                terms[i].term[anti] = f->s->terms.count;
                *ARRAY_PUSH(f->arena, &f->s->terms) = (struct snap_term){
                    .label_key = label_key(f, key), .anti = anti == 1};
            }
        }
    }
    return terms;
}

static void refer_to_term(struct freezing *f, uint32_t term, uint32_t *first, uint32_t *count)
{
    if (term == IX_NONE) {
        return;
    }
    if (*count == 0) {
        *first = f->s->term_refs.count;
    }
    *ARRAY_PUSH(f->arena, &f->s->term_refs) = term;
    *count += 1;
}

static void freeze_shapes(struct freezing *f)
{
    const struct shape_terms *terms = freeze_terms(f);
    bool any_terms = f->s->terms.count > 0;
    for (uint32_t i = 0; i < f->w->shapes.count; i++) {
        const struct case_shape *shape = &f->w->shapes.items[i];
        struct snap_shape row = {.gpu = shape->gpu,
                                 .device_count = shape->device_count,
                                 .share = shape->share,
                                 .device_memory_bytes = shape->device_memory_bytes,
                                 .cpu_milli = shape->cpu_milli,
                                 .memory_bytes = shape->memory_bytes,
                                 .extended_count = shape->mig_count,
                                 .selected_set = selected_set(f, shape),
                                 .tolerated_set = tolerated_set(f, shape)};
        row.extended_first = extended_run(f, shape->mig_first, shape->mig_count);
        row.single_numa = shape->single_numa;
        for (uint32_t kind = 0; kind < 2; kind++) {
            refer_to_term(f, terms[i].term[kind], &row.carries_first, &row.carries_count);
        }
        for (uint32_t other = 0; any_terms && other < f->w->shapes.count; other++) {
            if (labels_match(f->w, shape, &f->w->shapes.items[other])) {
                for (uint32_t kind = 0; kind < 2; kind++) {
                    refer_to_term(f, terms[other].term[kind], &row.matches_first,
                                  &row.matches_count);
                }
            }
        }
        *ARRAY_PUSH(f->arena, &f->s->shapes) = row;
    }
}

static void freeze_workloads(struct freezing *f)
{
    for (uint32_t i = 0; i < f->w->workloads.count; i++) {
        const struct case_workload *workload = &f->w->workloads.items[i];
        *ARRAY_PUSH(f->arena, &f->s->workloads) = (struct snap_workload){
            .name = workload->name,
            .tag = i,
            .queue = {workload->queue},
            .priority = workload->priority,
            .preemptible = workload->preemptible,
            .created_ms = workload->created_ms,
            .last_start_ms = workload->last_start_ms,
            .last_evicted_ms = workload->last_evicted_ms,
            .evicted_for = {workload->evicted_for},
            .checkpoint_ms = workload->checkpoint_ms,
            .duration_ms = workload->duration_ms,
            .preemption_delay_ms = workload->preemption_delay_ms,
            .stale_since_ms = workload->stale_since_ms,
            .stale_grace_ms = workload->stale_grace_ms};
    }
    for (uint32_t i = 0; i < f->w->groups.count; i++) {
        const struct case_group *group = &f->w->groups.items[i];
        *ARRAY_PUSH(f->arena,
                    &f->s->groups) = (struct snap_group){.name = group->name,
                                                         .workload = {group->workload},
                                                         .parent = {group->parent},
                                                         .is_pod_set = group->is_pod_set,
                                                         .min = group->min,
                                                         .topology = {group->topology},
                                                         .required_level = group->required,
                                                         .preferred_level = group->preferred};
    }
}

static uint32_t hold_run(struct freezing *f, uint32_t first, uint32_t count)
{
    uint32_t at = f->s->holds.count;
    for (uint32_t i = first; i < first + count; i++) {
        const struct case_hold *hold = &f->w->holds.items[i];
        *ARRAY_PUSH(f->arena, &f->s->holds) = (struct snap_hold){
            .device = {hold->device}, .share = hold->share, .bytes = hold->bytes};
    }
    return at;
}

static void freeze_pods(struct freezing *f)
{
    for (uint32_t i = 0; i < f->w->pods.count; i++) {
        const struct case_pod *pod = &f->w->pods.items[i];
        const struct case_workload *workload = &f->w->workloads.items[pod->workload];
        struct snap_task row = {.name = pod->name,
                                .tag = i,
                                .workload = {pod->workload},
                                .group = {pod->group},
                                .shape = {pod->shape},
                                .state = task_state_of(pod->state),
                                .order_rank = -pod->order,
                                .created_ms = workload->created_ms,
                                .node = {IX_NONE},
                                .nominated_node = pod->nominated_node,
                                .returns = pod->state == CASE_RELEASING && pod->returns};
        if (case_pod_holds(pod)) {
            row.node.ix = pod->node;
            row.zone = pod->zone;
            row.hold_count = pod->hold_count;
            row.hold_first = hold_run(f, pod->hold_first, pod->hold_count);
        }
        *ARRAY_PUSH(f->arena, &f->s->tasks) = row;
    }
    for (uint32_t i = 0; i < f->w->claims.count; i++) {
        const struct case_claim *claim = &f->w->claims.items[i];
        uint32_t first = hold_run(f, claim->hold_first, claim->hold_count);
        *ARRAY_PUSH(f->arena, &f->s->claims) = (struct snap_claim){.workload = {claim->workload},
                                                                   .task = {claim->pod},
                                                                   .node = {claim->node},
                                                                   .hold_first = first,
                                                                   .hold_count = claim->hold_count,
                                                                   .since_ms = claim->since_ms};
    }
}

static void freeze_budgets(struct freezing *f)
{
    for (uint32_t i = 0; i < f->w->budgets.count; i++) {
        const struct case_budget *budget = &f->w->budgets.items[i];
        *ARRAY_PUSH(f->arena, &f->s->budgets) = (struct snap_budget){
            .name = budget->name,
            .tag = i,
            .available_min = budget->available_min,
            .member_first = f->s->budget_members.count,
            .member_count = budget->pod_count};
        for (uint32_t k = budget->pod_first; k < budget->pod_first + budget->pod_count; k++) {
            (*ARRAY_PUSH(f->arena, &f->s->budget_members)).ix = f->w->budget_pods.items[k];
        }
    }
}

void case_world_snapshot(const struct case_world *w, struct arena *arena, struct snapshot *out)
{
    struct freezing f = {.w = w, .arena = arena, .s = out};
    snapshot_init(out, w->now_ms);
    out->config = w->config;
    out->config.now_ms = w->now_ms;
    intern_init(&f.extended, arena);
    intern_init(&f.label_keys, arena);
    freeze_nodes(&f);
    freeze_topologies(&f);
    freeze_queues(&f);
    freeze_shapes(&f);
    freeze_workloads(&f);
    freeze_pods(&f);
    freeze_budgets(&f);
    snapshot_canonicalise(out, arena);
}

/* ---- taking over what was decided ---- */

/* Copies holds of a cycle into w; snap tells which device each is. */
static uint32_t take_holds(struct case_world *w, const struct snapshot *snap,
                           const struct snap_hold *holds, uint32_t count)
{
    uint32_t at = w->holds.count;
    for (uint32_t i = 0; i < count; i++) {
        *ARRAY_PUSH(w->arena, &w->holds) = (struct case_hold){
            .device = snap->devices.items[holds[i].device.ix].tag,
            .share = holds[i].share,
            .bytes = holds[i].bytes};
    }
    return at;
}

void case_world_apply(struct case_world *w, const struct snapshot *snap,
                      const struct decisions *decisions)
{
    for (uint32_t i = 0; i < decisions->evicts.count; i++) {
        const struct snap_task *task = &snap->tasks.items[decisions->evicts.items[i].task.ix];
        struct case_pod *pod = &w->pods.items[task->tag];
        pod->state = CASE_RELEASING;
        pod->returns = !w->workloads.items[pod->workload].stays_deleted;
        w->workloads.items[pod->workload].last_evicted_ms = w->now_ms;
        uint32_t other = decisions->evicts.items[i].reason.other.ix;
        if (!decisions->evicts.items[i].moved) {
            w->workloads.items[pod->workload].evicted_for = other == IX_NONE
                                                                ? IX_NONE
                                                                : snap->workloads.items[other].tag;
        }
    }
    for (uint32_t i = 0; i < decisions->binds.count; i++) {
        const struct decision_bind *bind = &decisions->binds.items[i];
        struct case_pod *pod = &w->pods.items[snap->tasks.items[bind->task.ix].tag];
        pod->state = bind->pipelined ? CASE_PIPELINED : CASE_BINDING;
        pod->node = snap->nodes.items[bind->node.ix].tag;
        pod->hold_first = take_holds(w, snap, decisions->holds.items + bind->hold_first,
                                     bind->hold_count);
        pod->hold_count = bind->hold_count;
        pod->zone = bind->zone == IX_NONE ? 0 : bind->zone;
    }
    w->claims.count = 0;
    for (uint32_t i = 0; i < decisions->claims.count; i++) {
        const struct snap_claim *claim = &decisions->claims.items[i];
        uint32_t first = take_holds(w, snap, decisions->holds.items + claim->hold_first,
                                    claim->hold_count);
        *ARRAY_PUSH(w->arena, &w->claims) = (struct case_claim){
            .workload = snap->workloads.items[claim->workload.ix].tag,
            .pod = claim->task.ix == IX_NONE ? IX_NONE : snap->tasks.items[claim->task.ix].tag,
            .node = snap->nodes.items[claim->node.ix].tag,
            .hold_first = first,
            .hold_count = claim->hold_count,
            .since_ms = claim->since_ms};
    }
    for (uint32_t i = 0; i < snap->workloads.count; i++) {
        struct case_workload *workload = &w->workloads.items[snap->workloads.items[i].tag];
        workload->stale_since_ms = decisions->workloads[i].stale_since_ms;
        if (decisions->workloads[i].started) {
            workload->last_start_ms = w->now_ms;
            workload->evicted_for = IX_NONE;
        }
    }
}

void case_world_carry(struct case_world *w)
{
    for (uint32_t i = 0; i < w->pods.count; i++) {
        struct case_pod *pod = &w->pods.items[i];
        bool waits = pod->state == CASE_PIPELINED ||
                     (pod->state == CASE_RELEASING &&
                      !w->workloads.items[pod->workload].stays_deleted);
        if (pod->state == CASE_BINDING) {
            pod->state = CASE_RUNNING;
        } else if (waits) {
            pod->state = CASE_PENDING;
            pod->node = IX_NONE;
            pod->last_first = pod->hold_first;
            pod->last_count = pod->hold_count;
            pod->hold_count = 0;
        }
    }
}

int64_t case_world_held(const struct case_world *w, uint32_t queue)
{
    int64_t held = 0;
    for (uint32_t i = 0; i < w->pods.count; i++) {
        const struct case_pod *pod = &w->pods.items[i];
        if (pod->state != CASE_RUNNING && pod->state != CASE_BINDING) {
            continue;
        }
        uint32_t at = w->workloads.items[pod->workload].queue;
        while (at != IX_NONE && at != queue) {
            at = w->queues.items[at].parent;
        }
        for (uint32_t h = 0; at != IX_NONE && h < pod->hold_count; h++) {
            held += w->holds.items[pod->hold_first + h].share;
        }
    }
    return held;
}
