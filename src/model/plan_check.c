// SPDX-License-Identifier: Apache-2.0
// plan_check: contradictions between the parts of a plan that are each well formed. What makes the
// plan impossible is an error; what is possible but surely not meant, or depends on hardware that
// may change, is a warning.
//
// Sums go upwards once: each quota adds its guarantees to the (parent, pool) above it, kept in a
// table by a number key, so that the cost is that of the quotas, not departments times pools.
// Positions: the document is walked once and each object's value remembered by name. What may only
// follow from an error of form found before is not reported, nor is a warning about what the file
// does not speak of.
#include "model/plan.h"

#include "base/array.h"
#include "base/map.h"
#include "base/num.h"
#include "model/limits.h"
#include "model/plan_form.h"
#include "model/priority.h"
#include "model/units.h"

/* Guarantees of the children of a department in a pool; of all top departments: parent IX_NONE. */
struct sum {
    uint32_t parent, pool;
    int64_t v[3];
    const struct department *largest; /* by GPUs, of top departments, of those in the file if any */
    int64_t largest_gpu_share;
    bool largest_in_file;
};

/* Where an object stands in the file. */
struct stand {
    const struct doc *doc;
    struct str path;
};

struct check {
    const struct plan *plan;
    struct problems *problems;
    struct arena *arena;
    struct map pools, departments, projects; /* name to index in the plan */
    struct str *pool_names, *department_names;
    struct map wrong; /* errors of form found before, see note_wrong */
    bool is_name_wrong, is_pools_wrong;
    uint32_t *parents; /* [departments_count]: index, or NO_PARENT */
    struct stand *pool_at, *department_at, *project_at;
    ARRAY(struct sum) sums;
    struct map sum_ix;
    const struct pool_capacity **capacity; /* [pools_count], NULL where not known */
};

static const uint32_t NO_PARENT = UINT32_MAX;
enum { NEAREST_MAX = 64 }; /* a nearest name is looked for while there are few problems */

/* Whose quotas are looked at. */
struct owner {
    const struct stand *at;
    uint32_t parent; /* department index, or NO_PARENT */
};

static const struct {
    uint32_t guarantee, max; /* keys of quota_keys */
    const char *unit;
} resources[] = {
    {QUOTA_GPUS,   QUOTA_GPUS_MAX_KEY,   " GPUs"     },
    {QUOTA_CPUS,   QUOTA_CPUS_MAX_KEY,   " CPU cores"},
    {QUOTA_MEMORY, QUOTA_MEMORY_MAX_KEY, " of memory"},
};
enum { RESOURCES = COUNT_OF(resources) };

/* ---- positions ---- */

static void stand_set(struct stand *at, const struct doc *doc, struct str path)
{
    if (!at->doc) { // of two with the same name the first was read
        *at = (struct stand){doc, path};
    }
}

static void locate_projects(struct check *c, const struct doc *department, struct str path)
{
    const struct doc *list = doc_get(department, STR("projects"));
    uint32_t index = 0;
    for (const struct doc *item = list ? list->child : NULL; item; item = item->next, index++) {
        const struct doc *name = doc_get(item, STR("name"));
        uint32_t ix = 0;
        if (name && map_get(&c->projects, name->text, &ix)) {
            stand_set(&c->project_at[ix], item,
                      arena_printf(c->arena, STR_FMT ".projects[%u]", STR_ARG(path), index));
        }
    }
}

static void locate(struct check *c, const struct doc *root)
{
    const struct doc *pools = doc_get(root, STR("node_pools"));
    uint32_t index = 0;
    for (const struct doc *item = pools ? pools->child : NULL; item; item = item->next, index++) {
        const struct doc *name = doc_get(item, STR("name"));
        uint32_t ix = 0;
        if (name && map_get(&c->pools, name->text, &ix)) {
            stand_set(&c->pool_at[ix], item, arena_printf(c->arena, "node_pools[%u]", index));
        }
    }
    const struct doc *list = doc_get(doc_get(root, STR("organization")), STR("departments"));
    index = 0;
    for (const struct doc *item = list ? list->child : NULL; item; item = item->next, index++) {
        const struct doc *name = doc_get(item, STR("name"));
        struct str path = arena_printf(c->arena, "organization.departments[%u]", index);
        uint32_t ix = 0;
        if (name && map_get(&c->departments, name->text, &ix)) {
            stand_set(&c->department_at[ix], item, path);
        }
        locate_projects(c, item, path);
    }
}

