// SPDX-License-Identifier: Apache-2.0
// gang: a workload's groups are one run, parents first, so "satisfied" is worked out from the last
// group to the first. Most gangs are one pod set without a topology: for these every function here
// is a few comparisons. The general case walks the tree with a stack of frames (groups nest at most
// GROUP_DEPTH_MAX deep): a frame tries its candidate sets of nodes one by one, and under each places
// its members in order; when a member has no place left, the frame goes on with its next candidate.
#include "sched/gang.h"

#include "base/check.h"
#include "sched/score.h"
#include "sched/topology.h"

static uint32_t members_needed(const struct snap_group *g)
{
    return !g->is_pod_set && g->min == GROUP_MIN_ALL ? g->child_count : g->min;
}

// Fills in satisfied, ready and satisfied_members of all groups of the workload, as if of each pod
// set taken[group] pods (NULL: none) were not there any more.
static void refresh_without(struct sched *s, uint32_t workload, const uint32_t *taken)
{
    const struct snap_workload *w = workload_of(s, workload);
    for (uint32_t i = w->group_first + w->group_count; i > w->group_first;) {
        i--;
        const struct snap_group *g = group_of(s, i);
        struct group_state *x = &s->groups[i];
        uint32_t satisfied = x->placed - (taken ? taken[i] : 0);
        uint32_t ready = satisfied + x->pending;
        if (!g->is_pod_set) {
            satisfied = ready = 0;
            for (uint32_t c = g->child_first; c < g->child_first + g->child_count; c++) {
                satisfied += s->groups[c].satisfied;
                ready += s->groups[c].ready;
            }
        }
        x->satisfied_members = satisfied;
        x->satisfied = satisfied >= members_needed(g);
        x->ready = ready >= members_needed(g);
    }
}

static void refresh(struct sched *s, uint32_t workload)
{
    refresh_without(s, workload, NULL);
}

bool gang_is_satisfied(struct sched *s, uint32_t workload)
{
    refresh(s, workload);
    return s->groups[workload_of(s, workload)->group_first].satisfied;
}

bool gang_is_ready(struct sched *s, uint32_t workload)
{
    refresh(s, workload);
    return s->groups[workload_of(s, workload)->group_first].ready;
}

bool gang_runs(struct sched *s, uint32_t workload, const bool *taken)
{
    const struct snap_workload *w = workload_of(s, workload);
    for (uint32_t i = w->group_first + w->group_count; i > w->group_first;) {
        i--;
        const struct snap_group *g = group_of(s, i);
        uint32_t members = 0;
        for (uint32_t t = g->task_first; g->is_pod_set && t < g->task_first + g->task_count; t++) {
            members += state_runs(&s->tasks[t]) && !(taken && taken[t]);
        }
        for (uint32_t c = g->child_first; c < g->child_first + g->child_count; c++) {
            members += s->groups[c].runs;
        }
        s->groups[i].runs = members >= members_needed(g);
    }
    return s->groups[w->group_first].runs;
}

uint32_t gang_pending(const struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    uint32_t count = 0;
    for (uint32_t g = w->group_first; g < w->group_first + w->group_count; g++) {
        count += s->groups[g].pending;
    }
    return count;
}

uint32_t gang_evicted(const struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    uint32_t count = 0;
    for (uint32_t g = w->group_first; g < w->group_first + w->group_count; g++) {
        count += s->groups[g].evicted;
    }
    return count;
}

static enum gang_stage find_stage(struct sched *s, uint32_t workload, const uint32_t *taken)
{
    const struct snap_workload *w = workload_of(s, workload);
    refresh_without(s, workload, taken);
    uint32_t placed = 0;
    bool above = false;
    for (uint32_t i = w->group_first; i < w->group_first + w->group_count; i++) {
        placed += s->groups[i].placed;
        above = above || s->groups[i].satisfied_members > members_needed(group_of(s, i));
    }
    if (!s->groups[w->group_first].satisfied) {
        return placed > 0 ? GANG_INCOMPLETE : GANG_NOT_STARTED;
    }
    return above ? GANG_ABOVE : GANG_AT_MINIMUM;
}

