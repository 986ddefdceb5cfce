// SPDX-License-Identifier: Apache-2.0
#include "model/plan_words.h"

#include "model/plan.h"
#include "model/units.h"

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

const struct words weight_words = {weights, COUNT_OF(weights)};
const struct words placement_words = {placements, COUNT_OF(placements)};
const struct words preemptible_words = {preemptibilities, COUNT_OF(preemptibilities)};
const struct words window_words = {window_types, COUNT_OF(window_types)};
const struct words memory_words = {memory_units, COUNT_OF(memory_units)};
const struct words time_words = {time_units, COUNT_OF(time_units)};
const struct words cpu_placement_words = {placements, PLACEMENT_SPREAD + 1};

bool words_find(const struct words *words, struct str text, int64_t *value)
{
    for (uint32_t i = 0; i < words->count; i++) {
        if (str_eq(text, words->items[i].text)) {
            *value = words->items[i].value;
            return true;
        }
    }
    return false;
}

struct str words_name(const struct words *words, int64_t value)
{
    for (uint32_t i = 0; i < words->count; i++) {
        if (words->items[i].value == value) {
            return words->items[i].text;
        }
    }
    return STR("");
}
