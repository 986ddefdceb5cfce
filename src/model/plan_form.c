// SPDX-License-Identifier: Apache-2.0
// plan_form: forms of values. Each form has one row of functions here: read, write, compare.
// What is read is exact: an amount that cannot be held exactly is refused, never rounded, except
// fractions of a byte, which count as a byte.
#include "model/plan_form.h"

#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "model/cron.h"
#include "model/limits.h"
#include "model/plan_words.h"
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
    if (unit.len > 0 && !words_find(&memory_words, unit, &bytes)) {
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
            !words_find(&time_words, str_sub(text, first, i - first), &unit) ||
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
        return words_find(&weight_words, text, out) ||
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

static bool word_parse(const struct doc *value, const struct words *words, uint32_t *out)
{
    int64_t found = 0;
    if (value->kind != DOC_STRING || !words_find(words, value->text, &found)) {
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
        return word_parse(value, &cpu_placement_words, field);
    case FORM_PLACEMENT:
        return word_parse(value, &placement_words, field);
    case FORM_PREEMPTIBLE:
        return word_parse(value, &preemptible_words, field);
    case FORM_WINDOW_TYPE:
        return word_parse(value, &window_words, field);
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
    for (uint32_t i = 0; i < memory_words.count && bytes > 0; i++) {
        int64_t unit = memory_words.items[i].value;
        if (bytes % unit == 0) {
            return arena_printf(arena, "%lld" STR_FMT, (long long)(bytes / unit),
                                STR_ARG(memory_words.items[i].text));
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
    for (uint32_t i = 0; i < time_words.count && ms > 0; i++) {
        int64_t unit = time_words.items[i].value;
        if (ms >= unit) {
            text = arena_printf(arena, STR_FMT "%lld" STR_FMT, STR_ARG(text),
                                (long long)(ms / unit), STR_ARG(time_words.items[i].text));
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
        word = words_name(&weight_words, value);
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
        return words_name(&placement_words, *(const uint32_t *)field);
    case FORM_PREEMPTIBLE:
        return none_if_empty(words_name(&preemptible_words, *(const uint32_t *)field));
    case FORM_WINDOW_TYPE:
        return words_name(&window_words, *(const uint32_t *)field);
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
        return *(const uint32_t *)field < cpu_placement_words.count;
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
