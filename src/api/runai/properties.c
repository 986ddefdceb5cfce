// SPDX-License-Identifier: Apache-2.0
// Categories and priorities of workloads: fixed ones.

#include <string.h>

#include "api/runai/properties.h"
#include "base/hash.h"
#include "model/priority.h"

struct uuid property_id(const char *what, struct str name)
{
    uint8_t bytes[16];
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t h = hash_bytes(name.ptr, name.len, hash_bytes(what, strlen(what), i));
        memcpy(bytes + 8 * i, &h, sizeof h);
    }
    return uuid_from_random(bytes);
}

/* ---- categories ---- */

static const struct {
    struct str name, description;
} categories[CATEGORY_COUNT] = {
    [CATEGORY_BUILD] = {STRS("Build"),
                        STRS("Interactive work: non-preemptible and of high priority by default")},
    [CATEGORY_TRAIN] = {STRS("Train"),
                        STRS("Work that ends: preemptible and of low priority by default")       },
    [CATEGORY_DEPLOY] = {STRS("Deploy"),
                        STRS("Services: non-preemptible and of very high priority by default")   },
};

struct str category_name(enum category category)
{
    return categories[category].name;
}

bool category_find(struct uuid id, enum category *category)
{
    for (uint32_t i = 0; i < CATEGORY_COUNT; i++) {
        if (uuid_eq(id, property_id("category", categories[i].name))) {
            *category = (enum category)i;
            return true;
        }
    }
    return false;
}

static void show_category(struct jw *w, uint32_t i)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), property_id("category", categories[i].name));
    jw_member_string(w, STR("name"), categories[i].name);
    jw_member_string(w, STR("description"), categories[i].description);
    show_moment(w, STR("createdAt"), 0);
    jw_member_string(w, STR("createdBy"), STR("weir"));
    jw_object_end(w);
}

static void list_categories(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("categories"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < COUNT_OF(categories); i++) {
        show_category(&w, i);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void get_category(struct call *c)
{
    struct uuid id;
    enum category category;
    struct jw w;
    if (uuid_parse(c->segments.items[0], &id) && category_find(id, &category)) {
        call_begin(c, &w);
        show_category(&w, category);
        call_send(c, 200);
    } else {
        fail_unknown(c, "category", c->segments.items[0]);
    }
}

/* ---- priorities ---- */

static const struct column priority_columns[] = {
    {"name",   COLUMN_TEXT  },
    {"source", COLUMN_TEXT  },
    {"value",  COLUMN_NUMBER},
};

static struct cell priority_cell(void *ctx, uint32_t row, uint32_t column)
{
    (void)ctx;
    return column == 0   ? cell_text(priority_words[row].word)
           : column == 1 ? cell_text(STR("weir"))
                         : cell_number(priority_words[row].value * 1000);
}

static struct str priority_name(void *ctx, uint32_t row)
{
    (void)ctx;
    return priority_words[row].word;
}

static void list_priorities(struct call *c)
{
    struct list l = {.c = c,
                     .columns = priority_columns,
                     .columns_count = COUNT_OF(priority_columns),
                     .cell = priority_cell,
                     .name = priority_name,
                     .rows_count = PRIORITY_WORD_COUNT};
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("priorities"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        const struct priority_word *p = &priority_words[l.rows[i]];
        jw_object_begin(&w);
        jw_member_string(&w, STR("id"), uuid_str(property_id("priority", p->word), c->arena));
        jw_member_string(&w, STR("name"), p->word);
        jw_member_i64(&w, STR("value"), p->value);
        jw_member_string(&w, STR("source"), STR("weir"));
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"WorkloadCategory", "id* uuid, name* str, description str, createdAt ts, createdBy str"},
    {"WorkloadPriority", "id* str, name* str, value* int(0..), source str"                  },
};

static const struct route routes[] = {
    {"GET", "/api/v1/workload-categories",                   "list_categories",         list_categories, NULL, NULL, 200,
     "{categories* [WorkloadCategory]}",                                                                                                      "Categories of workloads", 0, "read workload-properties"},
    {"GET", "/api/v1/workload-categories/{categoryId:uuid}", "get_category_by_id",      get_category,
     NULL,                                                                                                     NULL, 200, "WorkloadCategory", "One category",            0, "read workload-properties"},
    {"GET", "/api/v1/workload-priorities",                   "get_workload_priorities", list_priorities,
     ORDER_ARG ", sortBy 'name'|'source'|'value', " FILTER_ARGS,                                               NULL, 200,
     "{priorities* [WorkloadPriority]}",                                                                                                      "Priorities of workloads", 0, "read workload-properties"},
};

const struct route_group group_properties = ROUTE_GROUP("WorkloadProperties", routes, schemas);
