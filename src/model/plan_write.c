// SPDX-License-Identifier: Apache-2.0
// plan_write: struct plan to its file form. The shortest text that reads back as the same plan:
// objects in order of name, keys in the order of their tables, defaults left out.
#include "model/plan.h"

#include "model/plan_form.h"

struct writer {
    struct buf *out;
    struct arena *arena;
    const uint32_t *first_project; /* [departments_count + 1]: into by_department */
    const uint32_t *by_department; /* project indexes, grouped */
};

static void indent(struct writer *w, uint32_t columns)
{
    buf_printf(w->out, "%*s", (int)columns, "");
}

/* is_plain: reads back as the same text without quotes: begins with a letter, holds nothing that
 * YAML gives a meaning, and is none of its words. */
static bool is_plain(struct str s)
{
    static const struct str words[] = {STRS("null"),  STRS("Null"),  STRS("NULL"),
                                       STRS("true"),  STRS("True"),  STRS("TRUE"),
                                       STRS("false"), STRS("False"), STRS("FALSE")};
    for (uint32_t i = 0; i < COUNT_OF(words); i++) {
        if (str_eq(s, words[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool other = (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';
        if (!letter && (i == 0 || !other)) {
            return false;
        }
    }
    return s.len > 0;
}

static void put_text(struct writer *w, struct str s)
{
    if (is_plain(s)) {
        buf_str(w->out, s);
        return;
    }
    buf_char(w->out, '"');
    for (uint32_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '"' || s.ptr[i] == '\\') {
            buf_char(w->out, '\\');
        }
        buf_char(w->out, s.ptr[i]);
    }
    buf_char(w->out, '"');
}

/* put_value writes one value; the line and the key are begun. */
static void put_value(struct writer *w, const struct key *key, const void *object)
{
    const void *field = key_field(key, object);
    if (key->form == FORM_SELECTOR) {
        const struct str *pair = field;
        buf_char(w->out, '{');
        put_text(w, pair[0]);
        buf_str(w->out, STR(": "));
        put_text(w, pair[1]);
        buf_char(w->out, '}');
        return;
    }
    if (key->form == FORM_POOL_ORDER || key->form == FORM_NODE_TYPES) {
        const struct order *order = field;
        for (uint32_t i = 0; i < order->count; i++) {
            buf_str(w->out, i > 0 ? STR(", ") : STR("["));
            put_text(w, order->items[i].value);
        }
        buf_char(w->out, ']');
        return;
    }
    struct str text = form_format(key->form, field, w->arena);
    if (key->form == FORM_GROUP || key->form == FORM_NAME || key->form == FORM_PROJECT_NAME ||
        key->form == FORM_TEXT || key->form == FORM_CRON) {
        put_text(w, text);
    } else {
        buf_str(w->out, text);
    }
}

static bool is_default(const struct key *key, const struct keys *keys, const void *object)
{
    return form_eq(key->form, key_field(key, object), key_field(key, keys->defaults));
}

/* put_keys writes the keys of object that are no defaults, one a line at columns; the first after
 * "- " when item. */
static void put_keys(struct writer *w, uint32_t columns, const struct keys *keys,
                     const void *object, bool item)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        const struct key *key = &keys->items[i];
        if (key->form == FORM_NESTED || is_default(key, keys, object)) {
            continue;
        }
        indent(w, item ? columns - 2 : columns);
        buf_printf(w->out, "%s" STR_FMT ": ", item ? "- " : "", STR_ARG(key->name));
        put_value(w, key, object);
        buf_char(w->out, '\n');
        item = false;
    }
}

/* quota_trim gives what has to be written: the maxima that over-quota off implies are left out. */
static struct quota quota_trim(const struct quota *quota)
{
    struct quota q = *quota;
    if (!q.over_quota) {
        if (q.gpu_max_share == q.gpu_share) {
            q.gpu_max_share = quota_default.gpu_max_share;
        }
        if (q.cpu_max_milli == q.cpu_milli) {
            q.cpu_max_milli = quota_default.cpu_max_milli;
        }
        if (q.memory_max_bytes == q.memory_bytes) {
            q.memory_max_bytes = quota_default.memory_max_bytes;
        }
    }
    return q;
}

static bool all_default(const struct keys *keys, const void *object)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (keys->items[i].form != FORM_NESTED && !is_default(&keys->items[i], keys, object)) {
            return false;
        }
    }
    return true;
}

static void put_quotas(struct writer *w, uint32_t columns, const struct quota *quotas,
                       uint32_t count)
{
    if (count == 0) {
        return;
    }
    indent(w, columns);
    buf_str(w->out, STR("node_pool_quotas:\n"));
    for (uint32_t i = 0; i < count; i++) {
        struct quota quota = quota_trim(&quotas[i]);
        indent(w, columns + 2);
        put_text(w, quota.pool);
        if (all_default(&quota_keys, &quota)) {
            buf_str(w->out, STR(": {}\n"));
            continue;
        }
        buf_str(w->out, STR(":\n"));
        put_keys(w, columns + 4, &quota_keys, &quota, false);
    }
}