/* name_stands names what the file does not hold, as when a plan is checked without one. */
static void name_stands(struct check *c)
{
    for (uint32_t i = 0; i < c->plan->pools_count; i++) {
        if (!c->pool_at[i].doc) {
            c->pool_at[i].path = arena_printf(c->arena, "node pool " STR_FMT,
                                              STR_ARG(c->plan->pools[i].name));
        }
    }
    for (uint32_t i = 0; i < c->plan->departments_count; i++) {
        if (!c->department_at[i].doc) {
            c->department_at[i].path = arena_printf(c->arena, "department " STR_FMT,
                                                    STR_ARG(c->plan->departments[i].name));
        }
    }
    for (uint32_t i = 0; i < c->plan->projects_count; i++) {
        if (!c->project_at[i].doc) {
            c->project_at[i].path = arena_printf(c->arena, "project " STR_FMT,
                                                 STR_ARG(c->plan->projects[i].name));
        }
    }
}

/* place_problem points p at the value of at.pool.key, or at the nearest thing above it that is in
 * the file. pool and key may be empty. */
static void place_problem(struct check *c, struct problem *p, const struct stand *at,
                          struct str pool, struct str key)
{
    const struct doc *doc = at->doc;
    struct str path = at->path;
    if (pool.len > 0) {
        const struct doc *quota = doc_get(doc_get(doc, STR("node_pool_quotas")), pool);
        doc = quota ? quota : doc;
        path = arena_printf(c->arena, STR_FMT ".node_pool_quotas." STR_FMT, STR_ARG(path),
                            STR_ARG(pool));
    }
    const struct doc *value = key.len > 0 ? doc_get(doc, key) : NULL;
    if (key.len > 0) {
        path = arena_printf(c->arena, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(key));
    }
    p->field = path;
    if (value) {
        p->line = value->line;
        p->col = value->col;
    } else if (doc) {
        p->line = doc->key_line > 0 ? doc->key_line : doc->line;
        p->col = doc->key_line > 0 ? doc->key_col : doc->col;
    }
}

/* part_find returns where part begins in text, or text.len. */
static uint32_t part_find(struct str text, struct str part)
{
    for (uint32_t i = 0; i + part.len <= text.len; i++) {
        if (str_eq(str_sub(text, i, part.len), part)) {
            return i;
        }
    }
    return text.len;
}

/* object_of gives the part of a path up to its last list item: the object it is in. */
static struct str object_of(struct str path)
{
    while (path.len > 0 && path.ptr[path.len - 1] != ']') {
        path.len--;
    }
    return path;
}

static struct str wrong_key(struct check *c, struct str object, struct str pool)
{
    return arena_printf(c->arena, STR_FMT " " STR_FMT, STR_ARG(object), STR_ARG(pool));
}

/* note_wrong remembers what errors of form were found before in: quotas, by object and pool; whole
 * objects, whose list of quotas may be there under a misspelt key; names; the list of pools. */
static void note_wrong(struct check *c)
{
    struct str quotas = STR(".node_pool_quotas");
    for (uint32_t i = 0; i < c->problems->count; i++) {
        const struct problem *p = &c->problems->items[i];
        uint32_t at = part_find(p->field, quotas);
        if (p->severity != SEVERITY_ERROR) {
            continue;
        }
        struct str object = object_of(str_sub(p->field, 0, at));
        c->is_name_wrong = c->is_name_wrong || str_ends(p->field, STR(".name"));
        c->is_pools_wrong = c->is_pools_wrong || str_find(p->field, '.') == p->field.len ||
                            (str_starts(p->field, STR("node_pools[")) &&
                             str_ends(p->field, STR(".name")));
        if (at + quotas.len < p->field.len) {
            struct str pool = str_sub(p->field, at + quotas.len + 1, p->field.len);
            map_put(&c->wrong, wrong_key(c, object, str_sub(pool, 0, str_find(pool, '.'))), 1);
        } else if (at < p->field.len || str_starts(p->text, STR("unknown key"))) {
            map_put(&c->wrong, wrong_key(c, object, STR("")), 1);
        }
    }
}

/* is_quota_wrong: a contradiction in this quota may only follow from an error of form. */
static bool is_quota_wrong(struct check *c, const struct stand *at, struct str pool)
{
    uint32_t one;
    bool listed = doc_get(doc_get(at->doc, STR("node_pool_quotas")), pool) != NULL;
    return map_get(&c->wrong, wrong_key(c, at->path, pool), &one) ||
           (!listed && map_get(&c->wrong, wrong_key(c, at->path, STR("")), &one));
}

/* ---- form ---- */

