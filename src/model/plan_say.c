// SPDX-License-Identifier: Apache-2.0
// plan_say: what each form of values accepts, in words, and what may have been meant.
#include "base/num.h"
#include "model/limits.h"
#include "model/plan_form.h"
#include "model/plan_words.h"
#include "model/priority.h"
#include "model/units.h"

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

static struct str nearest_word(struct str text, const struct words *words, struct arena *arena)
{
    for (uint32_t i = 0; i < words->count; i++) {
        uint32_t near = str_nearest(text, &words->items[i].text, 1);
        if (near == 0) {
            return arena_printf(arena, "did you mean " STR_FMT "?", STR_ARG(words->items[i].text));
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
        return nearest_word(text, &weight_words, arena);
    case FORM_PLACEMENT_CPU:
        return nearest_word(text, &cpu_placement_words, arena);
    case FORM_PLACEMENT:
        return nearest_word(text, &placement_words, arena);
    case FORM_PREEMPTIBLE:
        return nearest_word(text, &preemptible_words, arena);
    case FORM_RANK:
    case FORM_PRIORITY:
        return nearest_priority(text, arena);
    case FORM_DURATION:
    case FORM_LIMIT:
        return value->kind == DOC_NUMBER
                   ? arena_printf(arena, "for seconds write " STR_FMT "s", STR_ARG(text))
                   : STR("");
    case FORM_WINDOW_TYPE:
        return nearest_word(text, &window_words, arena);
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
