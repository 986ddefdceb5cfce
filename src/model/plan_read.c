// SPDX-License-Identifier: Apache-2.0
// plan_read: the file form of the tenant plan to struct plan. Every object is read by the table of
// its keys (plan_form.h); what is special to an object follows here. A value that cannot be read is
// reported and left at its default, and reading goes on, so that one run shows all problems.
//
// A place is the path to a value, linked upwards on the stack; it becomes text only in a problem.
#include "model/plan.h"

#include "base/array.h"
#include "base/check.h"
#include "base/map.h"
#include "base/sort.h"
#include "model/limits.h"
#include "model/plan_form.h"
#include "model/units.h"

struct place {
    const struct place *up;
    struct str key; /* of a member, or */
    uint32_t index; /* of an item, when key.ptr is NULL */
};

struct reader {
    struct arena *arena;
    struct problems *problems;
    const struct plan *base; /* NULL: not known */
    ARRAY(struct pool) pools;
    ARRAY(struct department) departments;
    ARRAY(struct project) projects;
    bool pools_full, queues_full;
    bool pools_wrong;                                       /* the list of pools, or its key */
    struct map pool_lines, department_lines, project_lines; /* by name, the line */
};

enum { PLACE_DEPTH_MAX = 16, VALUE_SHOWN_MAX = 60, MEMORY_SUSPECT_BYTES = 1 << 20 };

static struct str place_format(const struct place *place, struct arena *arena)
{
    const struct place *steps[PLACE_DEPTH_MAX];
    uint32_t count = 0;
    for (; place && count < PLACE_DEPTH_MAX; place = place->up) {
        steps[count++] = place;
    }
    struct str text = STR("");
    while (count > 0) {
        const struct place *step = steps[--count];
        if (!step->key.ptr) {
            text = arena_printf(arena, STR_FMT "[%u]", STR_ARG(text), step->index);
        } else {
            text = arena_printf(arena, STR_FMT "%s" STR_FMT, STR_ARG(text), text.len > 0 ? "." : "",
                                STR_ARG(step->key));
        }
    }
    return text;
}

/* problem_at says where: at the value, or at the key of the value when key is set. */
static struct problem *problem_at(struct reader *r, struct problem *p, const struct place *place,
                                  const struct doc *doc, bool key)
{
    p->field = place_format(place, r->arena);
    p->line = key && doc->key_line > 0 ? doc->key_line : doc->line;
    p->col = key && doc->key_line > 0 ? doc->key_col : doc->col;
    return p;
}

#define SAY_AT(r, place, doc, key, severity, ...) \
    problem_at((r), problems_add((r)->problems, (severity), __VA_ARGS__), (place), (doc), (key))
#define ERROR_AT(r, place, doc, ...)   SAY_AT(r, place, doc, false, SEVERITY_ERROR, __VA_ARGS__)
#define ERROR_KEY(r, place, doc, ...)  SAY_AT(r, place, doc, true, SEVERITY_ERROR, __VA_ARGS__)
#define WARNING_AT(r, place, doc, ...) SAY_AT(r, place, doc, false, SEVERITY_WARNING, __VA_ARGS__)

/* value_shown quotes what was found: "eight", -3, a list. */
static struct str value_shown(const struct doc *value, struct arena *arena)
{
    switch (value->kind) {
    case DOC_NUMBER:
        return str_clip(value->text, VALUE_SHOWN_MAX);
    case DOC_STRING: {
        struct str clipped = str_clip(value->text, VALUE_SHOWN_MAX);
        return arena_printf(arena, "\"" STR_FMT "%s\"", STR_ARG(clipped),
                            clipped.len < value->text.len ? "…" : "");
    }
    case DOC_BOOL:
        return value->boolean ? STR("true") : STR("false");
    case DOC_NULL:
    case DOC_LIST:
    case DOC_MAP:
        break;
    }
    return str_from_c(doc_kind_name(value->kind));
}