enum gang_stage gang_stage(struct sched *s, uint32_t workload, const uint32_t *taken)
{
    if (taken) {
        return find_stage(s, workload, taken);
    }
    struct workload_state *w = &s->workloads[workload];
    if (!w->stage_known) {
        w->stage = (uint8_t)find_stage(s, workload, NULL);
        w->stage_known = true;
    }
    return (enum gang_stage)w->stage;
}

/* ---- the pods that are next ---- */

static uint32_t available(const struct sched *s, uint32_t group, enum work_state from)
{
    return from == WORK_PENDING ? s->groups[group].pending : s->groups[group].evicted;
}

// The order of members: those that lack something first, when pods were evicted those first that
// ran; those that are required; the emptiest among the satisfied; by name (index).
static bool member_before(const struct sched *s, uint32_t a, uint32_t b, enum work_state from)
{
    const struct group_state *x = &s->groups[a];
    const struct group_state *y = &s->groups[b];
    if (x->satisfied != y->satisfied) {
        return !x->satisfied;
    }
    if (!x->satisfied) {
        return from == WORK_EVICTED && x->runs != y->runs ? x->runs : a < b;
    }
    uint32_t need_x = members_needed(group_of(s, a));
    uint32_t need_y = members_needed(group_of(s, b));
    if ((need_x > 0) != (need_y > 0)) {
        return need_x > 0;
    }
    // Compares filled/needed; with nothing needed, what is filled.
    uint64_t left = (uint64_t)x->satisfied_members * (need_y > 0 ? need_y : 1);
    uint64_t right = (uint64_t)y->satisfied_members * (need_x > 0 ? need_x : 1);
    return left != right ? left < right : a < b;
}

static uint32_t *sorted_members(const struct sched *s, uint32_t group, enum work_state from,
                                struct arena *arena)
{
    const struct snap_group *g = group_of(s, group);
    uint32_t *members = ARENA_ARRAY(arena, uint32_t, g->child_count);
    for (uint32_t i = 0; i < g->child_count; i++) {
        uint32_t at = i;
        uint32_t c = g->child_first + i;
        while (at > 0 && member_before(s, c, members[at - 1], from)) {
            members[at] = members[at - 1];
            at--;
        }
        members[at] = c;
    }
    return members;
}

static void list_add(struct task_list *list, struct arena *arena, uint32_t task)
{
    if (list->count == list->cap) {
        list->items = array_grow(arena, list->items, sizeof(*list->items), list->count, &list->cap);
    }
    list->items[list->count++] = task;
}

// Appends pods in state from that run or do not; returns how many of count are lacking then.
static uint32_t take_pods(const struct sched *s, uint32_t group, enum work_state from, bool running,
                          uint32_t count, struct arena *arena, struct task_list *list)
{
    const struct snap_group *g = group_of(s, group);
    for (uint32_t t = g->task_first; count > 0 && t < g->task_first + g->task_count; t++) {
        if (s->tasks[t].state == from && state_runs(&s->tasks[t]) == running) {
            list_add(list, arena, t);
            count--;
        }
    }
    return count;
}

struct next_frame {
    uint32_t group;
    uint32_t *members;
    uint32_t at, left;   /* next member; members still to be taken */
    uint32_t list_count; /* when it began: a satisfied set ends with the first that yields */
    bool satisfied;
};

// What a pod set yields: its gap, or one more pod.
static void next_of_pod_set(const struct sched *s, uint32_t group, enum work_state from,
                            struct arena *arena, struct task_list *list)
{
    const struct group_state *x = &s->groups[group];
    uint32_t wanted = x->satisfied ? 1 : group_of(s, group)->min - x->placed;
    wanted = from == WORK_EVICTED ? take_pods(s, group, from, true, wanted, arena, list) : wanted;
    (void)take_pods(s, group, from, false, wanted, arena, list);
}

