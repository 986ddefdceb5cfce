// SPDX-License-Identifier: Apache-2.0
// engine: applies inputs, one at a time, each in two halves: a check that answers and changes
// nothing, and a change that cannot fail. So a refused command leaves no trace but its answer, and
// engine_check is the first half alone.
//
// Memory: the state lives in one arena, in which replaced rows and texts stay behind as garbage.
// When the arena has grown to more than twice the live size (and 1 MiB), the state is encoded and
// decoded into the other arena: compaction is the round trip through the checkpoint, so that
// every run proves it. Outside of an apply nothing points into the state but the caller's
// borrowed pointers, which are good until the next apply.
#include "engine/engine.h"

#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/hash.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/limits.h"

enum { COMPACT_SLACK = 1 << 20, KEEP_MAX = 1 << 20, ANSWERS_DROP = ANSWERS_MAX / 4 };
#define CHECKPOINT_MAX UINT32_MAX
static const uint64_t hash_seed = 0;

struct arena *engine_memory(struct engine *e)
{
    return &e->arenas[e->live];
}

/* ---- life of the engine ---- */

struct engine *engine_new(void)
{
    struct arena own;
    arena_init(&own, 0);
    struct engine *e = ARENA_NEW(&own, struct engine);
    e->own = own;
    e->self = e;
    buf_init(&e->bytes, CHECKPOINT_MAX);
    e->compact_at_bytes = COMPACT_SLACK;
    struct state *s = &e->s;
    s->plan_revision = 1;
    s->next_id = 3;
    s->plan.pools = ARENA_NEW(engine_memory(e), struct pool);
    s->plan.pools_count = 1;
    s->plan.pools[0] = (struct pool){.name = DEFAULT_NAME, .id = 2};
    s->plan.departments = ARENA_NEW(engine_memory(e), struct department);
    s->plan.departments_count = 1;
    s->plan.departments[0] = (struct department){.name = DEFAULT_NAME, .id = 1};
    tables_build(e);
    return e;
}

void engine_free(struct engine *e)
{
    if (!e) {
        return;
    }
    arena_done(&e->arenas[0]);
    arena_done(&e->arenas[1]);
    arena_done(&e->t.arena);
    arena_done(&e->scratch);
    buf_done(&e->bytes);
    struct arena own = e->own; // the engine itself lives there
    arena_done(&own);
}

const struct state *engine_state(const struct engine *e)
{
    return &e->s;
}

/* ---- checkpoint ---- */

void engine_checkpoint(const struct engine *e, struct buf *out)
{
    record_encode(&record_state, &e->s, out);
    CHECK(!out->full);
}

uint64_t engine_hash(const struct engine *e)
{
    struct buf *bytes = &e->self->bytes;
    buf_clear(bytes);
    engine_checkpoint(e, bytes);
    uint64_t hash = hash_bytes(bytes->ptr, bytes->len, hash_seed);
    if (bytes->cap > KEEP_MAX) {
        buf_done(bytes);
    }
    return hash;
}

// Room for half as many workloads again, the largest rows: were the table full after a compaction,
// its next growth alone would make the next compaction due.
static void leave_room(struct engine *e)
{
    uint32_t count = e->s.workloads_count;
    e->workloads_cap = count + count / 2 + 16;
    struct workload *rows = ARENA_ARRAY(engine_memory(e), struct workload, e->workloads_cap);
    if (count > 0) {
        memcpy(rows, e->s.workloads, sizeof(*rows) * count);
    }
    e->s.workloads = rows;
}