static void wrong_value(struct reader *r, const struct place *place, const struct doc *value,
                        enum form form)
{
    struct str shown = value_shown(value, r->arena);
    struct problem *p = ERROR_AT(r, place, value, "expected %s, got " STR_FMT, form_accepts(form),
                                 STR_ARG(shown));
    p->hint = form_hint(form, value, r->arena);
}

static void unknown_key(struct reader *r, const struct place *place, const struct doc *member,
                        const struct keys *keys)
{
    enum { KEYS_MAX = 16 };
    struct str names[KEYS_MAX];
    struct str shown = str_clip(member->key, VALUE_SHOWN_MAX);
    struct problem *p = ERROR_KEY(r, place, member, "unknown key \"" STR_FMT "\"", STR_ARG(shown));
    if (r->problems->dropped > 0) {
        return; // nobody sees it
    }
    CHECK(keys->count <= KEYS_MAX);
    for (uint32_t i = 0; i < keys->count; i++) {
        names[i] = keys->items[i].name;
    }
    uint32_t near = str_nearest(member->key, names, keys->count);
    if (near < keys->count) {
        p->hint = arena_printf(r->arena, "did you mean " STR_FMT "?", STR_ARG(names[near]));
        return;
    }
    p->hint = STR("known here:");
    for (uint32_t i = 0; i < keys->count; i++) {
        p->hint = arena_printf(r->arena, STR_FMT "%s" STR_FMT, STR_ARG(p->hint), i > 0 ? ", " : " ",
                               STR_ARG(names[i]));
    }
}

static bool expect_kind(struct reader *r, const struct place *place, const struct doc *value,
                        enum doc_kind kind)
{
    if (value->kind == kind) {
        return true;
    }
    if (value->kind != DOC_NULL) { // nothing is an empty map or list
        struct str shown = value_shown(value, r->arena);
        ERROR_AT(r, place, value, "expected %s, got " STR_FMT, doc_kind_name(kind), STR_ARG(shown));
    }
    return false;
}

/* read_keys reads the members of map that keys lists into *object, except the nested ones, and
 * reports unknown keys and duplicates. found[keys->count] receives the members, NULL where absent. */
static void read_keys(struct reader *r, const struct place *at, const struct doc *map,
                      const struct keys *keys, void *object, const struct doc **found)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        found[i] = NULL;
    }
    if (!expect_kind(r, at, map, DOC_MAP)) {
        return;
    }
    for (const struct doc *member = map->child; member; member = member->next) {
        struct place place = {.up = at, .key = member->key};
        uint32_t k = 0;
        while (k < keys->count && !str_eq(member->key, keys->items[k].name)) {
            k++;
        }
        if (k == keys->count) {
            unknown_key(r, &place, member, keys);
            continue;
        }
        if (found[k]) {
            struct problem *p = ERROR_KEY(r, &place, member, "this key is here twice");
            p->hint = arena_printf(r->arena, "the first is on line %u; keep one",
                                   found[k]->key_line);
            continue;
        }
        found[k] = member;
        const struct key *key = &keys->items[k];
        if (key->form != FORM_NESTED &&
            !form_parse(key->form, member, (char *)object + key->offset, r->arena)) {
            wrong_value(r, &place, member, key->form);
        }
    }
}

/* ---- names ---- */

/* name_taken reports a missing or second name; true when the object cannot be kept. */
static bool name_taken(struct reader *r, const struct place *at, const struct doc *item,
                       const struct doc *name_doc, struct str name, struct map *names,
                       const char *what)
{
    uint32_t first = 0;
    if (!name_doc) {
        if (item->kind == DOC_MAP) {
            ERROR_AT(r, at, item, "a %s needs a name", what)->hint = arena_printf(
                r->arena, "add name: and the name of the %s", what);
        } else if (item->kind == DOC_NULL) {
            ERROR_AT(r, at, item, "expected a %s, got nothing", what)->hint = STR(
                "remove the empty item");
        }
        return true;
    }
    if (name.len == 0) {
        return true; // reported as a wrong name
    }
    if (map_get(names, name, &first)) {
        struct place place = {.up = at, .key = STR("name")};
        ERROR_AT(r, &place, name_doc, "%s \"" STR_FMT "\" is here twice (first on line %u)", what,
                 STR_ARG(name), first)
            ->hint = STR("names are unique in the whole plan; keep one or rename it");
        return true;
    }
    map_put(names, name, name_doc->line);
    return false;
}