static struct next_frame next_begin(const struct sched *s, uint32_t group, enum work_state from,
                                    uint32_t list_count, struct arena *arena)
{
    const struct group_state *x = &s->groups[group];
    uint32_t needed = members_needed(group_of(s, group));
    return (struct next_frame){
        .group = group,
        .members = sorted_members(s, group, from, arena),
        .left = x->satisfied ? 1 : needed - x->satisfied_members,
        .list_count = list_count,
        .satisfied = x->satisfied,
    };
}

// Whether a member that lacks something can be completed with pods in that state.
static bool can_complete(const struct sched *s, uint32_t group, enum work_state from)
{
    const struct snap_group *g = group_of(s, group);
    if (from == WORK_PENDING) {
        return s->groups[group].ready;
    }
    return !g->is_pod_set || s->groups[group].placed + available(s, group, from) >= g->min;
}

void gang_next(struct sched *s, uint32_t workload, enum work_state from, struct arena *arena,
               struct task_list *list)
{
    uint32_t root = workload_of(s, workload)->group_first;
    refresh(s, workload);
    if (group_of(s, root)->is_pod_set) {
        next_of_pod_set(s, root, from, arena, list);
        return;
    }
    if (from == WORK_EVICTED) {
        (void)gang_runs(s, workload, NULL);
    }
    struct next_frame stack[GROUP_DEPTH_MAX + 1];
    uint32_t depth = 1;
    stack[0] = next_begin(s, root, from, list->count, arena);
    while (depth > 0) {
        struct next_frame *f = &stack[depth - 1];
        bool done = f->at == group_of(s, f->group)->child_count || f->left == 0 ||
                    (f->satisfied && list->count > f->list_count);
        if (done) {
            depth--;
            continue;
        }
        uint32_t member = f->members[f->at++];
        if (!f->satisfied) {
            if (s->groups[member].satisfied || !can_complete(s, member, from)) {
                continue;
            }
            f->left--;
        }
        if (group_of(s, member)->is_pod_set) {
            next_of_pod_set(s, member, from, arena, list);
        } else {
            CHECK(depth <= GROUP_DEPTH_MAX);
            stack[depth++] = next_begin(s, member, from, list->count, arena);
        }
    }
}

struct amounts gang_request(struct sched *s, uint32_t workload)
{
    struct workload_state *w = &s->workloads[workload];
    if (w->next_known) {
        return w->next_request;
    }
    struct arena_mark mark = arena_mark(s->scratch);
    struct task_list list = {0};
    gang_next(s, workload, gang_evicted(s, workload) > 0 ? WORK_EVICTED : WORK_PENDING, s->scratch,
              &list);
    struct amounts sum = {{0}};
    for (uint32_t i = 0; i < list.count; i++) {
        amounts_add(&sum, &shape_state_of(s, list.items[i])->request);
    }
    arena_rewind(s->scratch, mark);
    w->next_request = sum;
    w->next_known = true;
    return sum;
}

/* ---- placing ---- */

static bool place_pod(struct sched *s, uint32_t task, bool pipeline_only, const uint64_t *mask,
                      const uint8_t *topology)
{
    enum fit fit = FIT_NO;
    uint32_t node = score_pick(s, task, mask, topology, &fit);
    if (node == IX_NONE) {
        return false;
    }
    bool now = fit_devices(s, task, node, s->hold_buffer);
    trial_place(s, task, node, s->hold_buffer, shape_of(s, task)->device_count,
                pipeline_only || !now || fit != FIT_NOW);
    return true;
}

static bool place_all(struct sched *s, const uint32_t *tasks, uint32_t count, bool pipeline_only,
                      const uint64_t *mask, const uint8_t *topology, struct gang_failure *failure)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!place_pod(s, tasks[i], pipeline_only, mask, topology)) {
            if (failure && failure->task == IX_NONE) {
                failure->task = tasks[i];
                failure->placed = i;
            }
            return false;
        }
    }
    return true;
}

struct place_frame {
    uint32_t group;
    uint32_t first, end, at; /* run of the list; where the next member's run begins */
    struct topology_sets sets;
    uint32_t set;     /* candidate being tried */
    struct mark mark; /* state before it */
};

static bool has_topology(const struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    for (uint32_t g = w->group_first; g < w->group_first + w->group_count; g++) {
        if (group_of(s, g)->topology.ix != IX_NONE || group_of(s, g)->topology_unknown) {
            return true;
        }
    }
    return false;
}