/* check_values: a plan that was no file (a request, the journal) may hold what no file can say. */
static void check_values(struct check *c, const struct stand *at, struct str pool,
                         const struct keys *keys, const void *object)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        const struct key *key = &keys->items[i];
        const void *field = key_field(key, object);
        if (key->form == FORM_NESTED || form_holds(key->form, field) ||
            (i > 0 && form_eq(key->form, field, key_field(key, keys->defaults)))) {
            continue; // key 0 is the name, which has no default, or a number, which holds
        }
        struct problem *p = problems_add(c->problems, SEVERITY_ERROR, "expected %s",
                                         form_accepts(key->form));
        place_problem(c, p, at, pool, key->name);
        p->hint = form_hint(key->form, &(struct doc){.kind = DOC_NULL}, c->arena);
    }
}

static void check_ascending(struct check *c, const struct stand *at, struct str before,
                            struct str name, const char *what)
{
    if (str_cmp(before, name) >= 0) {
        struct problem *p = problems_add(c->problems, SEVERITY_ERROR,
                                         "%s \"" STR_FMT "\" is here twice or out of order", what,
                                         STR_ARG(name));
        place_problem(c, p, at, STR(""), STR("name"));
        p->hint = STR("list each once, sorted by name");
    }
}

static void check_quota_values(struct check *c, const struct stand *at, const struct quota *quotas,
                               uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        check_values(c, at, quotas[i].pool, &quota_keys, &quotas[i]);
        if (i > 0) {
            check_ascending(c, at, quotas[i - 1].pool, quotas[i].pool, "node pool");
        }
    }
}

static struct stand usage_stand(struct check *c, const struct stand *pool)
{
    const struct doc *doc = doc_get(pool->doc, STR("time_based_fair_share"));
    return (struct stand){
        doc ? doc : pool->doc,
        arena_printf(c->arena, STR_FMT ".time_based_fair_share", STR_ARG(pool->path))};
}

static struct stand rules_stand(struct check *c, const struct stand *at)
{
    const struct doc *doc = doc_get(at->doc, STR("scheduling_rules"));
    return (struct stand){doc ? doc : at->doc,
                          arena_printf(c->arena, STR_FMT ".scheduling_rules", STR_ARG(at->path))};
}

static void check_form(struct check *c)
{
    const struct plan *plan = c->plan;
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        const struct pool *pool = &plan->pools[i];
        check_values(c, &c->pool_at[i], STR(""), &pool_keys, pool);
        check_values(c, &c->pool_at[i], STR(""), &placement_keys, pool);
        struct stand usage_at = usage_stand(c, &c->pool_at[i]);
        check_values(c, &usage_at, STR(""), &usage_keys, pool);
        if (i > 0) {
            check_ascending(c, &c->pool_at[i], pool[-1].name, pool->name, "node pool");
        }
    }
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        const struct department *d = &plan->departments[i];
        check_values(c, &c->department_at[i], STR(""), &department_keys, d);
        check_quota_values(c, &c->department_at[i], d->quotas, d->quotas_count);
        struct stand rules_at = rules_stand(c, &c->department_at[i]);
        check_values(c, &rules_at, STR(""), &rules_keys, &d->rules);
        if (i > 0) {
            check_ascending(c, &c->department_at[i], d[-1].name, d->name, "department");
        }
    }
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        const struct project *p = &plan->projects[i];
        check_values(c, &c->project_at[i], STR(""), &project_keys, p);
        check_quota_values(c, &c->project_at[i], p->quotas, p->quotas_count);
        struct stand rules_at = rules_stand(c, &c->project_at[i]);
        check_values(c, &rules_at, STR(""), &rules_keys, &p->rules);
        if (i > 0) {
            check_ascending(c, &c->project_at[i], p[-1].name, p->name, "project");
        }
    }
}

/* ---- names and the tree ---- */

static struct str *names_of_pools(const struct plan *plan, struct arena *arena)
{
    struct str *names = ARENA_ARRAY(arena, struct str, plan->pools_count);
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        names[i] = plan->pools[i].name;
    }
    return names;
}

static struct str *names_of_departments(const struct plan *plan, struct arena *arena)
{
    struct str *names = ARENA_ARRAY(arena, struct str, plan->departments_count);
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        names[i] = plan->departments[i].name;
    }
    return names;
}

static struct str nearest_hint(struct check *c, struct str name, const struct str *names,
                               uint32_t count, const char *otherwise)
{
    if (c->problems->count > NEAREST_MAX) {
        return str_from_c(otherwise);
    }
    uint32_t near = str_nearest(name, names, count);
    return near < count ? arena_printf(c->arena, "did you mean " STR_FMT "?", STR_ARG(names[near]))
                        : str_from_c(otherwise);
}

