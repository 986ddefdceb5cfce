// SPDX-License-Identifier: Apache-2.0
// policy_use: policies on what is submitted: defaults laid under it, rules held against what came of that,
// and the data that they impose added.
#include "api/runai/assets.h"
#include "api/runai/policies.h"
#include "api/runai/workloads.h"

/* ---- documents ---- */

static struct doc *doc_new(struct call *c, enum doc_kind kind, struct str key, struct str text)
{
    struct doc *d = ARENA_NEW(c->arena, struct doc);
    *d = (struct doc){.kind = kind, .key = key, .text = text};
    return d;
}

static void add(struct doc *to, struct doc *d)
{
    struct doc **link = &to->child;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = d;
    to->child_count++;
}

static void add_copy(struct call *c, struct doc *to, struct str key, const struct doc *d)
{
    struct doc *copy = ARENA_NEW(c->arena, struct doc);
    *copy = *d;
    copy->key = key;
    copy->next = NULL;
    add(to, copy);
}

/* ---- what holds where nothing is said ---- */

static struct str priority_text(struct call *c, int64_t priority)
{
    struct str word = priority_word(priority);
    return word.len > 0 ? word : arena_printf(c->arena, "%lld", (long long)priority);
}

/* The pools of a project that are tried for what names none. */
static struct doc *implied_pools(struct call *c, const struct project *p)
{
    const struct plan *plan = plan_of(c);
    struct doc *list = doc_new(c, DOC_LIST, STR("nodePools"), STR(""));
    for (uint32_t i = 0; i < p->default_pools_count; i++) {
        add(list, doc_new(c, DOC_STRING, STR(""), p->default_pools[i].value));
    }
    for (uint32_t i = 0; i < plan->pools_count && p->default_pools_count == 0; i++) {
        add(list, doc_new(c, DOC_STRING, STR(""), plan->pools[i].name));
    }
    return list;
}

static struct doc *implied_by_project(struct call *c, const struct project *p,
                                      enum workload_kind kind, struct str image)
{
    struct doc *map = doc_new(c, DOC_MAP, STR(""), STR(""));
    int64_t priority = p->default_priority > 0 ? p->default_priority
                                               : kind_type_of(state_of(c), kind).priority;
    add(map, implied_pools(c, p));
    add(map, doc_new(c, DOC_STRING, STR("priorityClass"), priority_text(c, priority)));
    add(map, doc_new(c, DOC_STRING, STR("image"), image));
    return map;
}

/* What follows from the rest of the spec. */
static void implied_by_spec(struct call *c, const struct project *p, const struct doc *spec,
                            struct doc *implied)
{
    const struct doc *compute = body_get(spec, STR("compute"));
    struct str class = body_str(spec, STR("priorityClass"));
    enum preemptibility word = p->default_preemptibility;
    int64_t priority = 0;
    class = class.len > 0 ? class : body_str(implied, STR("priorityClass"));
    if (word == PREEMPTIBILITY_DEFAULT && priority_parse(class, &priority)) {
        word = priority >= PRIORITY_NON_PREEMPTIBLE_MIN ? NON_PREEMPTIBLE : PREEMPTIBLE;
    }
    add(implied, doc_new(c, DOC_STRING, STR("preemptibility"),
                         word == NON_PREEMPTIBLE ? STR("non-preemptible") : STR("preemptible")));
    if (body_get(compute, STR("gpuPortionRequest")) != NULL ||
        body_get(compute, STR("gpuMemoryRequest")) != NULL) {
        struct doc *devices = doc_new(c, DOC_MAP, STR("compute"), STR(""));
        add(devices, doc_new(c, DOC_NUMBER, STR("gpuDevicesRequest"), STR("1")));
        add(implied, devices);
    }
}

/* ---- one part ---- */

static void lay(struct call *c, const struct project *p, enum workload_kind kind,
                enum policy_part part, struct str image, struct policy_verdict *v)
{
    policy_stack_build(c, kind, part, scope_of_project(p->id), NULL, &v->stack);
    v->implied = implied_by_project(c, p, kind, image.len > 0 ? image : STR("host"));
    v->spec = policy_lay(&v->stack.merged, v->asked, v->implied, c->arena);
    implied_by_spec(c, p, v->spec, v->implied);
    policy_judge(&v->stack.merged, v->asked, v->spec, v->implied, c->arena, &v->issues);
}

/* The asset is there and of the project's scope; it may have moved since it was imposed. */
static const struct asset *imposed_asset(struct call *c, const struct project *p, struct uuid id)
{
    const struct asset *a = asset_find(assets_of(c), id);
    bool there = a != NULL &&
                 scope_contains(&call_grants(c)->book->tree, a->scope, scope_of_project(p->id));
    return there ? a : NULL;
}

