// SPDX-License-Identifier: Apache-2.0
// The tenant plan: read, checked against the live hardware, compared, applied.
#include "api/call.h"
#include "base/num.h"
#include "io/yaml.h"
#include "model/units.h"

enum { YAML_TEXT_MAX = 64 << 20 };

static const struct state *state_of(const struct call *c)
{
    return engine_state(c->api->config.engine);
}

/* ---- earlier revisions ---- */

void plans_changed(struct api *api)
{
    const struct state *st = engine_state(api->config.engine);
    struct kept_plan *k = &api->kept[st->plan_revision % PLANS_KEPT];
    if (k->revision == st->plan_revision) {
        return;
    }
    arena_done(&k->arena);
    arena_init(&k->arena, 0);
    record_copy(&record_plan, &st->plan, &k->plan, &k->arena);
    k->revision = st->plan_revision;
}

void plans_free(struct api *api)
{
    for (int i = 0; i < PLANS_KEPT; i++) {
        arena_done(&api->kept[i].arena);
    }
}

/* ---- reading the body ---- */

struct plan_body {
    const struct doc *root;
    struct plan plan;  /* of the file */
    struct plan whole; /* as it would be once applied */
    struct problems *problems;
    bool prune;
    int64_t base_revision;
};

static struct str label_of(const struct node *n, struct str key)
{
    for (uint32_t i = 0; i < n->labels_count; i++) {
        if (str_eq(n->labels[i].key, key)) {
            return n->labels[i].value;
        }
    }
    return (struct str){0};
}

/* What each pool of the plan to be would have, of the nodes there are now. A pool that is new takes
 * nodes by its label. */
static struct pool_capacity *capacities(struct call *c, const struct plan *plan)
{
    const struct state *st = state_of(c);
    struct pool_capacity *all = ARENA_ARRAY(c->arena, struct pool_capacity, plan->pools_count);
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        all[i].pool = plan->pools[i].name;
    }
    for (uint32_t n = 0; n < st->nodes_count; n++) {
        const struct node *node = &st->nodes[n];
        uint32_t at = plan->pools_count;
        for (uint32_t i = 0; i < plan->pools_count; i++) {
            const struct pool *p = &plan->pools[i];
            bool by_label = p->label_key.len > 0;
            bool fits = by_label && str_eq(label_of(node, p->label_key), p->label_value);
            bool rest = !by_label && at == plan->pools_count;
            at = fits || rest ? i : at;
            if (fits) {
                break;
            }
        }
        if (at < plan->pools_count) {
            int64_t share = (int64_t)node->devices_count * DEVICE_SHARE;
            all[at].gpu_share += share;
            all[at].largest_node_gpu_share = num_max_i64(all[at].largest_node_gpu_share, share);
            all[at].node_count++;
        }
    }
    return all;
}

static void make_input(const struct plan_body *b, struct input *in)
{
    *in = (struct input){.kind = INPUT_PLAN_APPLY, .version = INPUT_VERSION};
    in->plan_apply.plan = b->plan;
    in->plan_apply.base_revision = b->base_revision;
    in->plan_apply.prune = b->prune;
}

/* Reads the file; all that is wrong with its form is in b->problems. */
static void read_form(struct call *c, struct plan_body *b)
{
    *b = (struct plan_body){
        .problems = ARENA_NEW(c->arena, struct problems),
        .prune = body_bool(c->args, STR("prune"), false),
        .base_revision = body_i64(c->args, STR("base_revision"), 0),
    };
    problems_init(b->problems, c->arena);
    if (yaml_parse(c->request->body, c->arena, &b->root, b->problems) == STATUS_OK) {
        plan_from_doc(b->root, &state_of(c)->plan, c->arena, &b->plan, b->problems);
    }
}

/* Adds what is wrong with the meaning of the plan as it would be. */
static void check_meaning(struct call *c, struct plan_body *b)
{
    if (b->root != NULL) {
        plan_merge(&state_of(c)->plan, &b->plan, b->prune, c->arena, &b->whole);
        const struct pool_capacity *capacity = capacities(c, &b->whole);
        plan_check(&b->whole, b->root, capacity, b->whole.pools_count, b->problems);
        problems_sort(b->problems);
    }
}

static void read_plan(struct call *c, struct plan_body *b)
{
    read_form(c, b);
    check_meaning(c, b);
}

static void fail_with_problems(struct call *c, const struct plan_body *b, const char *what)
{
    struct err err;
    problems_to_err(b->problems, &err);
    c->problems = b->problems;
    call_refuse(c, what, &err);
}

/* ---- handlers ---- */

