// SPDX-License-Identifier: Apache-2.0
// plan_form: forms of values. Each form has one row of functions here: read, say, write, compare.
// What is read is exact: an amount that cannot be held exactly is refused, never rounded, except
// fractions of a byte, which count as a byte.
#include "model/plan_form.h"

#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "model/cron.h"
#include "model/limits.h"
#include "model/priority.h"
#include "model/units.h"

enum { SHARE_PER_PERMILLE = 7 };
static const int64_t TIME_LAST_MS = 253402300799999; /* end of the year 9999 */
_Static_assert(DEVICE_SHARE == 1000 * SHARE_PER_PERMILLE, "a thousandth of a device is whole");

_Static_assert(offsetof(struct project, default_pools_count) ==
                   offsetof(struct project, default_pools) + offsetof(struct order, count),
               "FORM_POOL_ORDER reads list and count as one");
_Static_assert(offsetof(struct scheduling_rules, training_types_count) ==
                       offsetof(struct scheduling_rules, training_types) +
                           offsetof(struct order, count) &&
                   offsetof(struct scheduling_rules, workspace_types_count) ==
                       offsetof(struct scheduling_rules, workspace_types) +
                           offsetof(struct order, count),
               "so does FORM_NODE_TYPES");
_Static_assert(offsetof(struct pool, label_value) ==
                   offsetof(struct pool, label_key) + sizeof(struct str),
               "FORM_SELECTOR reads key and value as one");
_Static_assert(sizeof(enum placement) == sizeof(uint32_t), "enums are stored as uint32_t");
_Static_assert(sizeof(enum usage_window) == sizeof(uint32_t), "enums are stored as uint32_t");
_Static_assert(sizeof(enum preemptibility) == sizeof(uint32_t), "enums are stored as uint32_t");

/* ---- words and units ---- */

struct word {
    struct str text;
    int64_t value;
};
static const struct word weights[] = {
    {STRS("lowest"), 0             },
    {STRS("low"),    WEIGHT_ONE    },
    {STRS("medium"), 2 * WEIGHT_ONE},
    {STRS("high"),   3 * WEIGHT_ONE},
};
static const struct word placements[] = {
#define WORD(placement, name) {STRS(name), PLACEMENT_##placement},
    PLACEMENTS(WORD)
#undef WORD
};
enum { PLACEMENTS_CPU = PLACEMENT_SPREAD + 1 }; /* so many of them are for work without devices */
static const struct word preemptibilities[] = {
    {STRS("preemptible"),     PREEMPTIBLE    },
    {STRS("non-preemptible"), NON_PREEMPTIBLE},
};
static const struct word window_types[] = {
    {STRS("sliding"),  USAGE_SLIDING },
    {STRS("tumbling"), USAGE_TUMBLING},
    {STRS("cron"),     USAGE_CRON    },
};
/* Largest first, so that the first that divides an amount writes it shortest. */
static const struct word memory_units[] = {
    {STRS("Ei"), INT64_C(1) << 60         },
    {STRS("Pi"), INT64_C(1) << 50         },
    {STRS("Ti"), INT64_C(1) << 40         },
    {STRS("Gi"), INT64_C(1) << 30         },
    {STRS("Mi"), INT64_C(1) << 20         },
    {STRS("Ki"), INT64_C(1) << 10         },
    {STRS("P"),  INT64_C(1000000000000000)},
    {STRS("T"),  INT64_C(1000000000000)   },
    {STRS("G"),  INT64_C(1000000000)      },
    {STRS("M"),  INT64_C(1000000)         },
    {STRS("k"),  INT64_C(1000)            },
};
static const struct word time_units[] = {
    {STRS("d"),  INT64_C(24) * 3600 * 1000},
    {STRS("h"),  INT64_C(3600) * 1000     },
    {STRS("m"),  INT64_C(60) * 1000       },
    {STRS("s"),  INT64_C(1000)            },
    {STRS("ms"), INT64_C(1)               },
};

static bool word_find(struct str text, const struct word *words, uint32_t count, int64_t *value)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(text, words[i].text)) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}

static struct str word_of(int64_t value, const struct word *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (words[i].value == value) {
            return words[i].text;
        }
    }
    return STR("");
}

/* ---- reading ---- */

