// SPDX-License-Identifier: Apache-2.0
// Access rules: /api/v1/authorization/access-rules, a subject with a role at a scope. They are made and
// deleted, not changed. Nobody gives more than they have there, and nobody sees rules elsewhere.
#include "api/runai/people.h"

#include "base/num.h"
#include "io/random.h"

enum { BATCH_MAX = 1000 };

static const struct str subject_types[] = {
    [SUBJECT_USER] = STRS("user"),
    [SUBJECT_APPLICATION] = STRS("service-account"),
    [SUBJECT_GROUP] = STRS("group"),
};

/* ---- showing ---- */

static struct str role_name(struct call *c, uint32_t id)
{
    const struct access_role *role = access_role(api_book(c->api), id);
    return role != NULL ? role->info.name : STR("");
}

static void show_what(struct call *c, struct jw *w, const struct access_rule *r)
{
    jw_member_i64(w, STR("id"), r->id);
    jw_member_string(w, STR("subjectId"), r->subject);
    jw_member_string(w, STR("subjectType"), subject_types[r->subject_kind]);
    jw_member_i64(w, STR("roleId"), r->role);
    jw_member_string(w, STR("roleName"), role_name(c, r->role));
    jw_member_string(w, STR("scopeId"), scope_id(c, r->scope));
    jw_member_string(w, STR("scopeType"), scope_type(r->scope.kind));
    jw_member_string(w, STR("scopeName"), scope_name(c, r->scope));
    if (r->scope.kind != SCOPE_TENANT) {
        show_cluster_id(c, w, STR("clusterId"));
    }
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
}

static void show_rule(struct call *c, struct jw *w, const struct access_rule *r)
{
    jw_object_begin(w);
    show_what(c, w, r);
    show_moment(w, STR("createdAt"), r->stamp.created_ms);
    show_moment(w, STR("updatedAt"), r->stamp.updated_ms);
    show_null(w, STR("deletedAt"));
    jw_member_string(w, STR("createdBy"), r->from_plan ? STR("plan") : r->stamp.created_by);
    jw_key(w, STR("status"));
    jw_object_begin(w);
    jw_member_string(w, STR("phase"), STR("Ready"));
    jw_object_end(w);
    jw_object_end(w);
}

static void answer_rule(struct call *c, int code, uint32_t id)
{
    const struct access_rule *r = identity_rule(identity_of(c), id);
    struct jw w;
    if (r == NULL) {
        fail_unknown(c, "access rule", arena_printf(c->arena, "%u", id));
        return;
    }
    call_begin(c, &w);
    show_rule(c, &w, r);
    call_send(c, code);
}

/* ---- lists ---- */

static const struct column columns[] = {
    {"subjectId",   COLUMN_TEXT  },
    {"subjectType", COLUMN_TEXT  },
    {"roleId",      COLUMN_NUMBER},
    {"scopeId",     COLUMN_TEXT  },
    {"scopeType",   COLUMN_TEXT  },
    {"roleName",    COLUMN_TEXT  },
    {"scopeName",   COLUMN_TEXT  },
    {"createdAt",   COLUMN_TIME  },
    {"deletedAt",   COLUMN_TIME  },
    {"createdBy",   COLUMN_TEXT  },
    {"phase",       COLUMN_TEXT  },
};
#define SORT_WORDS                                                                     \
    "'subjectId'|'subjectType'|'roleId'|'scopeId'|'scopeType'|'roleName'|'scopeName'|" \
    "'createdAt'|'deletedAt'|'createdBy'|'phase'"

static struct cell rule_cell(void *ctx, uint32_t row, uint32_t column)
{
    struct call *c = ctx;
    const struct access_rule *r = &identity_of(c)->rules[row];
    switch (column) {
    case 0:
        return cell_text(r->subject);
    case 1:
        return cell_text(subject_types[r->subject_kind]);
    case 2:
        return cell_number((int64_t)r->role * 1000);
    case 3:
        return cell_text(scope_id(c, r->scope));
    case 4:
        return cell_text(scope_type(r->scope.kind));
    case 5:
        return cell_text(role_name(c, r->role));
    case 6:
        return cell_text(scope_name(c, r->scope));
    case 7:
        return cell_time(r->stamp.created_ms);
    case 8:
        return CELL_ABSENT;
    case 9:
        return cell_text(r->from_plan ? STR("plan") : r->stamp.created_by);
    default:
        return cell_text(STR("Ready"));
    }
}

