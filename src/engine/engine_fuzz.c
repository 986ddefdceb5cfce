// SPDX-License-Identifier: Apache-2.0
// Any sequence of inputs, sensible or not, spelled by bytes: the invariants hold after each, the
// check foretells the answer, and the state survives its checkpoint.
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "engine/engine.h"
#include "model/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at, *end;
};

static uint32_t next(struct bytes *b, uint32_t bound)
{
    return b->at < b->end ? *b->at++ % bound : 0;
}

static int64_t next_number(struct bytes *b)
{
    static const int64_t odd[] = {0, 1, -1, 2, 7000, 6999, 64, INT64_MAX, INT64_MIN, 1000, 40, 100};
    return odd[next(b, sizeof(odd) / sizeof(odd[0]))];
}

static struct str next_name(struct bytes *b)
{
    static const struct str names[] = {STRS("a"),    STRS("b"), STRS("default"),
                                       STRS("pool"), STRS(""),  STRS("no/slash")};
    return names[next(b, sizeof(names) / sizeof(names[0]))];
}

static struct uuid next_id(struct bytes *b, uint32_t bound)
{
    struct uuid u = {{0}};
    u.b[0] = (uint8_t)next(b, bound);
    return u;
}

/* Devices of node n are named by one letter and number. */
static struct str device_name(struct arena *a, struct str node, uint32_t i)
{
    return arena_printf(a, "%.*s-%u", STR_ARG(node), i);
}

static struct quota *next_quotas(struct bytes *b, struct arena *a, uint32_t *count)
{
    *count = next(b, 3);
    struct quota *q = ARENA_ARRAY(a, struct quota, *count);
    for (uint32_t i = 0; i < *count; i++) {
        q[i] = (struct quota){.pool = next_name(b),
                              .gpu_share = DEVICE_SHARE * next(b, 4),
                              .gpu_max_share = next(b, 2) ? -1 : next_number(b),
                              .cpu_milli = -1,
                              .cpu_max_milli = -1,
                              .memory_bytes = -1,
                              .memory_max_bytes = -1,
                              .over_quota = next(b, 4) != 0,
                              .weight_milli = 2000,
                              .rank = 65,
                              .reclaim_min_runtime_ms = -1,
                              .preempt_min_runtime_ms = -1};
    }
    return q;
}

static void next_plan(struct bytes *b, struct arena *a, struct plan_apply *out)
{
    out->prune = next(b, 2) != 0;
    out->base_revision = next(b, 4) == 0 ? next_number(b) : 0;
    struct plan *p = &out->plan;
    p->pools_count = next(b, 3);
    p->pools = ARENA_ARRAY(a, struct pool, p->pools_count);
    for (uint32_t i = 0; i < p->pools_count; i++) {
        p->pools[i] = (struct pool){.name = next_name(b), .label_key = next_name(b)};
    }
    p->departments_count = next(b, 3);
    p->departments = ARENA_ARRAY(a, struct department, p->departments_count);
    for (uint32_t i = 0; i < p->departments_count; i++) {
        struct department *d = &p->departments[i];
        d->name = next_name(b);
        d->parent = next(b, 3) == 0 ? next_name(b) : STR("");
        d->owner_group = next(b, 3) == 0 ? next_name(b) : STR("");
        d->quotas = next_quotas(b, a, &d->quotas_count);
    }
    p->projects_count = next(b, 3);
    p->projects = ARENA_ARRAY(a, struct project, p->projects_count);
    for (uint32_t i = 0; i < p->projects_count; i++) {
        struct project *j = &p->projects[i];
        j->name = next_name(b);
        j->department = next_name(b);
        j->quotas = next_quotas(b, a, &j->quotas_count);
    }
}

static void next_submit(struct bytes *b, struct arena *a, struct submit *s)
{
    s->id = next_id(b, 8);
    s->name = next_name(b);
    s->project = next_name(b);
    s->kind = (enum workload_kind)next(b, 5);
    s->pod_ids_count = next(b, 4);
    s->pod_ids = ARENA_ARRAY(a, struct pod_id, s->pod_ids_count);
    for (uint32_t i = 0; i < s->pod_ids_count; i++) {
        s->pod_ids[i].id = next_id(b, 24);
    }
    s->spec.pods = next(b, 8) == 0 ? next_number(b) : s->pod_ids_count;
    s->spec.pods_min = next(b, 4);
    s->spec.preemptibility = (enum preemptibility)next(b, 4);
    s->spec.backoff_limit = next(b, 3);
    s->spec.restart = (enum restart_policy)next(b, 4);
    s->spec.auto_delete_ms = next_number(b);
    s->spec.pod.gpu_devices = next(b, 3);
    s->spec.pod.gpu_portion_share = next(b, 4) == 0 ? next_number(b) : 0;
    s->spec.pod.cpu_milli = next_number(b);
    s->spec.pools_count = next(b, 3);
    s->spec.pools = ARENA_ARRAY(a, struct str_item, s->spec.pools_count);
    for (uint32_t i = 0; i < s->spec.pools_count; i++) {
        s->spec.pools[i].value = next_name(b);
    }
}