static void unknown_department(struct check *c, const struct stand *at, struct str name,
                               struct str key)
{
    if (c->is_name_wrong) {
        return;
    }
    struct problem *p = problems_add(c->problems, SEVERITY_ERROR,
                                     "there is no department \"" STR_FMT "\"", STR_ARG(name));
    place_problem(c, p, at, STR(""), key);
    p->hint = nearest_hint(c, name, c->department_names, c->plan->departments_count,
                           "add it to organization.departments");
}

static void check_references(struct check *c)
{
    const struct plan *plan = c->plan;
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        struct str parent = plan->departments[i].parent;
        c->parents[i] = NO_PARENT;
        if (parent.len > 0 && !map_get(&c->departments, parent, &c->parents[i])) {
            unknown_department(c, &c->department_at[i], parent, STR("parent"));
        }
    }
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        uint32_t ix = 0;
        if (!map_get(&c->departments, plan->projects[i].department, &ix)) {
            unknown_department(c, &c->project_at[i], plan->projects[i].department, STR(""));
        }
    }
}

static void report_cycle(struct check *c, uint32_t first)
{
    enum { SHOWN_MAX = 8 };
    struct str text = c->department_names[first];
    uint32_t shown = 0;
    for (uint32_t d = c->parents[first]; d != first; d = c->parents[d]) {
        if (++shown < SHOWN_MAX) {
            text = arena_printf(c->arena, STR_FMT ", under " STR_FMT, STR_ARG(text),
                                STR_ARG(c->department_names[d]));
        }
    }
    text = arena_printf(c->arena, STR_FMT "%s, under " STR_FMT, STR_ARG(text),
                        shown >= SHOWN_MAX ? ", …" : "", STR_ARG(c->department_names[first]));
    struct problem *p = problems_add(c->problems, SEVERITY_ERROR,
                                     "departments go in a circle: " STR_FMT, STR_ARG(text));
    place_problem(c, p, &c->department_at[first], STR(""), STR("parent"));
    p->hint = STR("remove parent from one of them");
}

/* check_tree finds circles and too deep nesting by walking up from each department to one whose
 * depth is known, and giving the depths on the way back. */
static void check_tree(struct check *c)
{
    uint32_t count = c->plan->departments_count;
    uint32_t *depth = ARENA_ARRAY(c->arena, uint32_t, count);  // 0: not known
    uint32_t *walked = ARENA_ARRAY(c->arena, uint32_t, count); // by which walk, from 1
    uint32_t *stack = ARENA_ARRAY(c->arena, uint32_t, count);
    bool sound = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t above = 0;
        uint32_t stacked = 0;
        for (uint32_t d = i; d != NO_PARENT; d = c->parents[d]) {
            if (depth[d] > 0) {
                above = depth[d];
                break;
            }
            if (walked[d] == i + 1) {
                report_cycle(c, d);
                sound = false;
                break;
            }
            walked[d] = i + 1;
            stack[stacked++] = d;
        }
        while (stacked > 0) {
            depth[stack[--stacked]] = ++above;
        }
        if (sound && depth[i] == QUEUE_DEPTH_MAX) { // a project below makes one more
            struct problem *p = problems_add(
                c->problems, SEVERITY_ERROR,
                "departments are nested at most %u deep, this is one deeper", QUEUE_DEPTH_MAX - 1);
            place_problem(c, p, &c->department_at[i], STR(""), STR("parent"));
            p->hint = STR("put it under a department further up");
        }
    }
}

/* ---- pools ---- */

/* check_window: what is said of the window must be of its type, and all of it. */
static void check_window(struct check *c, const struct stand *pool_at, const struct pool *pool)
{
    struct stand at = usage_stand(c, pool_at);
    for (uint32_t i = 0; i < c->problems->count; i++) {
        if (str_starts(c->problems->items[i].field, at.path)) {
            return; // what is wrong here may only follow from that
        }
    }
    enum usage_window type = pool->usage_window;
    const struct {
        uint32_t key;
        bool wrong;
        const char *text, *hint;
    } rows[] = {
        {USAGE_TYPE,     type == USAGE_TUMBLING && pool->usage_start_ms == 0,
         "a tumbling window needs start, a moment at which one begins",       "add start, for example 2026-01-05T00:00:00Z"},
        {USAGE_START,    type != USAGE_TUMBLING && pool->usage_start_ms != 0,
         "start is for tumbling windows only",                                "remove it, or set window_type: tumbling"    },
        {USAGE_TYPE,     type == USAGE_CRON && pool->usage_cron.len == 0,
         "a window of type cron needs cron, the moments at which one begins", "add cron, for example \"0 0 * * mon\""      },
        {USAGE_CRON_KEY, type != USAGE_CRON && pool->usage_cron.len > 0,
         "cron is for windows of that type only",                             "remove it, or set window_type: cron"        },
        {USAGE_LENGTH,   type == USAGE_CRON && pool->usage_window_ms != 0,
         "a window of type cron lasts from one moment to the next",           "remove window"                              },
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].wrong) {
            struct problem *p = problems_add(c->problems, SEVERITY_ERROR, "%s", rows[i].text);
            place_problem(c, p, &at, STR(""), usage_keys.items[rows[i].key].name);
            p->hint = str_from_c(rows[i].hint);
        }
    }
}

