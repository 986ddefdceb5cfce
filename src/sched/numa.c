// SPDX-License-Identifier: Apache-2.0
// numa: CPU and memory are counted per zone for the pods that ask for a zone; what others use is
// theirs to spread. Devices are counted where they are, whoever holds them. A pod in one zone spans
// one zone on every node, so the number of zones tells no two nodes apart.
#include "sched/numa.h"

void numa_init(struct sched *s)
{
    const struct snapshot *snap = s->snap;
    s->zones = ARENA_ARRAY(s->arena, struct zone_state, snap->zones.count);
    for (uint32_t z = 0; z < snap->zones.count; z++) {
        const struct snap_zone *zone = &snap->zones.items[z];
        s->zones[z] = (struct zone_state){zone->cpu_milli, zone->cpu_milli, zone->memory_bytes,
                                          zone->memory_bytes};
    }
}

uint32_t numa_zone(const struct sched *s, uint32_t task, uint32_t node,
                   const struct snap_hold *holds)
{
    enum fit fit;
    if (!numa_asks(s, task, node)) {
        return IX_NONE;
    }
    if (shape_of(s, task)->device_count > 0) {
        return s->snap->nodes.items[node].zone_first +
               s->snap->devices.items[holds[0].device.ix].zone;
    }
    return numa_pick(s, task, node, &fit);
}

uint32_t numa_recorded(const struct sched *s, uint32_t task)
{
    const struct snap_task *t = task_of(s, task);
    if (!numa_asks(s, task, t->node.ix)) {
        return IX_NONE;
    }
    uint32_t zone = t->hold_count > 0
                        ? s->snap->devices.items[s->snap->holds.items[t->hold_first].device.ix].zone
                        : t->zone;
    return s->snap->nodes.items[t->node.ix].zone_first + zone;
}

bool numa_suits(const struct sched *s, uint32_t shape, uint32_t node)
{
    const struct snap_shape *p = &s->snap->shapes.items[shape];
    const struct snap_node *n = &s->snap->nodes.items[node];
    for (uint32_t z = 0; p->single_numa && z < n->zone_count; z++) {
        const struct snap_zone *zone = &s->snap->zones.items[n->zone_first + z];
        uint32_t devices = 0;
        for (uint32_t d = n->device_first; d < n->device_first + n->device_count; d++) {
            const struct snap_device *device = &s->snap->devices.items[d];
            devices += device->zone == z && s->devices[d].cap > 0 &&
                       device_take(p, &s->devices[d]) <= s->devices[d].cap;
        }
        if (devices >= p->device_count && p->cpu_milli <= zone->cpu_milli &&
            p->memory_bytes <= zone->memory_bytes) {
            return true;
        }
    }
    return !p->single_numa || n->zone_count == 0;
}

bool numa_has_room(const struct sched *s, uint32_t task, uint32_t zone)
{
    const struct snap_shape *p = shape_of(s, task);
    return zone == IX_NONE || (p->cpu_milli <= s->zones[zone].cpu_later &&
                               p->memory_bytes <= s->zones[zone].memory_later);
}

static enum fit fit_zone(const struct sched *s, const struct snap_shape *p, uint32_t node,
                         uint32_t z)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    const struct zone_state *zone = &s->zones[n->zone_first + z];
    uint32_t now = 0;
    uint32_t later = 0;
    for (uint32_t d = n->device_first; d < n->device_first + n->device_count; d++) {
        const struct device_state *device = &s->devices[d];
        int64_t take = device_take(p, device);
        if (s->snap->devices.items[d].zone == z && device->cap > 0) {
            later += take <= device_free_later(device);
            now += take <= device_free_now(device);
        }
    }
    if (later < p->device_count || p->cpu_milli > zone->cpu_later ||
        p->memory_bytes > zone->memory_later) {
        return FIT_NO;
    }
    return now < p->device_count || p->cpu_milli > zone->cpu_idle ||
                   p->memory_bytes > zone->memory_idle
               ? FIT_LATER
               : FIT_NOW;
}

uint32_t numa_pick(const struct sched *s, uint32_t task, uint32_t node, enum fit *fit)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    uint32_t best = IX_NONE;
    *fit = FIT_NO;
    for (uint32_t z = 0; z < n->zone_count && *fit != FIT_NOW; z++) {
        enum fit here = fit_zone(s, shape_of(s, task), node, z);
        if (here > *fit) {
            best = n->zone_first + z;
            *fit = here;
        }
    }
    return best;
}