static void next_node(struct bytes *b, struct arena *a, struct node *n)
{
    n->name = next_name(b);
    n->devices_count = next(b, 4);
    n->devices = ARENA_ARRAY(a, struct device, n->devices_count);
    for (uint32_t i = 0; i < n->devices_count; i++) {
        n->devices[i].uuid = device_name(a, n->name, next(b, 4));
        n->devices[i].healthy = next(b, 4) != 0;
        n->devices[i].memory_bytes = next_number(b);
    }
    n->cpu_milli = next_number(b);
    n->memory_bytes = next_number(b);
    n->pods_max = next_number(b);
    n->ready = next(b, 4) != 0;
    n->labels_count = next(b, 2);
    n->labels = ARENA_ARRAY(a, struct label, n->labels_count);
    for (uint32_t i = 0; i < n->labels_count; i++) {
        n->labels[i].key = next_name(b);
    }
}

static void next_tick(struct bytes *b, struct arena *a, struct tick *t)
{
    t->binds_count = next(b, 4);
    t->binds = ARENA_ARRAY(a, struct bind, t->binds_count);
    for (uint32_t i = 0; i < t->binds_count; i++) {
        struct bind *bind = &t->binds[i];
        bind->pod = next_id(b, 24);
        bind->node = next_name(b);
        bind->devices_count = next(b, 3);
        bind->devices = ARENA_ARRAY(a, struct held_device, bind->devices_count);
        for (uint32_t k = 0; k < bind->devices_count; k++) {
            bind->devices[k].uuid = device_name(a, bind->node, next(b, 4));
            bind->devices[k].share = next(b, 4) == 0 ? next_number(b) : DEVICE_SHARE;
        }
    }
    t->evicts_count = next(b, 3);
    t->evicts = ARENA_ARRAY(a, struct evict, t->evicts_count);
    for (uint32_t i = 0; i < t->evicts_count; i++) {
        t->evicts[i].pod = next_id(b, 24);
        t->evicts[i].why.code = next(b, 40);
    }
    t->waiting_count = next(b, 3);
    t->waiting = ARENA_ARRAY(a, struct waiting, t->waiting_count);
    for (uint32_t i = 0; i < t->waiting_count; i++) {
        t->waiting[i].workload = next_id(b, 8);
        t->waiting[i].why.code = next(b, 40);
        t->waiting[i].next_pool = next(b, 2) != 0;
    }
}

static struct str next_user(struct bytes *b)
{
    static const struct str names[] = {STRS("a@x"), STRS("b@x"), STRS("ci"), STRS(""), STRS("cd")};
    return names[next(b, sizeof(names) / sizeof(names[0]))];
}

static void next_identity(struct bytes *b, struct arena *a, struct identity_change *c)
{
    c->op = (enum identity_op)next(b, IDENTITY_OP_COUNT + 1);
    struct str_item *groups = ARENA_ARRAY(a, struct str_item, 2);
    groups[0].value = next_name(b);
    groups[1].value = STR("people");
    c->user = (struct user){
        .id = next_id(b, 6), .name = next_user(b), .groups = groups, .groups_count = next(b, 3)};
    static const struct str providers[] = {STRS(""), STRS("corp"), STRS("lab")};
    c->user.provider = providers[next(b, COUNT_OF(providers))];
    c->user.subject = next_name(b);
    c->provider = (struct provider){.alias = providers[next(b, COUNT_OF(providers))],
                                    .client_id = STR("weir"),
                                    .client_secret = next_name(b),
                                    .discovery_url = STR("https://a"),
                                    .scopes = groups,
                                    .scopes_count = next(b, 3)};
    c->application = (struct application){
        .id = next_id(b, 6), .name = next_user(b), .enabled = next(b, 2) != 0};
    c->key = (struct access_key){.id = next_id(b, 6), .user = next_id(b, 6), .name = next_user(b)};
    c->rule = (struct access_rule){
        .id = next(b, 16),
        .subject_kind = (enum subject_kind)next(b, 4),
        .subject = next_user(b),
        .role = next(b, 4) == 0 ? ROLE_CUSTOM_FIRST + next(b, 3) : 1,
        .scope = {(enum scope_kind)next(b, 5), next(b, 8)}
    };
    struct permission *permission = ARENA_NEW(a, struct permission);
    *permission = (struct permission){next(b, ENTITY_COUNT + 1), next(b, RIGHT_ALL + 2)};
    c->role = (struct role){.id = ROLE_CUSTOM_FIRST + next(b, 3),
                            .name = next_name(b),
                            .permissions = permission,
                            .permissions_count = next(b, 2)};
}

static void next_type(struct bytes *b, struct type_change *out)
{
    out->op = (enum type_op)next(b, 4);
    out->type = (struct workload_type){.id = next_id(b, 4),
                                       .kind_plus_one = next(b, 3) == 0 ? next(b, 6) : 0,
                                       .name = next_name(b),
                                       .group = next_name(b),
                                       .category = (enum category)next(b, CATEGORY_COUNT + 1),
                                       .priority = next(b, 160)};
}