/* ---- pools ---- */

/* pool_room: there may be one pool more; the first beyond is reported, where it is. */
static bool pool_room(struct reader *r, const struct place *place, const struct doc *doc)
{
    if (r->pools.count < POOLS_MAX) {
        return true;
    }
    if (!r->pools_full) {
        r->pools_full = true;
        ERROR_KEY(r, place, doc, "more than %u node pools", POOLS_MAX)->hint = STR(
            "pools describe kinds of hardware, not teams: merge some");
    }
    return false;
}

/* queue_room: the same for departments and projects. */
static bool queue_room(struct reader *r, const struct place *place, const struct doc *doc)
{
    if (r->departments.count + r->projects.count < QUEUES_MAX) {
        return true;
    }
    if (!r->queues_full) {
        r->queues_full = true;
        ERROR_KEY(r, place, doc, "more than %u departments and projects", QUEUES_MAX)->hint = STR(
            "merge some");
    }
    return false;
}

static void pool_default_selector(struct pool *pool)
{
    if (!str_eq(pool->name, POOL_DEFAULT)) {
        pool->label_key = POOL_LABEL_KEY;
        pool->label_value = pool->name;
    }
}

/* read_usage reads true or false, or a map of settings, which alone means true. */
static void read_usage(struct reader *r, const struct place *at, const struct doc *value,
                       struct pool *pool)
{
    enum { FOUND_MAX = 8 };
    const struct doc *found[FOUND_MAX];
    struct place place = {.up = at, .key = STR("time_based_fair_share")};
    if (value->kind != DOC_MAP) {
        if (!form_parse(FORM_BOOL, value, &pool->time_based_fair_share, r->arena)) {
            wrong_value(r, &place, value, FORM_BOOL);
        }
        return;
    }
    read_keys(r, &place, value, &usage_keys, pool, found);
    if (!found[USAGE_ENABLED]) {
        pool->time_based_fair_share = true;
    }
}

static void read_pool(struct reader *r, const struct place *at, const struct doc *item)
{
    enum { NAME, SELECTOR, PLACEMENT, RECLAIM, PREEMPT, USAGE, FOUND_MAX = 8 };
    const struct doc *found[FOUND_MAX];
    struct pool pool = {0};
    read_keys(r, at, item, &pool_keys, &pool, found);
    if (name_taken(r, at, item, found[NAME], pool.name, &r->pool_lines, "node pool")) {
        return;
    }
    if (found[PLACEMENT]) {
        struct place place = {.up = at, .key = STR("placement")};
        const struct doc *inner[FOUND_MAX];
        read_keys(r, &place, found[PLACEMENT], &placement_keys, &pool, inner);
    }
    if (found[USAGE]) {
        read_usage(r, at, found[USAGE], &pool);
    }
    if (found[SELECTOR] && str_eq(pool.name, POOL_DEFAULT)) {
        struct place place = {.up = at, .key = STR("node_selector")};
        ERROR_KEY(r, &place, found[SELECTOR],
                  "the node pool \"default\" takes the nodes that no other pool selects")
            ->hint = STR("remove node_selector, or give the pool another name");
        pool.label_key = pool.label_value = STR("");
    }
    if (!found[SELECTOR]) {
        pool_default_selector(&pool);
    }
    if (pool_room(r, at, item)) {
        *ARRAY_PUSH(r->arena, &r->pools) = pool;
    }
}

