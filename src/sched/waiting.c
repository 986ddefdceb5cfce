// SPDX-License-Identifier: Apache-2.0
// waiting: every action and the reasons at the end need the same workloads in nearly the same order,
// so they are sorted once and later only checked. In a long queue most of them are alike; twins that
// follow each other get one number, and whoever goes through the order may treat them in one go.
#include "sched/waiting.h"

#include "base/sort.h"
#include "sched/gang.h"
#include "sched/order.h"

static int by_turn(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return x == y ? 0 : (workload_before(ctx, x, y) ? -1 : 1);
}

void waiting_sort(struct sched *s)
{
    uint32_t *all = s->waiting.items;
    for (uint32_t first = 0; first < s->waiting.count;) {
        uint32_t end = first;
        while (end < s->waiting.count && queue_of(s, all[end]) == queue_of(s, all[first])) {
            end++;
        }
        sort_stable(all + first, end - first, sizeof(*all), by_turn, s, s->scratch);
        first = end;
    }
}

// One pod set of pods of one shape, all pending, with nothing that sets it apart from another one.
static bool is_plain(const struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    const struct snap_group *g = group_of(s, w->group_first);
    if (w->group_count != 1 || g->topology.ix != IX_NONE || g->topology_unknown ||
        w->preemption_delay_ms > 0 || s->groups[w->group_first].pending != w->task_count) {
        return false;
    }
    uint32_t shape = task_of(s, w->task_first)->shape.ix;
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (task_of(s, t)->shape.ix != shape || task_of(s, t)->nominated_node != IX_NONE) {
            return false;
        }
    }
    return true;
}

static bool are_alike(const struct sched *s, uint32_t a, uint32_t b)
{
    const struct snap_workload *x = workload_of(s, a);
    const struct snap_workload *y = workload_of(s, b);
    return x->queue.ix == y->queue.ix && x->priority == y->priority &&
           x->duration_ms == y->duration_ms && x->preemptible == y->preemptible &&
           x->task_count == y->task_count &&
           group_of(s, x->group_first)->min == group_of(s, y->group_first)->min &&
           task_of(s, x->task_first)->shape.ix == task_of(s, y->task_first)->shape.ix;
}

static void number_twins(struct sched *s)
{
    uint32_t kinds = 0;
    uint32_t before = IX_NONE;
    for (uint32_t i = 0; i < s->waiting.count; i++) {
        uint32_t w = s->waiting.items[i];
        if (!is_plain(s, w)) {
            before = IX_NONE;
            continue;
        }
        kinds += before == IX_NONE || !are_alike(s, before, w);
        s->workloads[w].kind = kinds;
        before = w;
    }
}

void waiting_find(struct sched *s)
{
    uint32_t queues = s->snap->queues.count;
    uint32_t *first = ARENA_ARRAY(s->arena, uint32_t, (size_t)queues + 1);
    uint32_t count = 0;
    for (uint32_t w = 0; w < s->snap->workloads.count; w++) {
        if (s->workloads[w].usable && gang_pending(s, w) > 0) {
            first[queue_of(s, w) + 1]++;
            count++;
        }
    }
    for (uint32_t q = 0; q < queues; q++) {
        first[q + 1] += first[q];
    }
    s->waiting.items = ARENA_ARRAY(s->arena, uint32_t, count);
    s->waiting.count = s->waiting.cap = count;
    for (uint32_t w = 0; w < s->snap->workloads.count; w++) {
        if (s->workloads[w].usable && gang_pending(s, w) > 0) {
            s->waiting.items[first[queue_of(s, w)]++] = w;
        }
    }
    waiting_sort(s);
    number_twins(s);
}