// Decodes into the other arena and makes that one the live one; on failure nothing has changed.
static enum status load(struct engine *e, struct str bytes, struct err *err)
{
    uint32_t other = 1 - e->live;
    struct state s;
    arena_reset(&e->arenas[other]);
    enum status status = record_decode(&record_state, bytes, &e->arenas[other], &s, err);
    if (status == STATUS_OK) {
        status = state_sound(&s, &e->scratch, err);
    }
    if (status != STATUS_OK) {
        arena_reset(&e->arenas[other]);
        return status;
    }
    arena_reset(&e->arenas[e->live]);
    e->live = other;
    e->s = s;
    e->answers_cap = s.answers_count;
    e->nodes_cap = s.nodes_count;
    e->books_cap = s.books_count;
    e->identity_caps = (struct identity_caps){s.identity.users_count, s.identity.applications_count,
                                              s.identity.keys_count,  s.identity.roles_count,
                                              s.identity.rules_count, s.identity.providers_count};
    e->drains_cap = s.drains_count;
    e->types_cap = s.types_count;
    e->deleted_cap = s.deleted_count;
    e->assets_cap = s.assets.rows_count;
    e->policies_cap = s.policies.rows_count;
    leave_room(e);
    e->compact_at_bytes = 2 * e->arenas[other].used_bytes + COMPACT_SLACK;
    tables_build(e);
    return STATUS_OK;
}

enum status engine_restore(struct engine *e, struct str bytes, struct err *err)
{
    arena_reset(&e->scratch);
    return load(e, bytes, err);
}

static void compact(struct engine *e)
{
    struct buf bytes;
    struct err err;
    buf_init(&bytes, CHECKPOINT_MAX);
    engine_checkpoint(e, &bytes);
    enum status status = load(e, buf_view(&bytes), &err);
    CHECK(status == STATUS_OK);
    buf_done(&bytes);
}

/* ---- answers ---- */

// Ids and secrets that the edge made up for what is new.
static void forget_minted(struct identity_change *c)
{
    struct str none = {0};
    if (c->op == IDENTITY_USER_ADD) {
        c->user.id = (struct uuid){{0}};
    } else if (c->op == IDENTITY_APPLICATION_ADD) {
        c->application.id = (struct uuid){{0}};
    } else if (c->op == IDENTITY_KEY_ADD) {
        c->key.id = (struct uuid){{0}};
    }
    c->user.password = none;
    c->application.secret = none;
    c->key.secret = none;
    c->provider.client_secret = none; // sealed anew each time
}

// Of what was asked, not of who minted which identifier when: a retry may have minted new ones.
static int64_t digest(const struct input *in)
{
    struct input asked = {.kind = in->kind,
                          .target = in->target,
                          .node_name = in->node_name,
                          .drain = in->drain,
                          .plan_apply = in->plan_apply,
                          .submit = in->submit,
                          .name_cluster = in->name_cluster,
                          .refused = in->refused,
                          .type_change = in->type_change,
                          .identity = in->identity,
                          .asset = in->asset,
                          .policy = in->policy};
    asked.submit.id = (struct uuid){{0}};
    asked.submit.pod_ids = NULL;
    asked.submit.pod_ids_count = 0;
    asked.name_cluster.id = asked.submit.id;
    if (asked.submit.request != 0) {
        asked.submit.spec = (struct workload_spec){0};
        asked.submit.asked = (struct str){0};
    }
    forget_minted(&asked.identity);
    if (asked.type_change.op == TYPE_ADD) {
        asked.type_change.type.id = asked.submit.id;
    }
    asked.asset.asset.secrets_count = 0; // sealed anew each time
    if (in->asset.op == ASSET_ADD) {
        asked.asset.asset.id = asked.submit.id;
    }
    asked.policy.policy.id = asked.submit.id;
    struct buf bytes;
    buf_init(&bytes, CHECKPOINT_MAX);
    record_encode(&record_input, &asked, &bytes);
    uint64_t hash = hash_bytes(bytes.ptr, bytes.len, hash_seed);
    buf_done(&bytes);
    return (int64_t)(hash >> 1);
}

// Answers from memory; false when the command is a new one.
static bool answered(const struct engine *e, const struct input *in, struct outcome *out)
{
    uint32_t row;
    if (in->key.len == 0 || !tables_find_answer(e, in->author, in->key, &row)) {
        return false;
    }
    const struct answer *a = &e->s.answers[row];
    if (a->digest != digest(in)) {
        out->status = err_set(&out->err, STATUS_CONFLICT,
                              "the idempotency key \"%.*s\" was used for another command",
                              STR_ARG(in->key));
        err_hint(&out->err, "use a new key for every command");
        return true;
    }
    out->repeated = true;
    out->id = a->id;
    out->revision = a->revision;
    out->status = (enum status)a->status;
    if (out->status != STATUS_OK) {
        err_set(&out->err, out->status, "%.*s", STR_ARG(a->text));
        err_field(&out->err, "%.*s", STR_ARG(a->field));
        err_hint(&out->err, "%.*s", STR_ARG(a->hint));
    }
    return true;
}