static bool impose(struct call *c, const struct project *p, bool master, struct policy_verdict *v)
{
    for (uint32_t i = 0; i < v->stack.count; i++) {
        const struct policy *policy = v->stack.sources[i].policy;
        for (uint32_t k = 0; policy != NULL && k < policy->imposed_count; k++) {
            if (policy->imposed[k].master != master) {
                continue;
            }
            const struct asset *a = imposed_asset(c, p, policy->imposed[k].asset);
            if (a == NULL) {
                struct err err;
                err_set(&err, STATUS_CONFLICT,
                        "policy \"" STR_FMT
                        "\" imposes data that is not there for project " STR_FMT,
                        STR_ARG(str_clip(policy->name, 100)), STR_ARG(p->name));
                err_hint(&err, "who administers the policy of " STR_FMT " can mend it",
                         STR_ARG(policy_source_words(c, &v->stack, i)));
                call_refuse(c, NULL, &err);
                return false;
            }
            v->spec = asset_impose(c, v->spec, a);
        }
    }
    return true;
}

/* Without a master of its own the workers' spec is the master's too. */
static void judge_as_master(struct call *c, const struct project *p, const struct policy_verdict *v,
                            struct policy_verdict *master)
{
    policy_stack_build(c, WORKLOAD_DISTRIBUTED, POLICY_MASTER, scope_of_project(p->id), NULL,
                       &master->stack);
    policy_judge(&master->stack.merged, v->asked, v->spec, v->implied, c->arena, &master->issues);
}

static void take_issues(struct call *c, const struct policy_verdict *v, enum policy_part part,
                        struct policy_breach *out)
{
    for (uint32_t i = 0; i < v->issues.count && out->count < COUNT_OF(out->items); i++) {
        const struct policy_issue *issue = &v->issues.items[i];
        bool known = false;
        for (uint32_t k = 0; k < out->count; k++) {
            known = known || (str_eq(out->items[k].field, issue->field) &&
                              str_eq(out->items[k].details, issue->details));
        }
        if (!known) {
            out->sources[out->count] = policy_source_words(c, &v->stack, issue->layer);
            out->masters[out->count] = part == POLICY_MASTER;
            out->items[out->count++] = *issue;
        }
    }
}

const struct doc *policy_use(struct call *c, const struct project *p, enum workload_kind kind,
                             const struct doc *spec, const struct doc **master,
                             struct policy_breach *out)
{
    bool split = kind == WORKLOAD_DISTRIBUTED;
    struct policy_verdict v = {.asked = spec}, m = {.asked = *master};
    *out = (struct policy_breach){0};
    lay(c, p, kind, split ? POLICY_WORKER : POLICY_WHOLE, STR(""), &v);
    take_issues(c, &v, POLICY_WHOLE, out);
    if (split && *master != NULL) {
        lay(c, p, kind, POLICY_MASTER, body_str(v.spec, STR("image")), &m);
    } else if (split) {
        judge_as_master(c, p, &v, &m);
    }
    take_issues(c, &m, POLICY_MASTER, out);
    if (out->count > 0 || !impose(c, p, false, &v) ||
        (split && *master != NULL && !impose(c, p, true, &m))) {
        return NULL;
    }
    *master = *master != NULL ? m.spec : NULL;
    return v.spec;
}

void policy_refuse(struct call *c, const struct policy_breach *breach, const struct err *err)
{
    struct err said = *err;
    c->breach = breach;
    if (said.hint[0] == '\0') {
        err_hint(&said, "a rule of " STR_FMT "; the policy of the project shows what holds there",
                 STR_ARG(breach->sources[0]));
    }
    call_refuse(c, NULL, &said);
}

/* ---- a body of Run:ai's ---- */

static void refuse_body(struct call *c, const struct policy_breach *breach)
{
    struct err err;
    err_set(&err, STATUS_INVALID, "Workload does not comply with the policy");
    err_field(&err, "%s." STR_FMT, breach->masters[0] ? "masterSpec" : "spec",
              STR_ARG(breach->items[0].field));
    policy_refuse(c, breach, &err);
}

static bool same_text(struct call *c, const struct doc *a, const struct doc *b)
{
    return a == b || str_eq(asset_text(c, a), asset_text(c, b));
}

bool policies_lay_under(struct call *c, const struct project *p, enum workload_kind kind)
{
    struct policy_breach *breach = ARENA_NEW(c->arena, struct policy_breach);
    const struct doc *spec = body_get(c->body, STR("spec"));
    const struct doc *master = body_get(c->body, STR("masterSpec"));
    const struct doc *was = master;
    struct uuid before;
    if (call_answered(c, &before)) { /* it was allowed when it came first */
        return true;
    }
    if (kind != WORKLOAD_DISTRIBUTED || body_bool(c->body, STR("masterSpecSameAsWorker"), false)) {
        master = NULL;
    }
    const struct doc *laid = policy_use(c, p, kind, spec, &master, breach);
    if (laid == NULL) {
        if (breach->count > 0) {
            refuse_body(c, breach);
        }
        return false;
    }
    if (same_text(c, spec, laid) && same_text(c, was, master != NULL ? master : was)) {
        return true;
    }
    struct doc *body = doc_new(c, DOC_MAP, STR(""), STR(""));
    for (const struct doc *d = c->body->child; d != NULL; d = d->next) {
        if (!str_eq(d->key, STR("spec")) && !str_eq(d->key, STR("masterSpec"))) {
            add_copy(c, body, d->key, d);
        }
    }
    add_copy(c, body, STR("spec"), laid);
    if (master != NULL || was != NULL) {
        add_copy(c, body, STR("masterSpec"), master != NULL ? master : was);
    }
    c->body = body;
    return true;
}