// The member of group whose pods begin at list position `at`, and where they end.
static uint32_t member_run(const struct sched *s, const struct place_frame *f,
                           const struct task_list *tasks, uint32_t *end)
{
    uint32_t member = IX_NONE;
    uint32_t i = f->at;
    for (; i < f->end; i++) {
        uint32_t g = task_of(s, tasks->items[i])->group.ix;
        while (group_of(s, g)->parent.ix != f->group) {
            g = group_of(s, g)->parent.ix;
        }
        if (member != IX_NONE && g != member) {
            break;
        }
        member = g;
    }
    *end = i;
    return member;
}

static struct place_frame place_begin(struct sched *s, uint32_t group,
                                      const struct task_list *tasks, uint32_t first, uint32_t end,
                                      const uint64_t *mask, const uint8_t *scores,
                                      struct gang_failure *failure)
{
    struct place_frame f = {.group = group, .first = first, .end = end, .at = first};
    f.sets = topology_sets(s, group, tasks->items + first, end - first, mask, scores, failure);
    f.mark = trial_mark(s);
    return f;
}

// One step of the top frame: its next pods or member. False: the frame's candidate failed.
static bool place_step(struct sched *s, struct place_frame *stack, uint32_t *depth,
                       const struct task_list *tasks, bool pipeline_only,
                       struct gang_failure *failure)
{
    struct place_frame *f = &stack[*depth - 1];
    const uint64_t *mask = f->sets.masks[f->set];
    if (group_of(s, f->group)->is_pod_set) {
        if (!place_all(s, tasks->items + f->first, f->end - f->first, pipeline_only, mask,
                       f->sets.scores, failure)) {
            return false;
        }
        f->at = f->end;
        return true;
    }
    uint32_t end;
    uint32_t member = member_run(s, f, tasks, &end);
    CHECK(*depth <= GROUP_DEPTH_MAX);
    stack[*depth] = place_begin(s, member, tasks, f->at, end, mask, f->sets.scores, failure);
    f->at = end;
    (*depth)++;
    return true;
}

static bool place_tree(struct sched *s, uint32_t workload, const struct task_list *tasks,
                       bool pipeline_only, const uint64_t *mask, struct gang_failure *failure)
{
    struct place_frame stack[GROUP_DEPTH_MAX + 1];
    uint32_t depth = 1;
    stack[0] = place_begin(s, workload_of(s, workload)->group_first, tasks, 0, tasks->count, mask,
                           NULL, failure);
    while (depth > 0) {
        struct place_frame *f = &stack[depth - 1];
        if (f->set == f->sets.count) {
            // No candidate is left: the one of the frame above that led here has failed.
            depth--;
            if (depth > 0) {
                struct place_frame *up = &stack[depth - 1];
                trial_rollback(s, up->mark);
                up->set++;
                up->at = up->first;
            }
            continue;
        }
        if (f->at == f->end) {
            if (depth == 1) {
                return true;
            }
            depth--;
            continue;
        }
        if (!place_step(s, stack, &depth, tasks, pipeline_only, failure)) {
            trial_rollback(s, f->mark);
            f->set++;
            f->at = f->first;
        }
    }
    return false;
}

bool gang_place(struct sched *s, uint32_t workload, const struct task_list *tasks,
                bool pipeline_only, const uint64_t *mask, struct gang_failure *failure)
{
    struct gang_failure unused;
    failure = failure ? failure : &unused;
    *failure = (struct gang_failure){.task = IX_NONE, .group = IX_NONE};
    struct mark before = trial_mark(s);
    struct arena_mark mark = arena_mark(s->scratch);
    bool placed;
    if (has_topology(s, workload)) {
        placed = place_tree(s, workload, tasks, pipeline_only, mask, failure);
    } else {
        placed = place_all(s, tasks->items, tasks->count, pipeline_only, mask, NULL, failure);
    }
    arena_rewind(s->scratch, mark);
    if (!placed) {
        trial_rollback(s, before);
    }
    return placed;
}
