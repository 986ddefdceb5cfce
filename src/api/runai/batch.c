// SPDX-License-Identifier: Apache-2.0
// Many workloads deleted, stopped or resumed at once: each for itself, with what became of it.
#include "api/runai/workloads.h"
#include "base/check.h"
#include "io/random.h"

enum { BATCH_MAX = 100 };

struct batch_item {
    struct batch *batch;
    struct str id;
    int code; /* 0: it succeeded */
    struct str message;
};
struct batch {
    struct call *call;
    uint32_t count, waiting;
    struct batch_item items[BATCH_MAX];
};

static void answer_batch(struct batch *b)
{
    struct call *c = b->call;
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    show_uuid(&w, STR("id"), random_uuid());
    jw_key(&w, STR("succeeded"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->items[i].code == 0) {
            jw_string(&w, b->items[i].id);
        }
    }
    jw_array_end(&w);
    jw_key(&w, STR("failed"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->items[i].code != 0) {
            jw_object_begin(&w);
            jw_member_string(&w, STR("id"), b->items[i].id);
            jw_member_i64(&w, STR("code"), b->items[i].code);
            jw_member_string(&w, STR("message"), b->items[i].message);
            jw_object_end(&w);
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void on_batch_item(void *arg, const struct outcome *outcome)
{
    struct batch_item *item = arg;
    struct batch *b = item->batch;
    if (outcome->status != STATUS_OK) {
        item->code = status_info(outcome->status)->http;
        item->message = arena_str(b->call->arena, str_from_c(outcome->err.text));
    }
    if (--b->waiting == 0) {
        b->call->request->over = NULL;
        answer_batch(b);
    }
}

static void on_batch_gone(void *arg)
{
    struct batch *b = arg;
    for (uint32_t i = 0; i < b->count; i++) {
        writer_forget(b->call->api->writer, &b->items[i]);
    }
}

/* As for one workload alone: 404 where one may not even read it, 403 where one may not change it. */
static enum status batch_may(struct call *c, const struct batch_item *item,
                             const struct workload *wl, enum right right, struct err *err)
{
    c->workload = NULL; /* of the one before it */
    c->scope = SCOPE_OF_CLUSTER;
    if (wl == NULL || !sight_workload(call_sight(c), wl)) {
        return err_set(err, STATUS_UNKNOWN, "there is no workload " STR_FMT, STR_ARG(item->id));
    }
    const struct project *p = show_find_project(plan_of(c), wl->project);
    c->workload = wl;
    c->entity = entity_of_kind(wl->kind);
    c->right = right;
    if (p != NULL) {
        c->scope = scope_of_project(p->id);
    }
    if (!access_allows(call_grants(c), c->entity, right, c->scope)) {
        return err_set(err, STATUS_DENIED, "this is not allowed to you");
    }
    return permit_owns(c, wl, c->scope, err);
}

static void refuse_item(struct call *c, struct batch_item *item, const struct err *err)
{
    item->code = status_info(err->status)->http;
    item->message = arena_str(c->arena, str_from_c(err->text));
    call_refused(c, NULL, err);
}

static void batch(struct call *c)
{
    static const struct str actions[] = {STRS("delete"), STRS("suspend"), STRS("resume")};
    static const enum input_kind kinds[] = {INPUT_DELETE, INPUT_SUSPEND, INPUT_RESUME};
    uint32_t action = body_word(c->body, STR("action"), actions, COUNT_OF(actions), 0);
    const struct doc *ids = body_get(c->body, STR("ids"));
    struct batch *b = ARENA_NEW(c->arena, struct batch);
    if (body_count(ids) > BATCH_MAX) {
        fail_field(c, "ids", (struct str){0}, "there are %u, at most %d are possible at once",
                   body_count(ids), BATCH_MAX);
        return;
    }
    b->call = c;
    b->waiting = 1; /* until all are on their way */
    c->request->over = on_batch_gone;
    c->request->over_arg = b;
    for (const struct doc *d = ids->child; d != NULL; d = d->next) {
        struct batch_item *item = &b->items[b->count++];
        struct input in = {.kind = kinds[action], .version = INPUT_VERSION, .author = c->user};
        *item = (struct batch_item){.batch = b, .id = d->text};
        bool ok = uuid_parse(d->text, &in.target);
        CHECK(ok); /* the schema saw to it */
        struct err err;
        const struct workload *wl = engine_find(c->api->config.engine, in.target);
        enum right right = action == 0 ? RIGHT_DELETE : RIGHT_UPDATE;
        enum status status = batch_may(c, item, wl, right, &err);
        in.origin = call_origin(c);
        if (status != STATUS_OK) {
            refuse_item(c, item, &err);
            continue;
        }
        b->waiting++;
        writer_command(c->api->writer, &in, on_batch_item, item);
    }
    if (--b->waiting == 0) {
        c->request->over = NULL;
        answer_batch(b);
    }
}

static const struct schema_row schemas[] = {
    {"WorkloadBatch", "ids* [uuid], action* 'delete'|'suspend'|'resume'"                        },
    {"BatchResponse", "id* uuid, succeeded [uuid], failed [{id* uuid, code* int, message* str}]"},
};

static const struct route routes[] = {
    {"POST", "/api/v1/workloads/batch", "batch_workloads", batch, NULL, "WorkloadBatch", 200,
     "BatchResponse", "Delete, stop or resume up to a hundred workloads", 0, "read workloads"},
};

const struct route_group group_batch = ROUTE_GROUP("WorkloadBatch", routes, schemas);
