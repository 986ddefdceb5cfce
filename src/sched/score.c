// SPDX-License-Identifier: Apache-2.0
// score: bands that never overlap (nominated node, topology, shared device, free now, kind of
// node), then density, which is compared as an exact fraction: bin-pack takes the node with least
// left, spread the one with the largest part left. In a pool that is to be packed the cost of a place
// (pack.h) stands where shared device, kind and density do.
#include "sched/score.h"

#include "base/num.h"
#include "sched/pack.h"
#include "sched/quota.h"
#include "sched/reserve.h"

enum {
    BAND_NOMINATED = 10000000,
    BAND_TOPOLOGY = 100000,
    BAND_SHARED_DEVICE = 10000,
    BAND_FREE_NOW = 1000,
    BAND_KIND = 10,
};

struct score {
    int64_t band;
    int64_t num, den; /* density: more is better */
};

static bool better(const struct score *a, const struct score *b)
{
    if (a->band != b->band) {
        return a->band > b->band;
    }
    return num_cmp_frac(a->num, a->den, b->num, b->den) > 0;
}

static struct score density(const struct sched *s, bool gpu, uint32_t node)
{
    const struct node_state *n = &s->nodes[node];
    size_t cpu = (size_t)node * s->dims + DIM_CPU;
    int64_t left = gpu ? n->whole_later : s->later[cpu];
    int64_t of = gpu ? n->devices : s->empty[cpu];
    enum placement placement = gpu ? s->snap->config.gpu_placement : s->snap->config.cpu_placement;
    if (placement == PLACEMENT_SPREAD) {
        return (struct score){0, of > 0 ? left : 0, of > 0 ? of : 1};
    }
    return (struct score){0, of > 0 ? -left : INT64_MIN / 2, 1};
}

static int64_t preference(const struct sched *s, uint32_t task, uint32_t node,
                          const uint8_t *topology)
{
    int64_t nominated = task_of(s, task)->nominated_node == node ? BAND_NOMINATED : 0;
    return nominated + (topology ? (int64_t)topology[node] * BAND_TOPOLOGY : 0);
}

static struct score score_node(const struct sched *s, uint32_t task, uint32_t node,
                               const uint8_t *topology, enum fit fit)
{
    const struct snap_shape *p = shape_of(s, task);
    bool by_device = p->gpu != GPU_NONE || shape_state_of(s, task)->by_mig;
    struct score score = density(s, by_device, node);
    score.band = preference(s, task, node, topology);
    if ((p->gpu == GPU_SHARE || p->gpu == GPU_MEMORY) && s->nodes[node].pods_shared > 0 &&
        s->snap->config.gpu_placement != PLACEMENT_SPREAD && fit_shares(s, task, node)) {
        score.band += BAND_SHARED_DEVICE;
    }
    if (fit == FIT_NOW) {
        score.band += BAND_FREE_NOW;
    }
    if (!by_device && s->nodes[node].devices == 0 && s->snap->nodes.items[node].mig == MIG_NONE) {
        score.band += BAND_KIND;
    }
    return score;
}

// Between nodes without devices a pod without devices goes by density.
static bool better_place(const struct sched *s, uint32_t task, uint32_t node,
                         const struct score *score, uint32_t best, const struct score *best_score)
{
    if (score->band != best_score->band) {
        return score->band > best_score->band;
    }
    if (score->num != best_score->num || shape_of(s, task)->gpu != GPU_NONE) {
        return score->num > best_score->num;
    }
    struct score a = density(s, false, node);
    struct score b = density(s, false, best);
    return s->nodes[node].devices == 0 && s->nodes[best].devices == 0 && better(&a, &b);
}

// A request by memory costs more on a small device: its queues must allow that too.
static bool queue_allows_there(const struct sched *s, uint32_t task, uint32_t node)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    int64_t bytes = 0;
    for (uint32_t d = n->device_first; d < n->device_first + n->device_count; d++) {
        int64_t has = s->snap->devices.items[d].memory_bytes;
        bytes = has > 0 && (bytes == 0 || has < bytes) ? has : bytes;
    }
    const struct snap_shape *p = shape_of(s, task);
    struct amounts amount = shape_state_of(s, task)->request;
    amount.v[RES_GPU] = bytes > 0 ? num_muldiv_ceil(p->device_memory_bytes, DEVICE_SHARE, bytes) *
                                        p->device_count
                                  : 0;
    return quota_allows(s, task_of(s, task)->workload.ix, &amount, NULL);
}