static bool is_number_char(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

/* thousandths_parse reads "12", "12.5" or "12000m" as thousandths, 0 to max. */
static bool thousandths_parse(struct str text, int64_t max, int64_t *out)
{
    int64_t value = 0;
    bool milli = str_ends(text, STR("m"));
    struct str number = milli ? str_sub(text, 0, text.len - 1) : text;
    if (!num_parse_decimal(number, milli ? 0 : 3, &value) || value < 0 || value > max) {
        return false;
    }
    *out = value;
    return true;
}

static bool memory_parse(struct str text, int64_t *out)
{
    uint32_t digits = 0;
    while (digits < text.len && is_number_char(text.ptr[digits])) {
        digits++;
    }
    struct str number = str_sub(text, 0, digits);
    struct str unit = str_sub(text, digits, text.len);
    int64_t bytes = 1;
    if (unit.len > 0 && !word_find(unit, memory_units, COUNT_OF(memory_units), &bytes)) {
        return false;
    }
    int64_t value = 0;
    if (num_parse_i64(number, &value)) {
        if (value > QUEUE_AMOUNT_MAX / bytes) {
            return false;
        }
        *out = value * bytes;
        return true;
    }
    if (unit.len == 0 || !num_parse_decimal(number, 3, &value) ||
        value / 1000 >= QUEUE_AMOUNT_MAX / bytes) {
        return false;
    }
    *out = num_muldiv_ceil(value, bytes, 1000);
    return true;
}

/* duration_parse reads "90s", "1h30m", "500ms" or "0". */
static bool duration_parse(struct str text, int64_t *out)
{
    int64_t total = 0;
    if (str_eq(text, STR("0"))) {
        *out = 0;
        return true;
    }
    if (text.len == 0) {
        return false;
    }
    uint32_t i = 0;
    while (i < text.len) {
        uint32_t first = i;
        while (i < text.len && is_number_char(text.ptr[i])) {
            i++;
        }
        struct str number = str_sub(text, first, i - first);
        first = i;
        while (i < text.len && !is_number_char(text.ptr[i])) {
            i++;
        }
        int64_t unit = 0;
        int64_t value = 0;
        if (!num_parse_i64(number, &value) ||
            !word_find(str_sub(text, first, i - first), time_units, COUNT_OF(time_units), &unit) ||
            value > MIN_RUNTIME_MAX_MS / unit) {
            return false;
        }
        total += value * unit;
        if (total > MIN_RUNTIME_MAX_MS) {
            return false;
        }
    }
    *out = total;
    return true;
}

bool name_ok(struct str name, uint32_t len_max)
{
    if (name.len == 0 || name.len > len_max || name.ptr[0] < 'a' || name.ptr[0] > 'z' ||
        name.ptr[name.len - 1] == '-') {
        return false;
    }
    for (uint32_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') {
            return false;
        }
    }
    return true;
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* label_part_ok: up to 63 letters, digits, '-', '_', '.', with a letter or digit at both ends. */
static bool label_part_ok(struct str part)
{
    if (part.len == 0 || part.len > NAME_LEN_MAX || !is_alnum(part.ptr[0]) ||
        !is_alnum(part.ptr[part.len - 1])) {
        return false;
    }
    for (uint32_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];
        if (!is_alnum(c) && c != '-' && c != '_' && c != '.') {
            return false;
        }
    }
    return true;
}

/* label_key_ok: a name, or a domain (parts between dots as names) and a name: "nvidia.com/gpu". */
static bool label_key_ok(struct str key)
{
    uint32_t slash = str_find(key, '/');
    if (slash == key.len) {
        return label_part_ok(key);
    }
    struct str domain = str_sub(key, 0, slash);
    struct str part;
    enum { DOMAIN_LEN_MAX = 253 };
    if (domain.len > DOMAIN_LEN_MAX) {
        return false;
    }
    while (str_split(&domain, '.', &part)) {
        if (!label_part_ok(part)) {
            return false;
        }
    }
    return label_part_ok(str_sub(key, slash + 1, key.len));
}