static struct str rule_name(void *ctx, uint32_t row)
{
    return identity_of(ctx)->rules[row].subject;
}

static bool is(struct call *c, const char *arg, struct str value)
{
    struct str asked = body_str(c->args, str_from_c(arg));
    return asked.len == 0 || str_eq(asked, value);
}

static bool is_listed(const struct doc *items, struct str value)
{
    if (items == NULL || items->child == NULL) {
        return true;
    }
    for (const struct doc *d = items->child; d != NULL; d = d->next) {
        if (str_eq(d->text, value)) {
            return true;
        }
    }
    return false;
}

static bool rule_seen(void *ctx, uint32_t row)
{
    struct call *c = ctx;
    const struct access_rule *r = &identity_of(c)->rules[row];
    struct str kind = subject_types[r->subject_kind];
    struct str asked = body_str(c->args, STR("subjectType"));
    bool app = r->subject_kind == SUBJECT_APPLICATION && str_eq(asked, STR("app"));
    int64_t role = body_i64(c->args, STR("roleId"), 0);
    return scope_set_has(sight_set(call_sight(c), ENTITY_ACCESS_RULES), r->scope) &&
           (asked.len == 0 || app || str_eq(asked, kind)) && is(c, "subjectIdFilter", r->subject) &&
           is_listed(body_get(c->args, STR("subjectIds")), r->subject) &&
           is(c, "scopeType", scope_type(r->scope.kind)) &&
           is(c, "scopeId", scope_id(c, r->scope)) && (role == 0 || role == r->role) &&
           r->stamp.updated_ms >= body_time(c->args, STR("lastUpdated"), 0);
}

static struct list rule_list(struct call *c)
{
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COUNT_OF(columns),
                         .cell = rule_cell,
                         .name = rule_name,
                         .seen = rule_seen,
                         .ctx = c,
                         .rows_count = identity_of(c)->rules_count};
}