static void check_pools(struct check *c)
{
    struct map selectors;
    map_init(&selectors, c->arena);
    for (uint32_t i = 0; i < c->plan->pools_count; i++) {
        const struct pool *pool = &c->plan->pools[i];
        struct str selector = form_format(FORM_SELECTOR, &pool->label_key, c->arena);
        uint32_t other = 0;
        if (pool->label_key.len > 0 && map_get(&selectors, selector, &other)) {
            struct problem *p = problems_add(
                c->problems, SEVERITY_ERROR,
                "node pools \"" STR_FMT "\" and \"" STR_FMT "\" select the same nodes, " STR_FMT,
                STR_ARG(c->plan->pools[other].name), STR_ARG(pool->name), STR_ARG(selector));
            place_problem(c, p, &c->pool_at[i], STR(""), STR("node_selector"));
            p->hint = STR("a node is in one pool: give one of them another label");
        }
        map_put(&selectors, selector, i);
        check_window(c, &c->pool_at[i], pool);
    }
}

static void unknown_pool(struct check *c, const struct stand *at, struct str pool, struct str key)
{
    if (c->is_pools_wrong) {
        return;
    }
    struct problem *p = problems_add(c->problems, SEVERITY_ERROR,
                                     "there is no node pool \"" STR_FMT "\"", STR_ARG(pool));
    place_problem(c, p, at, STR(""), key);
    p->hint = nearest_hint(c, pool, c->pool_names, c->plan->pools_count, "add it to node_pools");
}

/* ---- quotas ---- */

static struct sum *sum_of(struct check *c, uint32_t parent, uint32_t pool)
{
    uint64_t key = ((uint64_t)parent << 32) | pool;
    uint32_t ix = 0;
    if (!map_get_u64(&c->sum_ix, key, &ix)) {
        ix = c->sums.count;
        *ARRAY_PUSH(c->arena, &c->sums) = (struct sum){.parent = parent, .pool = pool};
        map_put_u64(&c->sum_ix, key, ix);
    }
    return &c->sums.items[ix];
}

static int64_t amount(const struct quota *quota, uint32_t key)
{
    const int64_t *field = key_field(&quota_keys.items[key], quota);
    return *field;
}

static struct str amount_text(struct check *c, int64_t value, uint32_t resource)
{
    const struct key *key = &quota_keys.items[resources[resource].guarantee];
    struct str text = form_format(key->form, &value, c->arena);
    bool is_one = resource == 0 && value == DEVICE_SHARE;
    return arena_printf(c->arena, STR_FMT "%s", STR_ARG(text),
                        is_one ? " GPU" : resources[resource].unit);
}

/* max_above gives the least maximum of the departments above, and whose it is. */
static int64_t max_above(struct check *c, uint32_t parent, struct str pool, uint32_t max_key,
                         struct str *whose)
{
    int64_t least = AMOUNT_UNLIMITED;
    uint32_t steps = 0;
    for (; parent != NO_PARENT && steps < QUEUE_DEPTH_MAX; parent = c->parents[parent], steps++) {
        const struct department *d = &c->plan->departments[parent];
        struct quota quota = plan_quota(d->quotas, d->quotas_count, pool);
        int64_t max = amount(&quota, max_key);
        if (max != AMOUNT_UNLIMITED && (least == AMOUNT_UNLIMITED || max < least)) {
            least = max;
            *whose = d->name;
        }
    }
    return least;
}