// Bin-pack of whole devices without further preferences: the nodes are at hand by how many devices
// they have left, so the first that fits now is the best.
static bool picks_by_count(const struct sched *s, uint32_t task, const uint8_t *topology)
{
    return shape_of(s, task)->gpu == GPU_WHOLE && !topology && !shape_state_of(s, task)->by_mig &&
           task_of(s, task)->nominated_node == IX_NONE &&
           s->snap->config.gpu_placement == PLACEMENT_BINPACK;
}

static uint32_t pick_by_count(struct sched *s, uint32_t task, const uint64_t *mask, enum fit *fit)
{
    const uint64_t *feasible = fit_feasible(s, task_of(s, task)->shape.ix);
    uint32_t later = IX_NONE;
    for (uint32_t k = shape_of(s, task)->device_count; k <= s->devices_most; k++) {
        const struct node_class *set = &s->by_whole[k];
        for (uint32_t w = class_next(s, set, 0); w < s->node_words; w = class_next(s, set, w + 1)) {
            uint64_t bits = feasible[w] & set->words[w] & (mask ? mask[w] : UINT64_MAX);
            for (; bits != 0; bits &= bits - 1) {
                uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(bits);
                enum fit here = reserve_bars(s, task, n) ? FIT_NO : fit_node(s, task, n);
                if (here == FIT_NOW) {
                    *fit = FIT_NOW;
                    return n;
                }
                later = here == FIT_LATER && later == IX_NONE ? n : later;
            }
        }
    }
    *fit = FIT_LATER;
    return later;
}

// Where it costs least. The cost is at hand, so whether the node really does is asked only of those
// that would be the best so far.
static uint32_t pick_by_cost(struct sched *s, uint32_t task, const uint64_t *mask,
                             const uint8_t *topology, enum fit *fit)
{
    const uint64_t *feasible = fit_feasible(s, task_of(s, task)->shape.ix);
    const struct snap_shape *p = shape_of(s, task);
    struct pack_row *row = pack_row(s, task);
    uint32_t best = IX_NONE;
    struct score best_score = {0};
    int64_t bound = INT64_MAX; /* what costs more cannot be the best */
    bool all_alike = !topology && task_of(s, task)->nominated_node == IX_NONE;
    for (uint32_t w = 0; w < s->node_words; w++) {
        uint64_t bits = feasible[w] & (mask ? mask[w] : UINT64_MAX);
        bits &= p->gpu != GPU_NONE ? s->roomy.words[w] : UINT64_MAX;
        for (; bits != 0; bits &= bits - 1) {
            uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(bits);
            int64_t cost = pack_cost(s, row, n);
            if (cost == INT64_MAX || cost > bound) {
                continue;
            }
            struct score score = {preference(s, task, n, topology) + BAND_FREE_NOW, -cost, 1};
            if (best != IX_NONE && !better_place(s, task, n, &score, best, &best_score)) {
                continue;
            }
            enum fit here = reserve_bars(s, task, n) ? FIT_NO : fit_node(s, task, n);
            if (here == FIT_NO || (p->gpu == GPU_MEMORY && !queue_allows_there(s, task, n))) {
                continue;
            }
            score.band -= here == FIT_NOW ? 0 : BAND_FREE_NOW;
            if (best == IX_NONE || better_place(s, task, n, &score, best, &best_score)) {
                best = n;
                best_score = score;
                *fit = here;
                bound = all_alike && here == FIT_NOW ? cost : bound;
            }
        }
    }
    return best;
}

uint32_t score_pick(struct sched *s, uint32_t task, const uint64_t *mask, const uint8_t *topology,
                    enum fit *fit)
{
    if (s->pack && !shape_state_of(s, task)->by_mig) {
        return pick_by_cost(s, task, mask, topology, fit);
    }
    if (picks_by_count(s, task, topology)) {
        return pick_by_count(s, task, mask, fit);
    }
    const uint64_t *feasible = fit_feasible(s, task_of(s, task)->shape.ix);
    bool by_device = shape_of(s, task)->gpu != GPU_NONE;
    bool by_memory = shape_of(s, task)->gpu == GPU_MEMORY;
    uint32_t best = IX_NONE;
    struct score best_score = {0};
    for (uint32_t w = 0; w < s->node_words; w++) {
        uint64_t bits = feasible[w] & (mask ? mask[w] : UINT64_MAX);
        bits &= by_device ? s->roomy.words[w] : UINT64_MAX;
        for (; bits != 0; bits &= bits - 1) {
            uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(bits);
            enum fit here = reserve_bars(s, task, n) ? FIT_NO : fit_node(s, task, n);
            if (here == FIT_NO || (by_memory && !queue_allows_there(s, task, n))) {
                continue;
            }
            struct score score = score_node(s, task, n, topology, here);
            if (best == IX_NONE || better(&score, &best_score)) {
                best = n;
                best_score = score;
                *fit = here;
            }
        }
    }
    return best;
}