/* group_ok: printable text without control characters. */
static bool group_ok(struct str group)
{
    if (group.len == 0 || group.len > GROUP_LEN_MAX || str_trim(group).len != group.len) {
        return false;
    }
    for (uint32_t i = 0; i < group.len; i++) {
        if ((unsigned char)group.ptr[i] < ' ' || group.ptr[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

static bool is_scalar(const struct doc *value)
{
    return value->kind == DOC_NUMBER || value->kind == DOC_STRING;
}

static bool name_parse(const struct doc *value, uint32_t len_max, struct str *out,
                       struct arena *arena)
{
    if (value->kind != DOC_STRING || !name_ok(value->text, len_max)) {
        return false;
    }
    *out = arena_str(arena, value->text);
    return true;
}

static bool selector_parse(const struct doc *value, struct str pair[2], struct arena *arena)
{
    if (value->kind != DOC_MAP || value->child_count != 1 || !is_scalar(value->child) ||
        !label_key_ok(value->child->key) || !label_part_ok(value->child->text)) {
        return false;
    }
    pair[0] = arena_str(arena, value->child->key);
    pair[1] = arena_str(arena, value->child->text);
    return true;
}

/* Of node types, which are values of a label, or of node pools. */
static bool order_parse(const struct doc *value, bool types, struct order *out, struct arena *arena)
{
    if (value->kind != DOC_LIST || value->child_count > POOLS_MAX) {
        return false;
    }
    struct order order = {.items = ARENA_ARRAY(arena, struct str_item, value->child_count)};
    for (const struct doc *item = value->child; item; item = item->next) {
        struct str *name = &order.items[order.count].value;
        if (types && is_scalar(item) && label_part_ok(item->text)) {
            *name = arena_str(arena, item->text);
        } else if (types || !name_parse(item, NAME_LEN_MAX, name, arena)) {
            return false;
        }
        for (uint32_t i = 0; i < order.count; i++) {
            if (str_eq(order.items[i].value, *name)) {
                return false;
            }
        }
        order.count++;
    }
    *out = order;
    return true;
}

/* amount_parse reads a number form into *out; the words are tried by the caller. */
static bool amount_parse(enum form form, struct str text, int64_t *out)
{
    int64_t value = 0;
    switch (form) {
    case FORM_GPUS:
    case FORM_GPUS_MAX:
        if (!thousandths_parse(text, QUOTA_GPUS_MAX * 1000, &value)) {
            return false;
        }
        *out = value * SHARE_PER_PERMILLE;
        return true;
    case FORM_CPUS:
        return thousandths_parse(text, QUOTA_CPUS_MAX * 1000, out);
    case FORM_MEMORY:
        return memory_parse(text, out);
    case FORM_WEIGHT:
        return word_find(text, weights, COUNT_OF(weights), out) ||
               (!str_ends(text, STR("m")) && thousandths_parse(text, WEIGHT_MILLI_MAX, out));
    case FORM_RANK:
        return priority_parse(text, out);
    case FORM_PRIORITY:
        if (!priority_parse(text, &value) || value == 0) {
            return false;
        }
        *out = value;
        return true;
    case FORM_DURATION:
    case FORM_LIMIT:
        return duration_parse(text, out);
    case FORM_WINDOW:
        if (!duration_parse(text, &value) || value < USAGE_WINDOW_MIN_MS ||
            value > USAGE_WINDOW_MAX_MS) {
            return false;
        }
        *out = value == USAGE_WINDOW_DEFAULT_MS ? 0 : value;
        return true;
    case FORM_HALF_LIFE:
        if (!duration_parse(text, &value) || (value > 0 && value < USAGE_WINDOW_MIN_MS)) {
            return false;
        }
        *out = value;
        return true;
    case FORM_K:
    case FORM_PART:
        if (str_ends(text, STR("m")) ||
            !thousandths_parse(text, form == FORM_K ? K_PERMILLE_MAX : WEIGHT_ONE, &value)) {
            return false;
        }
        *out = value - WEIGHT_ONE;
        return true;
    case FORM_WINDOW_TYPE:
    case FORM_TIME:
    case FORM_CRON:
    case FORM_BOOL:
    case FORM_PLACEMENT_CPU:
    case FORM_PLACEMENT:
    case FORM_PREEMPTIBLE:
    case FORM_NAME:
    case FORM_PROJECT_NAME:
    case FORM_GROUP:
    case FORM_TEXT:
    case FORM_SELECTOR:
    case FORM_POOL_ORDER:
    case FORM_NODE_TYPES:
    case FORM_NESTED:
        break;
    }
    return false;
}

static bool word_parse(const struct doc *value, const struct word *words, uint32_t count,
                       uint32_t *out)
{
    int64_t found = 0;
    if (value->kind != DOC_STRING || !word_find(value->text, words, count, &found)) {
        return false;
    }
    *out = (uint32_t)found;
    return true;
}

/* time_parse: after 1970, so that 0 is none. */
static bool time_parse(const struct doc *value, int64_t *out)
{
    int64_t ms = 0;
    struct err err;
    if (value->kind != DOC_STRING || rfc3339_parse(value->text, &ms, &err) != STATUS_OK ||
        ms <= 0) {
        return false;
    }
    *out = ms;
    return true;
}

static bool cron_holds(struct str text)
{
    struct cron cron;
    return text.len <= CRON_LEN_MAX && cron_parse(text, &cron);
}

bool form_parse(enum form form, const struct doc *value, void *field, struct arena *arena)
{
    switch (form) {
    case FORM_GPUS_MAX:
    case FORM_CPUS:
    case FORM_MEMORY:
        if (value->kind == DOC_STRING && str_eq(value->text, STR("unlimited"))) {
            *(int64_t *)field = AMOUNT_UNLIMITED;
            return true;
        }
        return is_scalar(value) && amount_parse(form, value->text, field);
    case FORM_GPUS:
    case FORM_WEIGHT:
    case FORM_RANK:
    case FORM_PRIORITY:
    case FORM_DURATION:
    case FORM_LIMIT:
    case FORM_WINDOW:
    case FORM_HALF_LIFE:
    case FORM_K:
    case FORM_PART:
        return is_scalar(value) && amount_parse(form, value->text, field);
    case FORM_BOOL:
        if (value->kind == DOC_BOOL) {
            *(bool *)field = value->boolean;
        }
        return value->kind == DOC_BOOL;
    case FORM_PLACEMENT_CPU:
        return word_parse(value, placements, PLACEMENTS_CPU, field);
    case FORM_PLACEMENT:
        return word_parse(value, placements, COUNT_OF(placements), field);
    case FORM_PREEMPTIBLE:
        return word_parse(value, preemptibilities, COUNT_OF(preemptibilities), field);
    case FORM_WINDOW_TYPE:
        return word_parse(value, window_types, COUNT_OF(window_types), field);
    case FORM_TIME:
        return time_parse(value, field);
    case FORM_CRON:
        if (value->kind != DOC_STRING || !cron_holds(value->text)) {
            return false;
        }
        *(struct str *)field = arena_str(arena, value->text);
        return true;
    case FORM_NAME:
        return name_parse(value, NAME_LEN_MAX, field, arena);
    case FORM_PROJECT_NAME:
        return name_parse(value, PROJECT_LEN_MAX, field, arena);
    case FORM_GROUP:
    case FORM_TEXT:
        if (!is_scalar(value) || !group_ok(value->text)) {
            return false;
        }
        *(struct str *)field = arena_str(arena, value->text);
        return true;
    case FORM_SELECTOR:
        return selector_parse(value, field, arena);
    case FORM_POOL_ORDER:
        return order_parse(value, false, field, arena);
    case FORM_NODE_TYPES:
        return order_parse(value, true, field, arena);
    case FORM_NESTED:
        break;
    }
    return false;
}

/* ---- saying ---- */

_Static_assert(QUOTA_GPUS_MAX == 1000000 && QUOTA_CPUS_MAX == 100000000 &&
                   QUEUE_AMOUNT_MAX == INT64_C(1) << 60 && WEIGHT_MILLI_MAX == 1000 * WEIGHT_ONE &&
                   MIN_RUNTIME_MAX_MS == INT64_C(365) * 24 * 3600 * 1000 && PRIORITY_MAX == 1000 &&
                   K_PERMILLE_MAX == 100000 && USAGE_WINDOW_MIN_MS == INT64_C(3600) * 1000 &&
                   USAGE_WINDOW_MAX_MS == INT64_C(92) * 24 * 3600 * 1000 && CRON_LEN_MAX == 256 &&
                   NAME_LEN_MAX == 63 && PROJECT_LEN_MAX == 57 && GROUP_LEN_MAX == 256,
               "form_accepts says these in words");

const char *form_accepts(enum form form)
{
    switch (form) {
    case FORM_GPUS:
        return "a number of GPUs from 0 to 1000000, at most three decimals";
    case FORM_GPUS_MAX:
        return "a number of GPUs from 0 to 1000000, at most three decimals, or unlimited";
    case FORM_CPUS:
        return "a number of CPU cores from 0 to 100000000 (12, 0.5 or 500m), or unlimited";
    case FORM_MEMORY:
        return "an amount of memory from 0 to 1Ei, with a unit (512Mi, 64Gi, 1Ti), or unlimited";
    case FORM_WEIGHT:
        return "lowest, low, medium, high or a number from 0 to 1000";
    case FORM_RANK:
        return "very-low, low, medium-low, medium, medium-high, high, very-high or a number from "
               "0 to 1000";
    case FORM_PRIORITY:
        return "very-low, low, medium-low, medium, medium-high, high, very-high or a number from "
               "1 to 1000";
    case FORM_DURATION:
    case FORM_LIMIT:
        return "a time from 0 to 365d with units (90s, 15m, 1h30m)";
    case FORM_BOOL:
        return "true or false";
    case FORM_PLACEMENT_CPU:
        return "binpack or spread";
    case FORM_PLACEMENT:
        return "binpack, spread or pack";
    case FORM_PREEMPTIBLE:
        return "preemptible or non-preemptible";
    case FORM_NAME:
        return "a name: a lower-case letter, then lower-case letters, digits and hyphens, at most "
               "63 characters";
    case FORM_PROJECT_NAME:
        return "a name: a lower-case letter, then lower-case letters, digits and hyphens, at most "
               "57 characters";
    case FORM_GROUP:
        return "the name of a group, 1 to 256 printable characters";
    case FORM_TEXT:
        return "1 to 256 printable characters";
    case FORM_SELECTOR:
        return "exactly one node label, key: value";
    case FORM_POOL_ORDER:
        return "a list of names of node pools, each once";
    case FORM_NODE_TYPES:
        return "a list of values of the node label run.ai/type, each once";
    case FORM_WINDOW_TYPE:
        return "sliding, tumbling or cron";
    case FORM_WINDOW:
        return "a time from 1h to 92d with units (12h, 7d)";
    case FORM_HALF_LIFE:
        return "0s, or a time from 1h to 365d with units (12h, 7d)";
    case FORM_TIME:
        return "a moment after 1970 as in 2026-01-05T00:00:00Z";
    case FORM_CRON:
        return "the five fields of a crontab (minute, hour, day, month, day of the week), at most "
               "256 characters";
    case FORM_K:
        return "a number from 0 to 100, at most three decimals";
    case FORM_PART:
        return "a number from 0 to 1, at most three decimals";
    case FORM_NESTED:
        return "a map";
    }
    return "";
}

/* name_mend turns what was meant as a name into one: "Team_A/x" to "team-a-x". */
static struct str name_mend(struct str name, uint32_t len_max, struct arena *arena)
{
    char *mended = arena_alloc(arena, (size_t)name.len + 1);
    uint32_t len = 0;
    for (uint32_t i = 0; i < name.len && len < len_max; i++) {
        char c = name.ptr[i];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        bool letter = c >= 'a' && c <= 'z';
        bool digit = c >= '0' && c <= '9';
        if (letter || (digit && len > 0)) {
            mended[len++] = c;
        } else if (!digit && len > 0 && mended[len - 1] != '-') {
            mended[len++] = '-';
        }
    }
    while (len > 0 && mended[len - 1] == '-') {
        len--;
    }
    return (struct str){mended, len};
}

static struct str nearest_word(struct str text, const struct word *words, uint32_t count,
                               struct arena *arena)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t near = str_nearest(text, &words[i].text, 1);
        if (near == 0) {
            return arena_printf(arena, "did you mean " STR_FMT "?", STR_ARG(words[i].text));
        }
    }
    return STR("");
}

static struct str nearest_priority(struct str text, struct arena *arena)
{
    struct str words[PRIORITY_WORD_COUNT];
    for (uint32_t i = 0; i < PRIORITY_WORD_COUNT; i++) {
        words[i] = priority_words[i].word;
    }
    uint32_t near = str_nearest(text, words, PRIORITY_WORD_COUNT);
    return near == PRIORITY_WORD_COUNT
               ? STR("")
               : arena_printf(arena, "did you mean " STR_FMT "?", STR_ARG(words[near]));
}

struct str form_hint(enum form form, const struct doc *value, struct arena *arena)
{
    struct str text = value->text;
    switch (form) {
    case FORM_GPUS:
    case FORM_GPUS_MAX:
        return STR("for example 2 or 0.5");
    case FORM_CPUS:
        return STR("for example 16 or 500m");
    case FORM_MEMORY:
        return STR("for example 64Gi");
    case FORM_SELECTOR:
        return STR("for example {runai.node-pool: a100-shared}");
    case FORM_POOL_ORDER:
        return STR("for example [h100-production, a100-shared]");
    case FORM_NODE_TYPES:
        return STR("for example [h100, a100]");
    case FORM_NAME:
    case FORM_PROJECT_NAME: {
        uint32_t len_max = form == FORM_NAME ? NAME_LEN_MAX : PROJECT_LEN_MAX;
        struct str mended = name_mend(text, len_max, arena);
        return mended.len > 0 ? arena_printf(arena, "for example " STR_FMT, STR_ARG(mended))
                              : STR("for example team-a");
    }
    case FORM_BOOL:
        if (str_eq(text, STR("yes")) || str_eq(text, STR("on"))) {
            return STR("write true");
        }
        if (str_eq(text, STR("no")) || str_eq(text, STR("off"))) {
            return STR("write false");
        }
        return STR("");
    case FORM_WEIGHT:
        return nearest_word(text, weights, COUNT_OF(weights), arena);
    case FORM_PLACEMENT_CPU:
        return nearest_word(text, placements, PLACEMENTS_CPU, arena);
    case FORM_PLACEMENT:
        return nearest_word(text, placements, COUNT_OF(placements), arena);
    case FORM_PREEMPTIBLE:
        return nearest_word(text, preemptibilities, COUNT_OF(preemptibilities), arena);
    case FORM_RANK:
    case FORM_PRIORITY:
        return nearest_priority(text, arena);
    case FORM_DURATION:
    case FORM_LIMIT:
        return value->kind == DOC_NUMBER
                   ? arena_printf(arena, "for seconds write " STR_FMT "s", STR_ARG(text))
                   : STR("");
    case FORM_WINDOW_TYPE:
        return nearest_word(text, window_types, COUNT_OF(window_types), arena);
    case FORM_WINDOW:
    case FORM_HALF_LIFE:
        return STR("for example 7d");
    case FORM_TIME:
        return STR("for example 2026-01-05T00:00:00Z");
    case FORM_CRON:
        return STR("for example \"0 0 * * mon\", every Monday at midnight UTC");
    case FORM_K:
        return STR("0: past use does not count, 1: the usual weight");
    case FORM_PART:
        return STR("0: such use is not counted, 1: it counts as any other");
    case FORM_GROUP:
    case FORM_TEXT:
    case FORM_NESTED:
        break;
    }
    return STR("");
}

/* ---- writing ---- */

static struct str thousandths_format(int64_t value, struct arena *arena)
{
    int64_t whole = value / 1000;
    int64_t part = value % 1000;
    if (part == 0) {
        return arena_printf(arena, "%lld", (long long)whole);
    }
    struct str text = arena_printf(arena, "%lld.%03lld", (long long)whole, (long long)part);
    while (text.ptr[text.len - 1] == '0') {
        text.len--;
    }
    return text;
}

static struct str memory_format(int64_t bytes, struct arena *arena)
{
    for (uint32_t i = 0; i < COUNT_OF(memory_units) && bytes > 0; i++) {
        int64_t unit = memory_units[i].value;
        if (bytes % unit == 0) {
            return arena_printf(arena, "%lld" STR_FMT, (long long)(bytes / unit),
                                STR_ARG(memory_units[i].text));
        }
    }
    return arena_printf(arena, "%lld", (long long)bytes);
}

static struct str duration_format(int64_t ms, struct arena *arena)
{
    if (ms < 0) {
        return STR("inherited");
    }
    if (ms == 0) {
        return STR("0s");
    }
    struct str text = STR("");
    for (uint32_t i = 0; i < COUNT_OF(time_units) && ms > 0; i++) {
        int64_t unit = time_units[i].value;
        if (ms >= unit) {
            text = arena_printf(arena, STR_FMT "%lld" STR_FMT, STR_ARG(text),
                                (long long)(ms / unit), STR_ARG(time_units[i].text));
            ms %= unit;
        }
    }
    return text;
}

static struct str number_format(enum form form, int64_t value, struct arena *arena)
{
    struct str word = STR("");
    switch (form) {
    case FORM_GPUS:
    case FORM_GPUS_MAX:
        return thousandths_format(value / SHARE_PER_PERMILLE, arena);
    case FORM_CPUS:
        return thousandths_format(value, arena);
    case FORM_MEMORY:
        return memory_format(value, arena);
    case FORM_WEIGHT:
        word = word_of(value, weights, COUNT_OF(weights));
        return word.len > 0 ? word : thousandths_format(value, arena);
    case FORM_RANK:
    case FORM_PRIORITY:
        word = priority_word(value);
        if (word.len > 0) {
            return word;
        }
        return form == FORM_PRIORITY && value == 0 ? STR("none")
                                                   : arena_printf(arena, "%lld", (long long)value);
    case FORM_DURATION:
    case FORM_LIMIT:
    case FORM_HALF_LIFE:
        return duration_format(value, arena);
    case FORM_WINDOW:
        return duration_format(value > 0 ? value : USAGE_WINDOW_DEFAULT_MS, arena);
    case FORM_K:
    case FORM_PART:
        return thousandths_format(value + WEIGHT_ONE, arena);
    case FORM_WINDOW_TYPE:
    case FORM_TIME:
    case FORM_CRON:
    case FORM_BOOL:
    case FORM_PLACEMENT_CPU:
    case FORM_PLACEMENT:
    case FORM_PREEMPTIBLE:
    case FORM_NAME:
    case FORM_PROJECT_NAME:
    case FORM_GROUP:
    case FORM_TEXT:
    case FORM_SELECTOR:
    case FORM_POOL_ORDER:
    case FORM_NODE_TYPES:
    case FORM_NESTED:
        break;
    }
    return STR("");
}

static struct str time_format(int64_t ms, struct arena *arena)
{
    enum { SECONDS_LEN = 19 }; // 2026-01-05T00:00:00
    char text[RFC3339_TEXT_SIZE];
    if (ms <= 0) {
        return STR("none");
    }
    struct str full = rfc3339_format(ms, text);
    return ms % 1000 == 0 ? arena_printf(arena, "%.*sZ", SECONDS_LEN, full.ptr)
                          : arena_str(arena, full);
}

static struct str none_if_empty(struct str text)
{
    return text.len > 0 ? text : STR("none");
}

struct str form_format(enum form form, const void *field, struct arena *arena)
{
    switch (form) {
    case FORM_GPUS:
    case FORM_GPUS_MAX:
    case FORM_CPUS:
    case FORM_MEMORY:
        if (*(const int64_t *)field == AMOUNT_UNLIMITED) {
            return STR("unlimited");
        }
        return number_format(form, *(const int64_t *)field, arena);
    case FORM_WEIGHT:
    case FORM_RANK:
    case FORM_PRIORITY:
    case FORM_DURATION:
    case FORM_LIMIT:
    case FORM_WINDOW:
    case FORM_HALF_LIFE:
    case FORM_K:
    case FORM_PART:
        return number_format(form, *(const int64_t *)field, arena);
    case FORM_BOOL:
        return *(const bool *)field ? STR("true") : STR("false");
    case FORM_PLACEMENT_CPU:
    case FORM_PLACEMENT:
        return word_of(*(const uint32_t *)field, placements, COUNT_OF(placements));
    case FORM_PREEMPTIBLE:
        return none_if_empty(
            word_of(*(const uint32_t *)field, preemptibilities, COUNT_OF(preemptibilities)));
    case FORM_WINDOW_TYPE:
        return word_of(*(const uint32_t *)field, window_types, COUNT_OF(window_types));
    case FORM_TIME:
        return time_format(*(const int64_t *)field, arena);
    case FORM_CRON:
    case FORM_NAME:
    case FORM_PROJECT_NAME:
    case FORM_GROUP:
    case FORM_TEXT:
        return none_if_empty(*(const struct str *)field);
    case FORM_SELECTOR: {
        const struct str *pair = field;
        return pair[0].len > 0
                   ? arena_printf(arena, STR_FMT "=" STR_FMT, STR_ARG(pair[0]), STR_ARG(pair[1]))
                   : STR("none");
    }
    case FORM_POOL_ORDER:
    case FORM_NODE_TYPES: {
        const struct order *order = field;
        struct str text = STR("");
        for (uint32_t i = 0; i < order->count; i++) {
            text = arena_printf(arena, STR_FMT "%s" STR_FMT, STR_ARG(text), i > 0 ? ", " : "",
                                STR_ARG(order->items[i].value));
        }
        return none_if_empty(text);
    }
    case FORM_NESTED:
        break;
    }
    return STR("");
}

static bool order_eq(const struct order *a, const struct order *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!str_eq(a->items[i].value, b->items[i].value)) {
            return false;
        }
    }
    return true;
}