static void check_max(struct check *c, const struct owner *owner, const struct quota *quota,
                      uint32_t pool_ix, uint32_t resource)
{
    struct str key = quota_keys.items[resources[resource].max].name;
    int64_t guarantee = amount(quota, resources[resource].guarantee);
    int64_t max = amount(quota, resources[resource].max);
    if (max == AMOUNT_UNLIMITED || is_quota_wrong(c, owner->at, quota->pool)) {
        return;
    }
    if (guarantee != AMOUNT_UNLIMITED && max < guarantee) {
        struct str low = amount_text(c, max, resource);
        struct str high = amount_text(c, guarantee, resource);
        struct problem *p = problems_add(c->problems, SEVERITY_ERROR,
                                         "the maximum of " STR_FMT
                                         " is below the guarantee of " STR_FMT,
                                         STR_ARG(low), STR_ARG(high));
        place_problem(c, p, owner->at, quota->pool, key);
        p->hint = STR("raise the maximum or lower the guarantee");
        return;
    }
    if (!quota->over_quota) {
        return; // then it is the guarantee, which is compared with the parent's
    }
    struct str whose = STR("");
    int64_t above = max_above(c, owner->parent, quota->pool, resources[resource].max, &whose);
    const struct pool_capacity *capacity = resource == 0 ? c->capacity[pool_ix] : NULL;
    struct str reached = amount_text(c, max, resource);
    struct problem *p = NULL;
    if (above != AMOUNT_UNLIMITED && max > above) {
        struct str bound = amount_text(c, above, resource);
        p = problems_add(c->problems, SEVERITY_WARNING,
                         "the maximum of " STR_FMT " is never reached: department \"" STR_FMT
                         "\" has a maximum of " STR_FMT,
                         STR_ARG(reached), STR_ARG(whose), STR_ARG(bound));
    } else if (capacity && capacity->gpu_share > 0 && max > capacity->gpu_share) {
        struct str bound = amount_text(c, capacity->gpu_share, resource);
        p = problems_add(c->problems, SEVERITY_WARNING,
                         "the maximum of " STR_FMT " is never reached: node pool \"" STR_FMT
                         "\" has " STR_FMT,
                         STR_ARG(reached), STR_ARG(quota->pool), STR_ARG(bound));
    }
    if (p) {
        place_problem(c, p, owner->at, quota->pool, key);
        p->hint = STR("lower it, or write unlimited");
    }
}

static void check_quotas(struct check *c, const struct owner *owner, const struct quota *quotas,
                         uint32_t count, const struct department *department)
{
    for (uint32_t q = 0; q < count; q++) {
        const struct quota *quota = &quotas[q];
        uint32_t pool_ix = 0;
        if (!map_get(&c->pools, quota->pool, &pool_ix)) {
            unknown_pool(c, owner->at, quota->pool, STR("node_pool_quotas"));
            continue;
        }
        struct sum *sum = sum_of(c, owner->parent, pool_ix);
        for (uint32_t i = 0; i < RESOURCES; i++) {
            int64_t guarantee = amount(quota, resources[i].guarantee);
            if (guarantee != AMOUNT_UNLIMITED) {
                sum->v[i] = num_sat_add_i64(sum->v[i], guarantee);
            }
            check_max(c, owner, quota, pool_ix, i);
        }
        bool in_file = owner->at->doc != NULL;
        bool larger = in_file == sum->largest_in_file && quota->gpu_share > sum->largest_gpu_share;
        if (department && quota->gpu_share > 0 && (larger || in_file > sum->largest_in_file)) {
            sum->largest = department;
            sum->largest_gpu_share = quota->gpu_share;
            sum->largest_in_file = in_file;
        }
    }
}

/* check_children: what the children are guaranteed together must fit the guarantee above them. */
static void check_children(struct check *c, const struct sum *sum)
{
    const struct department *d = &c->plan->departments[sum->parent];
    const struct stand *at = &c->department_at[sum->parent];
    struct str pool = c->plan->pools[sum->pool].name;
    struct quota quota = plan_quota(d->quotas, d->quotas_count, pool);
    for (uint32_t i = 0; i < RESOURCES; i++) {
        int64_t guarantee = amount(&quota, resources[i].guarantee);
        if (guarantee == AMOUNT_UNLIMITED || sum->v[i] <= guarantee ||
            is_quota_wrong(c, at, pool)) {
            continue;
        }
        struct str below = amount_text(c, sum->v[i], i);
        struct str own = amount_text(c, guarantee, i);
        struct problem *p = problems_add(
            c->problems, SEVERITY_ERROR,
            "department \"" STR_FMT "\" is guaranteed " STR_FMT " in node pool \"" STR_FMT
            "\", but what is below it is guaranteed " STR_FMT " together",
            STR_ARG(d->name), STR_ARG(own), STR_ARG(pool), STR_ARG(below));
        place_problem(c, p, at, pool, quota_keys.items[resources[i].guarantee].name);
        p->hint = arena_printf(c->arena, "raise this to " STR_FMT " or lower those below",
                               STR_ARG(below));
    }
}