/* put_usage: a word where that says it all; a map says whether it is on, since one that does not
 * means it is. */
static void put_usage(struct writer *w, const struct pool *pool)
{
    const struct keys settings = {usage_keys.items + 1, usage_keys.count - 1, usage_keys.defaults};
    bool any = !all_default(&settings, pool);
    const char *on = pool->time_based_fair_share ? "true" : "false";
    if (any) {
        buf_printf(w->out, "    time_based_fair_share:\n      enabled: %s\n", on);
        put_keys(w, 6, &settings, pool, false);
    } else if (pool->time_based_fair_share) {
        buf_printf(w->out, "    time_based_fair_share: %s\n", on);
    }
}

static void put_pools(struct writer *w, const struct plan *plan)
{
    bool first = true;
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        struct pool pool = plan->pools[i];
        if (pool.implied) {
            continue; // the quotas name it
        }
        if (first) {
            buf_str(w->out, STR("node_pools:\n"));
            first = false;
        }
        if (str_eq(pool.label_key, POOL_LABEL_KEY) && str_eq(pool.label_value, pool.name)) {
            pool.label_key = pool.label_value = STR(""); // what a pool without one selects
        }
        put_keys(w, 4, &pool_keys, &pool, true);
        if (!all_default(&placement_keys, &pool)) {
            buf_str(w->out, STR("    placement:\n"));
            put_keys(w, 6, &placement_keys, &pool, false);
        }
        put_usage(w, &pool);
    }
}

static void put_rules(struct writer *w, uint32_t columns, const struct scheduling_rules *rules)
{
    if (!all_default(&rules_keys, rules)) {
        indent(w, columns);
        buf_str(w->out, STR("scheduling_rules:\n"));
        put_keys(w, columns + 2, &rules_keys, rules, false);
    }
}

static void put_project(struct writer *w, const struct project *project)
{
    put_keys(w, 10, &project_keys, project, true);
    put_quotas(w, 10, project->quotas, project->quotas_count);
    put_rules(w, 10, &project->rules);
}

static void put_department(struct writer *w, const struct plan *plan, uint32_t ix)
{
    const struct department *department = &plan->departments[ix];
    put_keys(w, 6, &department_keys, department, true);
    put_quotas(w, 6, department->quotas, department->quotas_count);
    put_rules(w, 6, &department->rules);
    uint32_t end = w->first_project[ix + 1];
    for (uint32_t i = w->first_project[ix]; i < end; i++) {
        if (i == w->first_project[ix]) {
            buf_str(w->out, STR("      projects:\n"));
        }
        struct arena_mark mark = arena_mark(w->arena);
        put_project(w, &plan->projects[w->by_department[i]]);
        arena_rewind(w->arena, mark);
    }
}

/* department_find: departments are sorted by name; count when there is none. */
static uint32_t department_find(const struct plan *plan, struct str name)
{
    uint32_t first = 0;
    uint32_t count = plan->departments_count;
    while (count > 0) {
        uint32_t half = count / 2;
        int order = str_cmp(plan->departments[first + half].name, name);
        if (order == 0) {
            return first + half;
        }
        if (order < 0) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return plan->departments_count;
}

/* group_projects sorts project indexes by department, by counting; those of no department are left
 * out (a plan that holds them has not passed plan_check). */
static void group_projects(struct writer *w, const struct plan *plan)
{
    uint32_t *first = ARENA_ARRAY(w->arena, uint32_t, plan->departments_count + 2);
    uint32_t *grouped = ARENA_ARRAY(w->arena, uint32_t, plan->projects_count + 1);
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        first[department_find(plan, plan->projects[i].department) + 1]++;
    }
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        first[i + 1] += first[i];
    }
    uint32_t *next = ARENA_ARRAY(w->arena, uint32_t, plan->departments_count + 1);
    for (uint32_t i = 0; i <= plan->departments_count; i++) {
        next[i] = first[i];
    }
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        grouped[next[department_find(plan, plan->projects[i].department)]++] = i;
    }
    w->first_project = first;
    w->by_department = grouped;
}

void plan_to_yaml(const struct plan *plan, struct buf *out)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct writer w = {.out = out, .arena = &arena};
    group_projects(&w, plan);
    put_pools(&w, plan);
    buf_str(out, plan->departments_count > 0 ? STR("organization:\n  departments:\n")
                                             : STR("organization: {}\n"));
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        put_department(&w, plan, i);
    }
    arena_done(&arena);
}