bool form_eq(enum form form, const void *a, const void *b)
{
    switch (form) {
    case FORM_GPUS:
    case FORM_GPUS_MAX:
    case FORM_CPUS:
    case FORM_MEMORY:
    case FORM_WEIGHT:
    case FORM_RANK:
    case FORM_PRIORITY:
    case FORM_DURATION:
    case FORM_LIMIT:
    case FORM_WINDOW:
    case FORM_HALF_LIFE:
    case FORM_TIME:
    case FORM_K:
    case FORM_PART:
        return *(const int64_t *)a == *(const int64_t *)b;
    case FORM_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case FORM_PLACEMENT_CPU:
    case FORM_PLACEMENT:
    case FORM_PREEMPTIBLE:
    case FORM_WINDOW_TYPE:
        return *(const uint32_t *)a == *(const uint32_t *)b;
    case FORM_NAME:
    case FORM_PROJECT_NAME:
    case FORM_GROUP:
    case FORM_TEXT:
    case FORM_CRON:
        return str_eq(*(const struct str *)a, *(const struct str *)b);
    case FORM_SELECTOR: {
        const struct str *x = a;
        const struct str *y = b;
        return str_eq(x[0], y[0]) && str_eq(x[1], y[1]);
    }
    case FORM_POOL_ORDER:
    case FORM_NODE_TYPES:
        return order_eq(a, b);
    case FORM_NESTED:
        break;
    }
    return true;
}