/* check_hardware: what is guaranteed in a pool must be there, also when a node breaks. */
static void check_hardware(struct check *c, const struct sum *sum)
{
    const struct pool_capacity *capacity = c->capacity[sum->pool];
    if (!capacity || !sum->largest) {
        return;
    }
    int64_t without = capacity->gpu_share - capacity->largest_node_gpu_share;
    bool lost = sum->v[0] <= capacity->gpu_share;
    int64_t there = lost ? without : capacity->gpu_share;
    if (sum->v[0] <= there) {
        return;
    }
    uint32_t ix = 0;
    struct str pool = c->plan->pools[sum->pool].name;
    struct str guaranteed = amount_text(c, sum->v[0], 0);
    struct str has = amount_text(c, there, 0);
    struct problem *p = problems_add(c->problems, SEVERITY_WARNING,
                                     "departments are guaranteed " STR_FMT
                                     " together in node pool \"" STR_FMT "\", which has " STR_FMT
                                     "%s",
                                     STR_ARG(guaranteed), STR_ARG(pool), STR_ARG(has),
                                     lost ? " once its largest node is lost" : "");
    if (!sum->largest_in_file && c->pool_at[sum->pool].doc) {
        place_problem(c, p, &c->pool_at[sum->pool], STR(""), STR(""));
    } else if (map_get(&c->departments, sum->largest->name, &ix)) {
        place_problem(c, p, &c->department_at[ix], pool, quota_keys.items[QUOTA_GPUS].name);
    }
    p->hint = lost ? STR("then guaranteed work may wait; lower guarantees to be safe from that")
                   : STR("guaranteed work will wait: lower guarantees or add nodes");
}

/* ---- projects ---- */

static void check_defaults(struct check *c, const struct project *project, const struct stand *at)
{
    for (uint32_t i = 0; i < project->default_pools_count; i++) {
        uint32_t ix = 0;
        struct str pool = project->default_pools[i].value;
        if (!map_get(&c->pools, pool, &ix) && !str_eq(pool, POOL_DEFAULT)) {
            unknown_pool(c, at, pool, STR("default_node_pools"));
        }
    }
    if (project->default_preemptibility == PREEMPTIBLE &&
        project->default_priority >= PRIORITY_NON_PREEMPTIBLE_MIN) {
        struct str priority = form_format(FORM_PRIORITY, &project->default_priority, c->arena);
        struct problem *p = problems_add(
            c->problems, SEVERITY_WARNING,
            "the priority " STR_FMT " is for production, but work here is preemptible by default: "
            "it can be stopped for others",
            STR_ARG(priority));
        place_problem(c, p, at, STR(""), STR("default_priority"));
        p->hint = STR("set default_preemptibility: non-preemptible, or a priority below high");
    }
}

/* ---- scheduling rules ---- */

static int64_t limit_of(const struct scheduling_rules *rules, uint32_t key)
{
    return *(const int64_t *)key_field(&rules_keys.items[key], rules);
}

/* What ends after less time than it may idle is never stopped for that. */
static void check_idle(struct check *c, const struct stand *at,
                       const struct scheduling_rules *rules)
{
    static const struct {
        uint32_t idle, run;
    } pairs[] = {
        {RULES_TRAINING_IDLE,              RULES_TRAINING_RUN },
        {RULES_WORKSPACE_IDLE,             RULES_WORKSPACE_RUN},
        {RULES_WORKSPACE_PREEMPTIBLE_IDLE, RULES_WORKSPACE_RUN},
    };
    for (uint32_t i = 0; i < COUNT_OF(pairs); i++) {
        int64_t run = limit_of(rules, pairs[i].run);
        const struct key *key = &rules_keys.items[pairs[i].idle];
        if (run > 0 && limit_of(rules, pairs[i].idle) >= run) {
            struct stand rules_at = rules_stand(c, at);
            struct str most = form_format(FORM_LIMIT, &run, c->arena);
            struct problem *p = problems_add(c->problems, SEVERITY_ERROR,
                                             "work is stopped after running for " STR_FMT
                                             ", so a limit on idle devices must be shorter",
                                             STR_ARG(most));
            place_problem(c, p, &rules_at, STR(""), key->name);
            p->hint = arena_printf(c->arena, "choose less than " STR_FMT ", or leave it out",
                                   STR_ARG(most));
        }
    }
}