void get_plan(struct call *c)
{
    struct err err;
    struct buf yaml;
    buf_init(&yaml, YAML_TEXT_MAX);
    plan_to_yaml(&state_of(c)->plan, &yaml);
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_i64(&w, STR("revision"), state_of(c)->plan_revision);
    bool ok = !yaml.full;
    if (ok && str_eq(body_str(c->args, STR("format")), STR("json"))) {
        const struct doc *root = NULL;
        struct problems problems;
        problems_init(&problems, c->arena);
        ok = yaml_parse(buf_view(&yaml), c->arena, &root, &problems) == STATUS_OK;
        if (ok) {
            jw_key(&w, STR("plan"));
            jw_doc(&w, root);
        }
    } else {
        jw_member_string(&w, STR("yaml"), buf_view(&yaml));
    }
    buf_done(&yaml);
    if (!ok) {
        err_set(&err, STATUS_TOO_LARGE, "the plan is too large to be shown");
        call_fail(c, &err);
        return;
    }
    jw_object_end(&w);
    call_send(c, 200);
}

void check_plan(struct call *c)
{
    struct plan_body b;
    read_plan(c, &b);
    if (b.problems->error_count == 0) { /* what is held may stand against it */
        struct input in;
        struct outcome outcome = {0};
        make_input(&b, &in);
        in.author = c->user;
        engine_check(c->api->config.engine, &in, &outcome);
        if (outcome.status != STATUS_OK) {
            struct problem *p = problems_add(b.problems, SEVERITY_ERROR, "%s", outcome.err.text);
            p->status = outcome.status;
            p->field = arena_str(c->arena, str_from_c(outcome.err.field));
            p->hint = arena_str(c->arena, str_from_c(outcome.err.hint));
        }
    }
    uint32_t warnings = 0;
    for (uint32_t i = 0; i < b.problems->count; i++) {
        warnings += b.problems->items[i].severity == SEVERITY_WARNING;
    }
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_i64(&w, STR("errors"), b.problems->error_count);
    jw_member_i64(&w, STR("warnings"), warnings);
    jw_key(&w, STR("problems"));
    show_problems(&w, b.problems);
    jw_object_end(&w);
    call_send(c, 200);
}

void diff_plan(struct call *c)
{
    struct plan_body b;
    read_plan(c, &b);
    if (b.problems->error_count > 0) {
        fail_with_problems(c, &b, "plan diff");
        return;
    }
    uint32_t count = 0;
    const struct plan_change *changes = plan_diff(&state_of(c)->plan, &b.whole, b.prune, c->arena,
                                                  &count);
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_i64(&w, STR("base_revision"), state_of(c)->plan_revision);
    jw_key(&w, STR("changes"));
    show_changes(&w, changes, count);
    jw_object_end(&w);
    call_send(c, 200);
}

/* Between the revision the plan was made against and the one that is there. */
static void add_conflict(struct call *c, const struct plan_body *b)
{
    const struct kept_plan *k = &c->api->kept[b->base_revision % PLANS_KEPT];
    if (b->base_revision > 0 && k->revision == b->base_revision) {
        c->changes = plan_diff(&k->plan, &state_of(c)->plan, true, c->arena, &c->changes_count);
    }
}

struct applied {
    struct plan_body body;
    const struct plan_change *changes;
    uint32_t changes_count;
};

static void on_applied(struct call *c, const struct outcome *outcome)
{
    struct applied *a = c->context;
    if (outcome->status != STATUS_OK) {
        struct err err = outcome->err;
        if (outcome->status == STATUS_CONFLICT) {
            add_conflict(c, &a->body);
        }
        call_fail(c, &err);
        return;
    }
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_i64(&w, STR("revision"), outcome->revision);
    jw_key(&w, STR("changes"));
    show_changes(&w, a->changes, outcome->repeated ? 0 : a->changes_count);
    jw_object_end(&w);
    call_send(c, 200);
}

static bool is_conflict(struct call *c, const struct plan_body *b, const struct input *in)
{
    struct outcome outcome = {0};
    engine_check(c->api->config.engine, in, &outcome);
    if (outcome.status != STATUS_CONFLICT) {
        return false;
    }
    add_conflict(c, b);
    call_refuse(c, "plan apply", &outcome.err);
    return true;
}

void apply_plan(struct call *c)
{
    struct applied *a = ARENA_NEW(c->arena, struct applied);
    read_form(c, &a->body);
    struct input in;
    make_input(&a->body, &in);
    if (a->body.problems->error_count == 0 && is_conflict(c, &a->body, &in)) {
        return; /* what it means on top of others' changes is not what its author looked at */
    }
    check_meaning(c, &a->body);
    if (a->body.problems->error_count > 0) {
        fail_with_problems(c, &a->body, "plan apply");
        return;
    }
    struct plan_change *changes = plan_diff(&state_of(c)->plan, &a->body.whole, a->body.prune,
                                            c->arena, &a->changes_count);
    /* The texts point into the state, which is another one when the answer is written. */
    for (uint32_t i = 0; i < a->changes_count; i++) {
        changes[i].what = arena_str(c->arena, changes[i].what);
        changes[i].field = arena_str(c->arena, changes[i].field);
        changes[i].from = arena_str(c->arena, changes[i].from);
        changes[i].to = arena_str(c->arena, changes[i].to);
    }
    a->changes = changes;
    c->context = a;
    call_command(c, &in, on_applied);
}
