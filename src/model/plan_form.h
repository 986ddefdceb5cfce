// SPDX-License-Identifier: Apache-2.0
// plan_form: the keys of the tenant plan, one table per object: name, form of the value, where it
// is in the struct, what it is when left out. Reading, comparing and writing plans run on these
// tables, so that a key exists in all three or in none. Private to plan_*.c.
#pragma once

#include "base/buf.h"
#include "base/doc.h"
#include "model/plan.h"

enum form {
    FORM_GPUS,          /* int64_t, device shares */
    FORM_GPUS_MAX,      /* the same, or AMOUNT_UNLIMITED */
    FORM_CPUS,          /* int64_t, millicores, or AMOUNT_UNLIMITED */
    FORM_MEMORY,        /* int64_t, bytes, or AMOUNT_UNLIMITED */
    FORM_WEIGHT,        /* int64_t, thousandths */
    FORM_RANK,          /* int64_t, a number of priority.h */
    FORM_PRIORITY,      /* int64_t, a number of priority.h, 0 when left out */
    FORM_DURATION,      /* int64_t, milliseconds, -1 inherited (only by leaving it out) */
    FORM_LIMIT,         /* int64_t, milliseconds, 0 none */
    FORM_BOOL,          /* bool */
    FORM_PLACEMENT,     /* enum placement */
    FORM_PLACEMENT_CPU, /* the same without PLACEMENT_PACK */
    FORM_PREEMPTIBLE,   /* enum preemptibility */
    FORM_NAME,          /* struct str: a department or node pool */
    FORM_PROJECT_NAME,  /* struct str */
    FORM_GROUP,         /* struct str: a group of people */
    FORM_TEXT,          /* struct str: a line for people */
    FORM_SELECTOR,      /* struct str key, value: one node label */
    FORM_POOL_ORDER,    /* list of struct str_item and its count */
    FORM_NODE_TYPES,    /* list of struct str_item and its count */
    FORM_WINDOW_TYPE,   /* enum usage_window */
    FORM_WINDOW,        /* int64_t, milliseconds, 0 for the default */
    FORM_HALF_LIFE,     /* int64_t, milliseconds, 0 none */
    FORM_TIME,          /* int64_t, milliseconds since 1970, 0 none */
    FORM_CRON,          /* struct str */
    FORM_K,             /* int64_t, thousandths less 1000, from 0 to 100 */
    FORM_PART,          /* the same, from 0 to 1 */
    FORM_NESTED,        /* read, compared and written by the code of its object */
};

/* What FORM_POOL_ORDER and FORM_NODE_TYPES are in a struct. */
struct order {
    struct str_item *items;
    uint32_t count;
};

struct key {
    struct str name;
    enum form form;
    size_t offset;
};
struct keys {
    const struct key *items;
    uint32_t count;
    const void *defaults; /* an object with nothing but defaults */
};
extern const struct keys quota_keys, pool_keys, placement_keys, usage_keys, rules_keys,
    department_keys, project_keys;
extern const struct quota quota_default;
/* quota_keys.items[QUOTA_KEY_…], for messages about one key */
enum {
    QUOTA_GPUS,
    QUOTA_OVER,
    QUOTA_WEIGHT,
    QUOTA_GPUS_MAX_KEY,
    QUOTA_CPUS,
    QUOTA_CPUS_MAX_KEY,
    QUOTA_MEMORY,
    QUOTA_MEMORY_MAX_KEY
};
/* usage_keys.items[USAGE_…]; the same */
enum {
    USAGE_ENABLED,
    USAGE_TYPE,
    USAGE_LENGTH,
    USAGE_START,
    USAGE_CRON_KEY,
    USAGE_HALF_LIFE,
    USAGE_K,
    USAGE_LOW
};
/* rules_keys.items[RULES_…]; the same */
enum {
    RULES_TRAINING_RUN,
    RULES_TRAINING_IDLE,
    RULES_WORKSPACE_RUN,
    RULES_WORKSPACE_IDLE,
    RULES_WORKSPACE_PREEMPTIBLE_IDLE
};

#define POOL_DEFAULT   STR("default")         /* the pool of the nodes that no other pool selects */
#define POOL_LABEL_KEY STR("runai.node-pool") /* selector of a pool without one: key=NAME */

/* form_parse reads value into *field; false when it is not of this form or out of its range
 * (form_accepts says both in words, after "expected "). */
MUST_USE bool form_parse(enum form form, const struct doc *value, void *field, struct arena *arena);
const char *form_accepts(enum form form);
/* form_hint: an example or a correction of value, "" when there is none. */
struct str form_hint(enum form form, const struct doc *value, struct arena *arena);
/* form_format gives the value as the file writes it; "inherited", "none" where it leaves it out. */
struct str form_format(enum form form, const void *field, struct arena *arena);
bool form_eq(enum form form, const void *a, const void *b);
/* form_holds: *field is a value that form_parse could have made. */
bool form_holds(enum form form, const void *field);
bool name_ok(struct str name,
             uint32_t len_max); /* letter, then lower-case letters, digits, hyphens */
static inline const void *key_field(const struct key *key, const void *object)
{
    return (const char *)object + key->offset;
}