bool engine_answered(const struct engine *e, struct str author, struct str key, struct uuid *id)
{
    uint32_t row;
    if (key.len == 0 || !tables_find_answer(e, author, key, &row)) {
        return false;
    }
    *id = e->s.answers[row].id;
    return true;
}

static void drop_answers(struct engine *e)
{
    struct state *s = &e->s;
    if (s->answers_count < ANSWERS_MAX) {
        return;
    }
    s->answers_count -= ANSWERS_DROP;
    memmove(s->answers, s->answers + ANSWERS_DROP, sizeof(*s->answers) * s->answers_count);
    tables_build(e);
}

static void remember(struct engine *e, const struct input *in, const struct outcome *out)
{
    drop_answers(e);
    struct arena *a = engine_memory(e);
    struct state *s = &e->s;
    s->answers = array_grow(a, s->answers, sizeof(*s->answers), s->answers_count, &e->answers_cap);
    struct answer *answer = &s->answers[s->answers_count++];
    *answer = (struct answer){
        .author = arena_str(a, in->author),
        .key = arena_str(a, in->key),
        .status = out->status,
        .id = out->id,
        .revision = out->revision,
        .at_ms = in->now_ms,
        .digest = digest(in),
    };
    if (out->status != STATUS_OK) {
        answer->text = arena_str(a, str_from_c(out->err.text));
        answer->field = arena_str(a, str_from_c(out->err.field));
        answer->hint = arena_str(a, str_from_c(out->err.hint));
    }
    tables_add_answer(e, s->answers_count - 1);
}

/* ---- applying ---- */

// What the check half found, for the change half.
struct plan_ahead {
    struct plan merged;
    struct workload_spec resolved;
};

static void check_command(const struct engine *e, const struct input *in, struct plan_ahead *ahead,
                          struct outcome *out)
{
    switch (in->kind) {
    case INPUT_PLAN_APPLY:
        plan_apply_check(e, in, &ahead->merged, out);
        return;
    case INPUT_SUBMIT:
        submit_check(e, in, &ahead->resolved, out);
        return;
    case INPUT_UPDATE:
        update_check(e, in, &ahead->resolved, out);
        return;
    case INPUT_WORKLOAD_TYPE:
        types_check(e, in, out);
        return;
    case INPUT_SUSPEND:
    case INPUT_RESUME:
    case INPUT_DELETE:
        life_check(e, in, out);
        return;
    case INPUT_IDENTITY:
        identity_check(e, in, out);
        return;
    case INPUT_ASSET:
        assets_check(e, in, out);
        return;
    case INPUT_POLICY:
        policies_check(e, in, out);
        return;
    case INPUT_NAME_CLUSTER:
        name_cluster_check(in, out);
        return;
    case INPUT_NODE_DRAIN:
    case INPUT_NODE_UNDRAIN:
        drain_check(e, in, out);
        return;
    case INPUT_REFUSED:
    case INPUT_NONE:
    case INPUT_NODE_SEEN:
    case INPUT_NODE_LOST:
    case INPUT_POD_STARTED:
    case INPUT_POD_EXITED:
    case INPUT_POD_FAILED:
    case INPUT_POD_CHECKPOINT:
    case INPUT_POD_IDLE:
    case INPUT_TICK:
    case INPUT_KIND_COUNT:
        return;
    }
}

// Returns whether the answer is a new one, to be kept under the key of the command.
static bool check(const struct engine *e, const struct input *in, struct plan_ahead *ahead,
                  struct outcome *out)
{
    *out = (struct outcome){.status = STATUS_OK};
    if (in->kind == INPUT_NODE_SEEN && !node_sound(&in->node)) {
        out->status = err_set(&out->err, STATUS_INVALID, "node \"%.*s\" is described wrongly",
                              STR_ARG(str_sub(in->node.name, 0, 100)));
    }
    if (!input_is_command(in->kind) || answered(e, in, out)) {
        return false;
    }
    if (in->key.len > KEY_LEN_MAX) {
        out->status = err_set(&out->err, STATUS_TOO_LARGE,
                              "the idempotency key has %u bytes, at most %u are allowed",
                              in->key.len, KEY_LEN_MAX);
        return false;
    }
    check_command(e, in, ahead, out);
    return in->key.len > 0;
}

