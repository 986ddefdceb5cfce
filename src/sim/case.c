// SPDX-License-Identifier: Apache-2.0
// Runs a case: freeze, decide, take over, compare, carry, again. A case of one round without stable
// rounds is compared with the raw outcome; otherwise the last of the rounds is compared once carried
// over, and each stable round raw.
#include "sim/case.h"

#include "base/num.h"
#include "sim/case_read.h"

void case_run(struct sim_case *c, struct arena *arena, struct case_result *out)
{
    *out = (struct case_result){0};
    uint32_t total = c->rounds + c->stable_rounds;
    for (uint32_t round = 1; round <= total && out->failures.count == 0; round++) {
        out->rounds_run = round;
        case_world_snapshot(&c->world, arena, &out->snap);
        sched_cycle(arena, &out->snap, c->actions_mask, &out->decisions);
        out->evictions += out->decisions.evicts.count;
        case_world_apply(&c->world, &out->snap, &out->decisions);
        if (total > 1 && round <= c->rounds) {
            case_world_carry(&c->world);
        }
        struct case_checks checks = {
            .state = round >= c->rounds, .shares = round == 1, .end = round == total};
        case_expect_check(c, checks, arena, out);
        if (round > c->rounds) {
            case_world_carry(&c->world);
        }
    }
}

/* Shares of 1/7000 as GPUs: seven decimals say them apart. */
static void write_gpus(struct jw *w, struct str key, int64_t share)
{
    jw_key(w, key);
    jw_decimal(w, num_muldiv_floor(share, 10000000, DEVICE_SHARE), 7);
}

static void write_pod(const struct sim_case *c, const struct case_result *result,
                      const struct case_pod *pod, struct jw *w)
{
    const struct case_world *world = &c->world;
    jw_object_begin(w);
    jw_member_string(w, STR("name"), pod->name);
    jw_member_string(w, STR("workload"), world->workloads.items[pod->workload].name);
    jw_member_string(w, STR("state"), case_pod_state_name(pod->state));
    if (pod->node != IX_NONE) {
        jw_member_string(w, STR("node"), world->nodes.items[pod->node].name);
    }
    jw_key(w, STR("devices"));
    jw_array_begin(w);
    for (uint32_t h = 0; h < pod->hold_count; h++) {
        const struct case_hold *hold = &world->holds.items[pod->hold_first + h];
        jw_object_begin(w);
        jw_member_i64(w, STR("index"), world->devices.items[hold->device].ordinal);
        write_gpus(w, STR("gpu"), hold->share);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_member_string(w, STR("reason"), case_workload_reason(result, pod->workload));
    jw_object_end(w);
}

static void write_queues(const struct sim_case *c, const struct case_result *result, struct jw *w)
{
    jw_key(w, STR("queues"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < result->snap.queues.count; i++) {
        const struct decision_queue *row = &result->decisions.queues[i];
        const struct snap_queue *queue = &result->snap.queues.items[i];
        jw_object_begin(w);
        jw_member_string(w, STR("name"), queue->name);
        write_gpus(w, STR("held_gpus"), case_world_held(&c->world, queue->tag));
        jw_key(w, STR("fair_share"));
        jw_object_begin(w);
        write_gpus(w, STR("gpu"), row->fair_share.v[RES_GPU]);
        jw_member_i64(w, STR("cpu_milli"), row->fair_share.v[RES_CPU]);
        jw_member_i64(w, STR("memory_bytes"), row->fair_share.v[RES_MEMORY]);
        jw_object_end(w);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void case_to_json(const struct sim_case *c, const struct case_result *result, bool remedies,
                  struct arena *arena, struct jw *w)
{
    jw_object_begin(w);
    jw_member_string(w, STR("id"), c->id);
    jw_member_string(w, STR("area"), c->area);
    jw_member_bool(w, STR("passed"), result->failures.count == 0);
    jw_member_i64(w, STR("rounds"), result->rounds_run);
    jw_member_i64(w, STR("evictions"), result->evictions);
    jw_key(w, STR("failures"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < result->failures.count; i++) {
        jw_string(w, result->failures.items[i].text);
    }
    jw_array_end(w);
    jw_key(w, STR("pods"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < c->world.pods.count; i++) {
        write_pod(c, result, &c->world.pods.items[i], w);
    }
    jw_array_end(w);
    write_queues(c, result, w);
    if (remedies) {
        jw_key(w, STR("remedies"));
        case_remedies_to_json(c, result, arena, w);
    }
    jw_object_end(w);
}