static bool order_holds(const struct order *order, bool types)
{
    for (uint32_t i = 0; i < order->count; i++) {
        struct str name = order->items[i].value;
        if (types ? !label_part_ok(name) : !name_ok(name, NAME_LEN_MAX)) {
            return false;
        }
    }
    return order->count <= POOLS_MAX;
}

/* number_holds: 0 to max, or the value that stands for none at all. */
static bool number_holds(const void *field, int64_t max, int64_t none)
{
    int64_t value = *(const int64_t *)field;
    return (value >= 0 && value <= max) || value == none;
}

static bool number_between(const void *field, int64_t first, int64_t last)
{
    int64_t value = *(const int64_t *)field;
    return value >= first && value <= last;
}

bool form_holds(enum form form, const void *field)
{
    const struct str *text = field;
    switch (form) {
    case FORM_GPUS:
        return number_holds(field, QUOTA_GPUS_MAX * DEVICE_SHARE, 0);
    case FORM_GPUS_MAX:
        return number_holds(field, QUOTA_GPUS_MAX * DEVICE_SHARE, AMOUNT_UNLIMITED);
    case FORM_CPUS:
        return number_holds(field, QUOTA_CPUS_MAX * 1000, AMOUNT_UNLIMITED);
    case FORM_MEMORY:
        return number_holds(field, QUEUE_AMOUNT_MAX, AMOUNT_UNLIMITED);
    case FORM_WEIGHT:
        return number_holds(field, WEIGHT_MILLI_MAX, 0);
    case FORM_RANK:
    case FORM_PRIORITY:
        return number_holds(field, PRIORITY_MAX, 0);
    case FORM_DURATION:
        return number_holds(field, MIN_RUNTIME_MAX_MS, -1);
    case FORM_LIMIT:
        return number_between(field, 0, MIN_RUNTIME_MAX_MS);
    case FORM_WINDOW:
        return number_between(field, USAGE_WINDOW_MIN_MS, USAGE_WINDOW_MAX_MS);
    case FORM_HALF_LIFE:
        return number_between(field, USAGE_WINDOW_MIN_MS, MIN_RUNTIME_MAX_MS);
    case FORM_TIME:
        return number_between(field, 1, TIME_LAST_MS);
    case FORM_K:
        return number_between(field, -WEIGHT_ONE, K_PERMILLE_MAX - WEIGHT_ONE);
    case FORM_PART:
        return number_between(field, -WEIGHT_ONE, 0);
    case FORM_BOOL:
        return true;
    case FORM_WINDOW_TYPE:
        return *(const uint32_t *)field <= USAGE_CRON;
    case FORM_CRON:
        return cron_holds(*text);
    case FORM_PLACEMENT_CPU:
        return *(const uint32_t *)field < PLACEMENTS_CPU;
    case FORM_PLACEMENT:
        return *(const uint32_t *)field <= PLACEMENT_PACK;
    case FORM_PREEMPTIBLE:
        return *(const uint32_t *)field <= NON_PREEMPTIBLE;
    case FORM_NAME:
        return name_ok(*text, NAME_LEN_MAX);
    case FORM_PROJECT_NAME:
        return name_ok(*text, PROJECT_LEN_MAX);
    case FORM_GROUP:
    case FORM_TEXT:
        return group_ok(*text);
    case FORM_SELECTOR:
        return label_key_ok(text[0]) && label_part_ok(text[1]);
    case FORM_POOL_ORDER:
        return order_holds(field, false);
    case FORM_NODE_TYPES:
        return order_holds(field, true);
    case FORM_NESTED:
        break;
    }
    return true;
}