static void next_asset(struct bytes *b, struct arena *a, struct asset_change *c)
{
    struct sealed *secrets = ARENA_ARRAY(a, struct sealed, 2);
    secrets[0] = (struct sealed){STR("password"), next_name(b)};
    secrets[1] = (struct sealed){STR("key"), STR("")};
    c->op = (enum asset_op)next(b, ASSET_OP_COUNT + 1);
    c->asset = (struct asset){
        .id = next_id(b, 6),
        .kind = (enum asset_kind)next(b, ASSET_KINDS + 1),
        .name = next_name(b),
        .scope = {(enum scope_kind)next(b, SCOPE_PROJECT + 1), next(b, 6)},
        .spec = STR("{}"),
        .secrets = secrets,
        .secrets_count = next(b, 3),
    };
}

static void next_policy(struct bytes *b, struct arena *a, struct policy_change *c)
{
    struct imposed *imposed = ARENA_ARRAY(a, struct imposed, 1);
    imposed[0] = (struct imposed){next_id(b, 6), next(b, 2) == 0};
    c->op = (enum policy_op)next(b, POLICY_OP_COUNT + 1);
    c->policy = (struct policy){
        .id = next_id(b, 6),
        .kind = next(b, WORKLOAD_DISTRIBUTED + 2),
        .name = next_name(b),
        .scope = {(enum scope_kind)next(b, SCOPE_PROJECT + 1), next(b, 6)},
        .text = STR("{}"),
        .imposed = imposed,
        .imposed_count = next(b, 2),
    };
}

static void next_input(struct bytes *b, struct arena *a, struct input *in)
{
    *in = (struct input){.kind = (enum input_kind)next(b, INPUT_KIND_COUNT + 2)};
    in->key = next(b, 8) == 0 ? next_name(b) : STR("");
    in->target = next_id(b, 8);
    in->node_name = next_name(b);
    if (in->kind == INPUT_PLAN_APPLY) {
        next_plan(b, a, &in->plan_apply);
    } else if (in->kind == INPUT_SUBMIT || in->kind == INPUT_UPDATE) {
        next_submit(b, a, &in->submit);
    } else if (in->kind == INPUT_WORKLOAD_TYPE) {
        next_type(b, &in->type_change);
    } else if (in->kind == INPUT_NODE_SEEN) {
        next_node(b, a, &in->node);
    } else if (in->kind == INPUT_TICK) {
        next_tick(b, a, &in->tick);
    } else if (in->kind == INPUT_IDENTITY) {
        next_identity(b, a, &in->identity);
    } else if (in->kind == INPUT_ASSET) {
        next_asset(b, a, &in->asset);
    } else if (in->kind == INPUT_POLICY) {
        next_policy(b, a, &in->policy);
    } else if (in->kind == INPUT_NODE_DRAIN || in->kind == INPUT_NODE_UNDRAIN) {
        uint32_t device = next(b, 6);
        in->drain.device = device < 4 ? device_name(a, in->node_name, device) : STR("");
        in->drain.moves = next(b, 4) != 0;
        in->drain.within_ms = next(b, 2) ? next_number(b) : -1;
    } else {
        in->pod = (struct pod_report){.pod = next_id(b, 24),
                                      .attempt = next(b, 4),
                                      .at_ms = next_number(b),
                                      .exit_code = next_number(b),
                                      .reason = next(b, 2) ? STR("Completed") : STR("Error")};
    }
}

static void apply(struct engine *e, struct input *in, struct arena *a)
{
    struct effects fx = {.arena = a};
    struct outcome would;
    struct outcome got;
    in->seq = engine_state(e)->seq + 1;
    engine_check(e, in, &would);
    engine_apply(e, in, &fx, &got);
    CHECK(would.status == got.status);
    CHECK(would.repeated == got.repeated);
    CHECK(engine_invariants(e, a).len == 0);
}

static void decide(struct engine *e, int64_t now_ms, struct arena *a)
{
    struct input in = {.kind = INPUT_TICK, .now_ms = now_ms};
    bool changed;
    engine_decide(e, now_ms, a, &in.tick, &changed);
    if (changed) {
        apply(e, &in, a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, data + size};
    struct arena a;
    struct engine *e = engine_new();
    int64_t now_ms = 1000;
    arena_init(&a, 0);
    while (b.at < b.end) {
        struct input in;
        now_ms += next(&b, 200) * 1000;
        next_input(&b, &a, &in);
        in.now_ms = now_ms;
        apply(e, &in, &a);
        if (next(&b, 4) == 0) {
            decide(e, now_ms, &a);
        }
    }
    struct buf bytes;
    buf_init(&bytes, UINT32_MAX);
    engine_checkpoint(e, &bytes);
    struct engine *again = engine_new();
    enum status status = engine_restore(again, buf_view(&bytes), NULL);
    CHECK(status == STATUS_OK);
    CHECK(engine_hash(e) == engine_hash(again));
    buf_done(&bytes);
    engine_free(again);
    engine_free(e);
    arena_done(&a);
    return 0;
}