void engine_check(const struct engine *e, const struct input *in, struct outcome *outcome)
{
    struct plan_ahead ahead;
    arena_reset(&e->self->scratch);
    check(e, in, &ahead, outcome);
}

static void change(struct step *st, const struct plan_ahead *ahead)
{
    switch (st->in->kind) {
    case INPUT_PLAN_APPLY:
        plan_apply_do(st, &ahead->merged);
        return;
    case INPUT_SUBMIT:
        submit_apply(st, &ahead->resolved);
        return;
    case INPUT_UPDATE:
        update_apply(st, &ahead->resolved);
        return;
    case INPUT_WORKLOAD_TYPE:
        types_apply(st);
        return;
    case INPUT_SUSPEND:
    case INPUT_RESUME:
    case INPUT_DELETE:
        life_apply(st);
        return;
    case INPUT_NODE_DRAIN:
    case INPUT_NODE_UNDRAIN:
        drain_apply(st);
        return;
    case INPUT_NODE_SEEN:
    case INPUT_NODE_LOST:
    case INPUT_POD_STARTED:
    case INPUT_POD_EXITED:
    case INPUT_POD_FAILED:
    case INPUT_POD_CHECKPOINT:
    case INPUT_POD_IDLE:
        observe_apply(st);
        return;
    case INPUT_TICK:
        tick_apply(st);
        return;
    case INPUT_IDENTITY:
        identity_apply(st);
        return;
    case INPUT_ASSET:
        assets_apply(st);
        return;
    case INPUT_POLICY:
        policies_apply(st);
        return;
    case INPUT_NAME_CLUSTER:
        name_cluster_apply(st);
        return;
    case INPUT_NONE:
    case INPUT_REFUSED:
    case INPUT_KIND_COUNT:
        return; // in the journal, for the audit
    }
}

// Whether work that waits in one pool may find room in another after such an input. What asks for
// room, or takes it, gives none. A node that was seen is one if it differs from what is known.
static bool may_free(enum input_kind kind)
{
    switch (kind) {
    case INPUT_PLAN_APPLY:
    case INPUT_SUSPEND:
    case INPUT_RESUME:
    case INPUT_DELETE:
    case INPUT_UPDATE:
    case INPUT_NODE_LOST:
    case INPUT_POD_EXITED:
    case INPUT_POD_FAILED:
    case INPUT_NODE_UNDRAIN:
        return true;
    case INPUT_POD_CHECKPOINT:
    case INPUT_POD_IDLE:
    case INPUT_NODE_DRAIN:
    case INPUT_WORKLOAD_TYPE:
    case INPUT_NODE_SEEN:
    case INPUT_SUBMIT:
    case INPUT_NAME_CLUSTER:
    case INPUT_POD_STARTED:
    case INPUT_TICK:
    case INPUT_REFUSED:
    case INPUT_IDENTITY:
    case INPUT_ASSET:
    case INPUT_POLICY:
    case INPUT_NONE:
    case INPUT_KIND_COUNT:
        return false;
    }
    return false;
}

void engine_apply(struct engine *e, const struct input *in, struct effects *effects,
                  struct outcome *outcome)
{
    CHECK(in->seq == e->s.seq + 1);
    CHECK(in->now_ms >= e->s.now_ms);
    arena_reset(&e->scratch);
    if (engine_memory(e)->used_bytes > e->compact_at_bytes) {
        compact(e);
    }
    struct plan_ahead ahead;
    bool keep = check(e, in, &ahead, outcome);
    e->s.seq = in->seq;
    e->s.now_ms = in->now_ms;
    if (outcome->status == STATUS_OK && !outcome->repeated) {
        if (may_free(in->kind)) {
            e->s.change_seq = in->seq;
        }
        struct step st = {.e = e, .in = in, .effects = effects, .now_ms = in->now_ms};
        change(&st, &ahead);
    }
    if (keep) {
        remember(e, in, outcome);
    }
}