static void list(struct call *c)
{
    struct list l = rule_list(c);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_i64(&w, STR("totalRecords"), l.count);
    jw_member_i64(&w, STR("displayRecords"), l.end - l.first);
    jw_key(&w, STR("accessRules"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_rule(c, &w, &identity_of(c)->rules[l.rows[i]]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct list l = rule_list(c);
    list_count(&l);
}

/* The rule of the path, when it may be seen; NULL: answered. */
static const struct access_rule *path_rule(struct call *c)
{
    uint64_t id = 0;
    const struct access_rule *r = num_parse_u64(c->segments.items[0], &id)
                                      ? identity_rule(identity_of(c), (uint32_t)id)
                                      : NULL;
    if (r == NULL || !access_allows(call_grants(c), ENTITY_ACCESS_RULES, RIGHT_READ, r->scope)) {
        fail_unknown(c, "access rule", c->segments.items[0]);
        return NULL;
    }
    call_about(c, r->subject);
    return r;
}

static void get(struct call *c)
{
    const struct access_rule *r = path_rule(c);
    if (r != NULL) {
        answer_rule(c, 200, r->id);
    }
}

/* ---- deciding ---- */

/* Whether the one who asks may give (or take away) this role there. */
static enum status may_change(struct call *c, const struct access_rule *r, enum right right,
                              struct err *err)
{
    const struct grants *g = call_grants(c);
    const struct access_role *role = access_role(g->book, r->role);
    c->entity = ENTITY_ACCESS_RULES;
    c->right = right;
    c->scope = r->scope;
    if (!access_allows(g, ENTITY_ACCESS_RULES, RIGHT_READ, r->scope)) {
        return err_set(err, STATUS_UNKNOWN, "there is no such scope");
    }
    if (!access_allows(g, ENTITY_ACCESS_RULES, right, r->scope)) {
        return err_set(err, STATUS_DENIED, STR_FMT " may not " STR_FMT " access rules there",
                       STR_ARG(c->user), STR_ARG(right_name(right)));
    }
    if (role != NULL && !access_may_give(g, role, r->scope)) {
        err_set(err, STATUS_DENIED,
                "role \"" STR_FMT "\" may change there what " STR_FMT " may not",
                STR_ARG(role->info.name), STR_ARG(c->user));
        return err_hint(err, "nobody gives or takes away more than they have: ask somebody with "
                             "this role");
    }
    c->decided = true;
    return STATUS_OK;
}

/* ---- one rule ---- */

static bool subject_kind_of(struct str type, enum subject_kind *out)
{
    if (str_eq(type, STR("app"))) {
        *out = SUBJECT_APPLICATION;
        return true;
    }
    *out = (enum subject_kind)0;
    for (uint32_t i = 0; i < COUNT_OF(subject_types); i++) {
        if (str_eq(type, subject_types[i])) {
            *out = (enum subject_kind)i;
            return true;
        }
    }
    return false;
}

/* Reads subject and scope out of two objects, which may be the same. */
static enum status read_rule(struct call *c, const struct doc *subject, const struct doc *scope,
                             int64_t role, struct access_rule *out, struct err *err)
{
    *out = (struct access_rule){.role = (uint32_t)role};
    struct str name = body_str(subject, STR("subjectId"));
    if (!subject_kind_of(body_str(subject, STR("subjectType")), &out->subject_kind)) {
        return err_set(err, STATUS_INVALID, "there is no such kind of subject");
    }
    out->subject = out->subject_kind == SUBJECT_USER ? name_lower(name, c->arena) : name;
    return scope_read(c, body_str(scope, STR("scopeType")), body_str(scope, STR("scopeId")),
                      &out->scope, err);
}

/* The same rule, made by the same user a moment ago: the answer was lost. */
static uint32_t just_made(struct call *c, const struct access_rule *r)
{
    const struct identity *d = identity_of(c);
    for (uint32_t i = 0; i < d->rules_count; i++) {
        const struct access_rule *have = &d->rules[i];
        if (have->subject_kind == r->subject_kind && have->role == r->role &&
            scope_eq(have->scope, r->scope) && str_eq(have->subject, r->subject)) {
            return was_just_made(c, &have->stamp) ? have->id : 0;
        }
    }
    return 0;
}

static void on_created(struct call *c, const struct outcome *outcome)
{
    answer_rule(c, 201, (uint32_t)outcome->revision);
}

static void create(struct call *c)
{
    struct identity_change change = {.op = IDENTITY_RULE_ADD};
    struct err err;
    enum status status = read_rule(c, c->body, c->body, body_i64(c->body, STR("roleId"), 0),
                                   &change.rule, &err);
    status = status != STATUS_OK ? status : may_change(c, &change.rule, RIGHT_CREATE, &err);
    if (status != STATUS_OK) {
        call_reject(c, &err);
        return;
    }
    uint32_t made = just_made(c, &change.rule);
    if (made != 0) {
        answer_rule(c, 201, made);
        return;
    }
    people_change(c, &change, on_created);
}

static void delete(struct call *c)
{
    struct identity_change change = {.op = IDENTITY_RULE_REMOVE};
    const struct access_rule *r = path_rule(c);
    struct err err;
    if (r == NULL) {
        return;
    }
    if (may_change(c, r, RIGHT_DELETE, &err) != STATUS_OK) {
        call_reject(c, &err);
        return;
    }
    change.rule.id = r->id;
    people_change(c, &change, answer_nothing);
}

/* ---- several at once, one after the other ---- */

struct item {
    const struct doc *subject, *scope; /* of a creation */
    struct str text;                   /* of a deletion: the id as it was given */
    uint32_t id;                       /* that was made, or is to go */
    enum status status;
    struct err err;
};
struct batch {
    struct item *items;
    uint32_t count, at;
    bool deletes, dry;
};

static void next(struct call *c);

static void show_failed_creation(struct call *c, struct jw *w, const struct item *i)
{
    jw_key(w, STR("payload"));
    jw_object_begin(w);
    jw_member_string(w, STR("subjectId"), body_str(i->subject, STR("subjectId")));
    jw_member_string(w, STR("subjectType"), body_str(i->subject, STR("subjectType")));
    jw_member_i64(w, STR("roleId"), body_i64(body_get(c->body, STR("payload")), STR("roleId"), 0));
    jw_member_string(w, STR("scopeId"), body_str(i->scope, STR("scopeId")));
    jw_member_string(w, STR("scopeType"), body_str(i->scope, STR("scopeType")));
    jw_object_end(w);
}

static void show_succeeded(struct call *c, struct jw *w, const struct batch *b,
                           const struct item *i)
{
    const struct access_rule *r = identity_rule(identity_of(c), i->id);
    if (b->deletes) {
        jw_string(w, i->text);
    } else if (r != NULL) {
        show_rule(c, w, r);
    }
}

static void answer_batch(struct call *c, const struct batch *b)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    if (b->deletes) {
        show_uuid(&w, STR("id"), random_uuid());
    }
    jw_key(&w, STR("succeeded"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->items[i].status == STATUS_OK) {
            show_succeeded(c, &w, b, &b->items[i]);
        }
    }
    jw_array_end(&w);
    jw_key(&w, STR("failed"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct item *item = &b->items[i];
        if (item->status != STATUS_OK) {
            jw_object_begin(&w);
            if (b->deletes) {
                jw_member_string(&w, STR("id"), item->text);
            } else {
                show_failed_creation(c, &w, item);
            }
            jw_member_i64(&w, STR("code"), status_info(item->status)->http);
            jw_member_string(&w, STR("message"), str_from_c(item->err.text));
            jw_object_end(&w);
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void on_item(struct call *c, const struct outcome *outcome)
{
    struct batch *b = c->context;
    struct item *i = &b->items[b->at++];
    i->status = outcome->status;
    i->err = outcome->err;
    if (!b->deletes) {
        i->id = (uint32_t)outcome->revision;
    }
    next(c);
}

static enum status prepare(struct call *c, const struct batch *b, struct item *i,
                           struct identity_change *change)
{
    if (b->deletes) {
        const struct access_rule *r = identity_rule(identity_of(c), i->id);
        change->op = IDENTITY_RULE_REMOVE;
        change->rule.id = i->id;
        if (r == NULL ||
            !access_allows(call_grants(c), ENTITY_ACCESS_RULES, RIGHT_READ, r->scope)) {
            return err_set(&i->err, STATUS_UNKNOWN, "there is no access rule " STR_FMT,
                           STR_ARG(str_clip(i->text, 100)));
        }
        return may_change(c, r, RIGHT_DELETE, &i->err);
    }
    change->op = IDENTITY_RULE_ADD;
    int64_t role = body_i64(body_get(c->body, STR("payload")), STR("roleId"), 0);
    enum status status = read_rule(c, i->subject, i->scope, role, &change->rule, &i->err);
    return status != STATUS_OK ? status : may_change(c, &change->rule, RIGHT_CREATE, &i->err);
}

static void next(struct call *c)
{
    struct batch *b = c->context;
    while (b->at < b->count) {
        struct item *i = &b->items[b->at];
        struct identity_change change = {.op = IDENTITY_NOTHING};
        i->status = prepare(c, b, i, &change);
        if (i->status == STATUS_OK && !b->dry) {
            struct input in = {
                .kind = INPUT_IDENTITY, .version = INPUT_VERSION, .identity = change};
            c->part = b->at + 1;
            call_command(c, &in, on_item);
            return;
        }
        if (!b->dry) {
            call_refused(c, NULL, &i->err);
        }
        b->at++;
    }
    answer_batch(c, b);
}

static bool fits(struct call *c, uint32_t count)
{
    struct err err;
    if (count <= BATCH_MAX) {
        return true;
    }
    err_set(&err, STATUS_TOO_LARGE, "%u rules at once, at most %d are possible", count, BATCH_MAX);
    call_reject(c, &err);
    return false;
}

static void create_batch(struct call *c)
{
    struct batch *b = ARENA_NEW(c->arena, struct batch);
    const struct doc *payload = body_get(c->body, STR("payload"));
    const struct doc *subjects = body_get(payload, STR("subjects"));
    const struct doc *scopes = body_get(payload, STR("scopes"));
    uint64_t count = (uint64_t)body_count(subjects) * body_count(scopes);
    if (!fits(c, count > BATCH_MAX ? BATCH_MAX + 1 : (uint32_t)count)) {
        return;
    }
    b->items = ARENA_ARRAY(c->arena, struct item, count);
    for (const struct doc *s = count > 0 ? subjects->child : NULL; s != NULL; s = s->next) {
        for (const struct doc *at = scopes->child; at != NULL; at = at->next) {
            b->items[b->count++] = (struct item){.subject = s, .scope = at};
        }
    }
    c->context = b;
    next(c);
}

/* Rules have numbers, but the product's clients send UUIDs here: what is behind the last dash counts,
 * or all. */
static uint32_t number_of(struct str text)
{
    uint32_t dash = text.len;
    uint64_t n = 0;
    while (dash > 0 && text.ptr[dash - 1] != '-') {
        dash--;
    }
    return num_parse_u64(str_sub(text, dash, text.len), &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static void delete_batch(struct call *c)
{
    struct batch *b = ARENA_NEW(c->arena, struct batch);
    const struct doc *ids = body_get(c->body, STR("ids"));
    b->deletes = true;
    b->dry = str_eq(body_str(c->body, STR("action")), STR("validate_delete"));
    if (!fits(c, body_count(ids))) {
        return;
    }
    b->items = ARENA_ARRAY(c->arena, struct item, body_count(ids));
    for (const struct doc *d = ids->child; d != NULL; d = d->next) {
        b->items[b->count++] = (struct item){.text = d->text, .id = number_of(d->text)};
    }
    c->context = b;
    next(c);
}

/* ---- one's own ---- */

static bool is_mine(const struct grants *g, const struct access_rule *r)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->items[i].rule == r->id) {
            return true;
        }
    }
    return false;
}

static bool mine_seen(void *ctx, uint32_t row)
{
    struct call *c = ctx;
    return is_mine(call_grants(c), &identity_of(c)->rules[row]);
}

static struct list mine_list(struct call *c)
{
    struct list l = rule_list(c);
    l.seen = mine_seen;
    return l;
}

static void list_mine(struct call *c)
{
    struct list l = mine_list(c);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("accessRules"));
    jw_object_begin(&w);
    jw_member_i64(&w, STR("totalRecords"), l.count);
    jw_member_i64(&w, STR("displayRecords"), l.end - l.first);
    jw_key(&w, STR("accessRules"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        jw_object_begin(&w);
        show_what(c, &w, &identity_of(c)->rules[l.rows[i]]);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count_mine(struct call *c)
{
    struct list l = mine_list(c);
    list_count(&l);
}

/* ---- the rows ---- */

#define SUBJECT_TYPE "'user'|'app'|'service-account'|'group'"
#define SCOPE_TYPE   "'system'|'tenant'|'cluster'|'department'|'project'"

static const struct schema_row schemas[] = {
    {"AccessRule",                   "subjectId* str, subjectType* " SUBJECT_TYPE
                   ", roleId* int, scopeId* str, scopeType* " SCOPE_TYPE
                   ", clusterId uuid, roleName* str, scopeName* str, id* int, createdAt* ts, "
                   "updatedAt* ts, deletedAt ts?, tenantId int, createdBy* str, status {phase "
                   "'Creating'|'Ready'|'NotReady'|'Deleting', message str, details str}"     },
    {"AccessRuleCreationFields",
     "subjectId* str(1..256), subjectType* " SUBJECT_TYPE
     ", roleId* int, scopeId* str, scopeType* " SCOPE_TYPE ", clusterId uuid?"                                 },
    {"AccessRules",                  "totalRecords* int, displayRecords* int, accessRules* [AccessRule]"       },
    {"AccessRulesBatch",             "ids* [any], action* 'delete'|'validate_delete'"                          },
    {"AccessRulesBatchAnswer",
     "id* uuid, succeeded [str], failed [{id* str, code* int, message* str}]"                                  },
    {"AccessRulesBatchCreate",
     "payload* {roleId* int, clusterId uuid?, subjects* [{subjectId* str(1..256), "
     "subjectType* " SUBJECT_TYPE "}], scopes* [{scopeId* str, scopeType* " SCOPE_TYPE "}]}"                   },
    {"AccessRulesBatchCreateAnswer",
     "succeeded [AccessRule], failed [{payload AccessRuleCreationFields, code int, message str}]"              },
    {"MeAccessRules",                "accessRules {totalRecords* int, displayRecords* int, accessRules* [obj]}"},
};

#define P       "/api/v1/authorization/access-rules"
#define ME      "/api/v1/authorization/me/access-rules"
#define DELETED "includeDeleted bool = false"

static const struct route routes[] = {
    {"GET",    P,                       "get_access_rules",          list,
     "subjectType " SUBJECT_TYPE ", subjectIdFilter str, subjectIds [str], lastUpdated ts, " DELETED
     ", clusterId uuid, scopeType " SCOPE_TYPE ", scopeId str, roleId int(1..), sortBy " SORT_WORDS
     ", " ORDER_ARG ", " FILTER_ARGS ", search str, " PAGE_ARGS,
     NULL,                                                                                                                                              200, "AccessRules",                  "Access rules",                               0, "read access-rules"  },
    {"POST",   P,                       "create_access_rule",        create,       NULL,                                    "AccessRuleCreationFields", 201, "AccessRule",
     "Give a role to a subject at a scope",                                                                                                                                                                                                0, "create access-rules"},
    {"GET",    P "/{accessRuleId:int}", "get_access_rule",           get,          NULL,                                    NULL,                       200, "AccessRule",
     "One access rule",                                                                                                                                                                                                                    0, "read access-rules"  },
    {"DELETE", P "/{accessRuleId:int}", "delete_access_rule",        delete,       NULL,                                    NULL,                       204, NULL,
     "Delete an access rule",                                                                                                                                                                                                              0, "delete access-rules"},
    {"GET",    P "/count",              "count_access_rules",        count,        DELETED ", " FILTER_ARGS ", search str", NULL,
     200,                                                                                                                                                    "CountResponse",                "How many access rules",                      0, "read access-rules"  },
    {"POST",   P "/batch",              "access_rules_batch",        delete_batch, NULL,                                    "AccessRulesBatch",         200,
     "AccessRulesBatchAnswer",                                                                                                                                                               "Delete access rules, or say which could be", 0,
     "delete access-rules"                                                                                                                                                                                                                                         },
    {"POST",   P "/batch-create",       "access_rules_batch_create", create_batch, NULL,
     "AccessRulesBatchCreate",                                                                                                                          200, "AccessRulesBatchCreateAnswer",
     "Give a role to each of some subjects at each of some scopes",                                                                                                                                                                        0, "create access-rules"},
    {"GET",    ME,                      "get_me_access_rules",       list_mine,    "search str, " PAGE_ARGS,                NULL,                       200,
     "MeAccessRules",                                                                                                                                                                        "Access rules that speak of oneself",         0, "self"               },
    {"GET",    ME "/count",             "count_me_access_rules",     count_mine,   "search str",                            NULL,                       200,
     "CountResponse",                                                                                                                                                                        "How many",                                   0, "self"               },
};

const struct route_group group_rules = ROUTE_GROUP("AccessRules", routes, schemas);