static struct str nearest_pool(struct reader *r, struct str name)
{
    uint32_t count = r->problems->dropped > 0 ? 0 : r->pools.count;
    for (uint32_t i = 0; i < count && i < POOLS_MAX; i++) {
        const struct pool *pool = &r->pools.items[i];
        if (!pool->implied && str_nearest(name, &pool->name, 1) == 0) {
            return arena_printf(r->arena, "did you mean " STR_FMT "?", STR_ARG(pool->name));
        }
    }
    return STR("list it under node_pools");
}

static bool exists(const struct plan *base, struct str name)
{
    for (uint32_t i = 0; base != NULL && i < base->pools_count; i++) {
        if (str_eq(base->pools[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* pool_implied makes a pool that only quotas name. */
static void pool_implied(struct reader *r, const struct place *place, const struct doc *member)
{
    uint32_t line = 0;
    if (map_get(&r->pool_lines, member->key, &line) || !pool_room(r, place, member)) {
        return;
    }
    struct pool *pool = ARRAY_PUSH(r->arena, &r->pools);
    pool->name = arena_str(r->arena, member->key);
    pool->implied = true;
    map_put(&r->pool_lines, pool->name, member->key_line);
    pool_default_selector(pool);
    if (!str_eq(pool->name, POOL_DEFAULT) && !r->pools_wrong && !exists(r->base, pool->name)) {
        SAY_AT(r, place, member, true, SEVERITY_WARNING,
               "node pool \"" STR_FMT "\" is not listed in node_pools%s it is made of the nodes "
               "labelled " STR_FMT "=" STR_FMT,
               STR_ARG(pool->name),
               r->base != NULL ? " and does not exist:" : ": unless it exists already,",
               STR_ARG(pool->label_key), STR_ARG(pool->label_value))
            ->hint = nearest_pool(r, pool->name);
    }
}

/* ---- quotas ---- */

/* quota_settle brings one entry to normal form and reports what contradicts itself in the file and
 * is gone in normal form: what is written without effect while over-quota is off. */
static void quota_settle(struct reader *r, const struct place *at, struct quota *quota,
                         const struct doc **found)
{
    static const struct {
        uint32_t guarantee, max;
    } pairs[] = {
        {QUOTA_GPUS,   QUOTA_GPUS_MAX_KEY  },
        {QUOTA_CPUS,   QUOTA_CPUS_MAX_KEY  },
        {QUOTA_MEMORY, QUOTA_MEMORY_MAX_KEY},
    };
    if (quota->over_quota) {
        return;
    }
    if (found[QUOTA_WEIGHT]) {
        struct place place = {.up = at, .key = STR("over_quota_weight")};
        WARNING_AT(r, &place, found[QUOTA_WEIGHT],
                   "over-quota is off here: the weight has no effect")
            ->hint = STR("remove it, or set allow_over_quota: true");
        quota->weight_milli = quota_default.weight_milli;
    }
    for (uint32_t i = 0; i < COUNT_OF(pairs); i++) {
        const struct key *guarantee_key = &quota_keys.items[pairs[i].guarantee];
        const struct key *max_key = &quota_keys.items[pairs[i].max];
        const struct doc *max_doc = found[pairs[i].max];
        int64_t guarantee = *(const int64_t *)key_field(guarantee_key, quota);
        int64_t *max = (void *)((char *)quota + max_key->offset);
        if (guarantee == AMOUNT_UNLIMITED) {
            continue;
        }
        if (max_doc && (*max == AMOUNT_UNLIMITED || *max > guarantee)) {
            struct place place = {.up = at, .key = max_key->name};
            struct str max_text = form_format(max_key->form, max, r->arena);
            struct str text = form_format(guarantee_key->form, &guarantee, r->arena);
            WARNING_AT(r, &place, max_doc,
                       "over-quota is off here: the maximum is the guarantee of " STR_FMT
                       ", and " STR_FMT " is never reached",
                       STR_ARG(text), STR_ARG(max_text))
                ->hint = STR("remove it, or set allow_over_quota: true");
        }
        if (!max_doc || *max == AMOUNT_UNLIMITED || *max > guarantee) {
            *max = guarantee; // a maximum below stays, for plan_check
        }
    }
}

static void memory_suspect(struct reader *r, const struct place *at, const struct doc *value,
                           int64_t bytes)
{
    if (value && bytes > 0 && bytes < MEMORY_SUSPECT_BYTES) {
        struct place place = {.up = at, .key = value->key};
        WARNING_AT(r, &place, value, "this is %lld bytes", (long long)bytes)->hint =
            value->kind == DOC_NUMBER
                ? arena_printf(r->arena, "for gibibytes write " STR_FMT "Gi", STR_ARG(value->text))
                : STR("");
    }
}

static int quota_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct quota *)a)->pool, ((const struct quota *)b)->pool);
}

static void read_quota(struct reader *r, const struct place *place, const struct doc *member,
                       struct quota *quota)
{
    enum { FOUND_MAX = 16 };
    const struct doc *found[FOUND_MAX];
    *quota = quota_default;
    quota->pool = arena_str(r->arena, member->key);
    read_keys(r, place, member, &quota_keys, quota, found);
    quota_settle(r, place, quota, found);
    memory_suspect(r, place, found[QUOTA_MEMORY], quota->memory_bytes);
    memory_suspect(r, place, found[QUOTA_MEMORY_MAX_KEY], quota->memory_max_bytes);
}

static struct quota *read_quotas(struct reader *r, const struct place *up, const struct doc *map,
                                 uint32_t *count)
{
    struct place at = {.up = up, .key = STR("node_pool_quotas")};
    *count = 0;
    if (!map || !expect_kind(r, &at, map, DOC_MAP)) {
        return NULL;
    }
    struct map seen;
    map_init(&seen, r->arena);
    struct quota *quotas = ARENA_ARRAY(r->arena, struct quota, map->child_count);
    for (const struct doc *member = map->child; member; member = member->next) {
        struct place place = {.up = &at, .key = member->key};
        uint32_t first_line = 0;
        if (!name_ok(member->key, NAME_LEN_MAX)) {
            struct doc key = {.kind = DOC_STRING,
                              .text = member->key,
                              .line = member->key_line,
                              .col = member->key_col};
            wrong_value(r, &place, &key, FORM_NAME);
            continue;
        }
        if (map_get(&seen, member->key, &first_line)) {
            ERROR_KEY(r, &place, member, "node pool \"" STR_FMT "\" is here twice",
                      STR_ARG(member->key))
                ->hint = arena_printf(r->arena, "the first is on line %u; keep one", first_line);
            continue;
        }
        map_put(&seen, member->key, member->key_line);
        pool_implied(r, &place, member);
        read_quota(r, &place, member, &quotas[*count]);
        (*count)++;
    }
    sort_stable(quotas, *count, sizeof(*quotas), quota_order, NULL, r->arena);
    return quotas;
}

/* ---- departments and projects ---- */

static void read_rules(struct reader *r, const struct place *at, const struct doc *map,
                       struct scheduling_rules *rules)
{
    enum { FOUND_MAX = 8 };
    const struct doc *found[FOUND_MAX];
    struct place place = {.up = at, .key = STR("scheduling_rules")};
    if (map) {
        read_keys(r, &place, map, &rules_keys, rules, found);
    }
}

static void read_project(struct reader *r, const struct place *at, const struct doc *item,
                         struct str department)
{
    enum { NAME, GROUP, QUOTAS, RULES = 7, FOUND_MAX };
    const struct doc *found[FOUND_MAX];
    struct project project = {.department = department};
    read_keys(r, at, item, &project_keys, &project, found);
    project.quotas = read_quotas(r, at, found[QUOTAS], &project.quotas_count);
    read_rules(r, at, found[RULES], &project.rules);
    if (!name_taken(r, at, item, found[NAME], project.name, &r->project_lines, "project") &&
        queue_room(r, at, item)) {
        *ARRAY_PUSH(r->arena, &r->projects) = project;
    }
}

static void read_department(struct reader *r, const struct place *at, const struct doc *item)
{
    enum { NAME, PARENT, GROUP, QUOTAS, PROJECTS, RULES = 6, FOUND_MAX };
    const struct doc *found[FOUND_MAX];
    struct department department = {0};
    read_keys(r, at, item, &department_keys, &department, found);
    department.quotas = read_quotas(r, at, found[QUOTAS], &department.quotas_count);
    read_rules(r, at, found[RULES], &department.rules);
    struct str name = department.name;
    if (!name_taken(r, at, item, found[NAME], name, &r->department_lines, "department") &&
        queue_room(r, at, item)) {
        *ARRAY_PUSH(r->arena, &r->departments) = department;
    }
    struct place list = {.up = at, .key = STR("projects")};
    if (!found[PROJECTS] || !expect_kind(r, &list, found[PROJECTS], DOC_LIST)) {
        return;
    }
    uint32_t index = 0;
    for (const struct doc *each = found[PROJECTS]->child; each; each = each->next) {
        struct place place = {.up = &list, .index = index++};
        read_project(r, &place, each, name);
    }
}

/* ---- the whole file ---- */

static const struct key root_items[] = {
    {STRS("organization"), FORM_NESTED, 0},
    {STRS("node_pools"),   FORM_NESTED, 0},
};
static const struct keys root_keys = {root_items, COUNT_OF(root_items), NULL};
static const struct key organization_items[] = {
    {STRS("departments"), FORM_NESTED, 0}
};
static const struct keys organization_keys = {organization_items, COUNT_OF(organization_items),
                                              NULL};

typedef void read_item(struct reader *r, const struct place *at, const struct doc *item);

static void read_list(struct reader *r, const struct place *at, const struct doc *list,
                      read_item *read)
{
    if (!list || !expect_kind(r, at, list, DOC_LIST)) {
        return;
    }
    uint32_t index = 0;
    for (const struct doc *item = list->child; item; item = item->next) {
        struct place place = {.up = at, .index = index++};
        read(r, &place, item);
    }
}

void plan_from_doc(const struct doc *root, const struct plan *base, struct arena *arena,
                   struct plan *out, struct problems *problems)
{
    enum { ORGANIZATION, NODE_POOLS, FOUND_MAX };
    const struct doc *found[FOUND_MAX];
    const struct doc *departments = NULL;
    struct reader r = {.arena = arena, .problems = problems, .base = base};
    map_init(&r.pool_lines, arena);
    map_init(&r.department_lines, arena);
    map_init(&r.project_lines, arena);
    if (root->kind == DOC_NULL) {
        ERROR_AT(&r, NULL, root, "the file is empty")->hint = STR(
            "a plan begins with organization: or node_pools:");
    }
    read_keys(&r, NULL, root, &root_keys, NULL, found);
    struct place pools_place = {.key = STR("node_pools")};
    read_list(&r, &pools_place, found[NODE_POOLS], read_pool);
    r.pools_wrong = problems->error_count > 0;
    struct place organization_place = {.key = STR("organization")};
    if (found[ORGANIZATION]) {
        read_keys(&r, &organization_place, found[ORGANIZATION], &organization_keys, NULL,
                  &departments);
    }
    struct place departments_place = {.up = &organization_place, .key = STR("departments")};
    read_list(&r, &departments_place, departments, read_department);
    if (root->kind == DOC_MAP && problems->error_count == 0 &&
        r.pools.count + r.departments.count + r.projects.count == 0) {
        WARNING_AT(&r, NULL, root, "the plan holds nothing")->hint = STR(
            "list node_pools, or organization: with departments and their projects");
    }
    *out = (struct plan){
        .pools = r.pools.items,
        .departments = r.departments.items,
        .projects = r.projects.items,
        .pools_count = r.pools.count,
        .departments_count = r.departments.count,
        .projects_count = r.projects.count,
    };
    plan_sort(out, arena);
}
