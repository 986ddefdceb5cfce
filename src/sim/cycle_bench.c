// SPDX-License-Identifier: Apache-2.0
// cycle_bench: the digests go over the decisions field by field, since structs have padding.
#include "sim/cycle_bench.h"

#include "base/hash.h"

static uint64_t mix(uint64_t digest, int64_t value)
{
    return hash_u64((uint64_t)value, digest);
}

static uint64_t mix_amounts(uint64_t digest, const struct amounts *a)
{
    for (int r = 0; r < RES_COUNT; r++) {
        digest = mix(digest, a->v[r]);
    }
    return digest;
}

static uint64_t mix_holds(uint64_t digest, const struct decisions *d, uint32_t first,
                          uint32_t count)
{
    for (uint32_t h = first; h < first + count; h++) {
        const struct snap_hold *hold = &d->holds.items[h];
        digest = mix(digest, hold->device.ix);
        digest = mix(digest, hold->share);
        digest = mix(digest, hold->bytes);
    }
    return digest;
}

static uint64_t mix_reason(uint64_t digest, const struct reason *r)
{
    const int64_t numbers[] = {
        r->code,    r->resource,  r->queue.ix, r->group.ix, r->task.ix,  r->other.ix,
        r->node.ix, r->requested, r->held,     r->bound,    r->until_ms, r->has_nodes,
    };
    if (r->code == REASON_NONE) {
        return mix(digest, r->code); /* nothing else is set */
    }
    for (uint32_t i = 0; i < COUNT_OF(numbers); i++) {
        digest = mix(digest, numbers[i]);
    }
    for (uint32_t i = 0; i < NODE_REASON_COUNT && r->has_nodes; i++) {
        digest = mix(digest, r->nodes[i]);
    }
    return digest;
}

static uint64_t digest_of(const struct snapshot *snap, const struct decisions *d)
{
    uint64_t digest = mix(0, d->binds.count);
    for (uint32_t i = 0; i < d->binds.count; i++) {
        const struct decision_bind *b = &d->binds.items[i];
        digest = mix(mix(digest, b->task.ix), b->node.ix);
        digest = mix(mix(digest, b->pipelined), b->action);
        digest = mix_holds(digest, d, b->hold_first, b->hold_count);
    }
    digest = mix(digest, d->evicts.count);
    for (uint32_t i = 0; i < d->evicts.count; i++) {
        const struct decision_evict *e = &d->evicts.items[i];
        digest = mix(mix(mix(digest, e->task.ix), e->moved), e->action);
        digest = mix(digest, e->reason.other.ix);
    }
    digest = mix(digest, d->claims.count);
    for (uint32_t i = 0; i < d->claims.count; i++) {
        const struct snap_claim *c = &d->claims.items[i];
        digest = mix(mix(digest, c->workload.ix), c->task.ix);
        digest = mix(mix(digest, c->node.ix), c->since_ms);
        digest = mix_holds(digest, d, c->hold_first, c->hold_count);
    }
    for (uint32_t q = 0; q < snap->queues.count; q++) {
        digest = mix_amounts(digest, &d->queues[q].fair_share);
        digest = mix_amounts(digest, &d->queues[q].held);
    }
    return digest;
}

static uint64_t reasons_digest_of(const struct snapshot *snap, const struct decisions *d)
{
    uint64_t digest = 0;
    for (uint32_t w = 0; w < snap->workloads.count; w++) {
        digest = mix_reason(digest, &d->reasons[w]);
        digest = mix(digest, d->workloads[w].position);
        digest = mix(digest, d->workloads[w].started);
    }
    for (uint32_t i = 0; i < d->evicts.count; i++) {
        digest = mix_reason(digest, &d->evicts.items[i].reason);
    }
    return digest;
}

struct cycle_outcome cycle_outcome_of(const struct snapshot *snap, const struct decisions *d)
{
    struct cycle_outcome out = {
        .evicted = d->evicts.count,
        .digest = digest_of(snap, d),
        .reasons_digest = reasons_digest_of(snap, d),
    };
    for (uint32_t i = 0; i < d->binds.count; i++) {
        out.pipelined += d->binds.items[i].pipelined;
        out.placed += !d->binds.items[i].pipelined;
    }
    for (uint32_t i = 0; i < d->evicts.count; i++) {
        out.moved += d->evicts.items[i].moved;
    }
    return out;
}

int64_t cycle_median(int64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        int64_t value = values[i];
        uint32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) {
            values[at] = values[at - 1];
        }
        values[at] = value;
    }
    return count == 0 ? 0 : values[(count - 1) / 2];
}