/* Rules of a department hold below it, so that a looser one there has no effect. */
static void check_looser(struct check *c, const struct owner *owner,
                         const struct scheduling_rules *rules)
{
    uint32_t above = owner->parent;
    for (uint32_t depth = 0; above != NO_PARENT && depth < QUEUE_DEPTH_MAX; depth++) {
        const struct department *d = &c->plan->departments[above];
        for (uint32_t k = RULES_TRAINING_RUN; k <= RULES_WORKSPACE_PREEMPTIBLE_IDLE; k++) {
            int64_t theirs = limit_of(&d->rules, k);
            if (theirs == 0 || limit_of(rules, k) <= theirs) {
                continue;
            }
            struct stand rules_at = rules_stand(c, owner->at);
            struct str most = form_format(FORM_LIMIT, &theirs, c->arena);
            struct problem *p = problems_add(c->problems, SEVERITY_WARNING,
                                             "department \"" STR_FMT "\" limits this to " STR_FMT
                                             ", which counts here too",
                                             STR_ARG(d->name), STR_ARG(most));
            place_problem(c, p, &rules_at, STR(""), rules_keys.items[k].name);
            p->hint = STR("a rule can only be tighter than those above: lower it or leave it out");
        }
        above = c->parents[above];
    }
}

/* ---- all of it ---- */

static void check_init(struct check *c, const struct pool_capacity *capacity,
                       uint32_t capacity_count)
{
    const struct plan *plan = c->plan;
    map_init(&c->pools, c->arena);
    map_init(&c->departments, c->arena);
    map_init(&c->projects, c->arena);
    map_init(&c->sum_ix, c->arena);
    map_init(&c->wrong, c->arena);
    c->pool_names = names_of_pools(plan, c->arena);
    c->department_names = names_of_departments(plan, c->arena);
    c->parents = ARENA_ARRAY(c->arena, uint32_t, plan->departments_count);
    c->pool_at = ARENA_ARRAY(c->arena, struct stand, plan->pools_count);
    c->department_at = ARENA_ARRAY(c->arena, struct stand, plan->departments_count);
    c->project_at = ARENA_ARRAY(c->arena, struct stand, plan->projects_count);
    c->capacity = (const struct pool_capacity **)arena_alloc(
        c->arena, sizeof(*c->capacity) * (size_t)plan->pools_count);
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        map_put(&c->pools, plan->pools[i].name, i);
    }
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        map_put(&c->departments, plan->departments[i].name, i);
    }
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        map_put(&c->projects, plan->projects[i].name, i);
    }
    for (uint32_t i = 0; i < capacity_count; i++) {
        uint32_t ix = 0;
        if (map_get(&c->pools, capacity[i].pool, &ix)) {
            c->capacity[ix] = &capacity[i];
        }
    }
}

/* drop_elsewhere removes the warnings about what the file does not speak of, those from `from` on that
 * have no position. */
static void drop_elsewhere(struct problems *problems, uint32_t from)
{
    uint32_t kept = from;
    for (uint32_t i = from; i < problems->count; i++) {
        const struct problem *p = &problems->items[i];
        if (p->severity == SEVERITY_ERROR || p->line > 0) {
            problems->items[kept++] = *p;
        }
    }
    problems->count = kept;
}

void plan_check(const struct plan *plan, const struct doc *root,
                const struct pool_capacity *capacity, uint32_t capacity_count,
                struct problems *problems)
{
    struct check c = {
        .plan = plan,
        .problems = problems,
        .arena = problems->arena,
    };
    uint32_t before = problems->count;
    check_init(&c, capacity, capacity_count);
    locate(&c, root);
    name_stands(&c);
    note_wrong(&c);
    check_form(&c);
    check_references(&c);
    check_pools(&c);
    check_tree(&c);
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        const struct department *d = &plan->departments[i];
        struct owner owner = {&c.department_at[i], c.parents[i]};
        check_quotas(&c, &owner, d->quotas, d->quotas_count, c.parents[i] == NO_PARENT ? d : NULL);
        check_idle(&c, owner.at, &d->rules);
        check_looser(&c, &owner, &d->rules);
    }
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        const struct project *p = &plan->projects[i];
        struct owner owner = {&c.project_at[i], NO_PARENT};
        if (map_get(&c.departments, p->department, &owner.parent)) {
            check_quotas(&c, &owner, p->quotas, p->quotas_count, NULL);
            check_looser(&c, &owner, &p->rules);
        }
        check_idle(&c, owner.at, &p->rules);
        check_defaults(&c, p, &c.project_at[i]);
    }
    for (uint32_t i = 0; i < c.sums.count; i++) {
        if (c.sums.items[i].parent == NO_PARENT) {
            check_hardware(&c, &c.sums.items[i]);
        } else {
            check_children(&c, &c.sums.items[i]);
        }
    }
    if (root) {
        drop_elsewhere(problems, before);
    }
}
