// SPDX-License-Identifier: Apache-2.0
#include "policy/value.h"

#include <string.h>

enum part { DEFAULTS, RULES };

struct merge {
    const struct policy_layer *layers;
    enum part part;
    struct policy_said *said;
    uint32_t count;
};

static bool is_section(const struct doc *d)
{
    return d->kind == DOC_MAP && policy_is_section(d->key);
}

/* Layers come from the highest down. */
static bool later_wins(const struct merge *m, const struct policy_said *old)
{
    struct str section = str_from_c(old->field->section);
    bool high = m->part == RULES &&
                (str_eq(section, STR("compute")) || str_eq(section, STR("security")));
    return m->layers[old->layer].is_system || !high;
}

static void say(struct merge *m, struct str section, const struct doc *d, uint32_t layer)
{
    const struct policy_field *f = policy_field(section, d->key);
    if (f == NULL || d->kind == DOC_NULL) {
        return;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        struct policy_said *old = &m->said[i];
        if (old->field == f) {
            if (!m->layers[layer].is_system && later_wins(m, old)) {
                *old = (struct policy_said){f, d, layer};
            }
            return;
        }
    }
    m->said[m->count++] = (struct policy_said){f, d, layer};
}

static uint32_t members(const struct doc *map)
{
    uint32_t n = 0;
    for (const struct doc *d = map != NULL ? map->child : NULL; d != NULL; d = d->next) {
        n++;
        for (const struct doc *in = is_section(d) ? d->child : NULL; in != NULL; in = in->next) {
            n++;
        }
    }
    return n;
}

static const struct doc *part_of(const struct policy_layer *layer, enum part part)
{
    return part == RULES ? layer->rules : layer->defaults;
}

static struct policy_said *merge(const struct policy_layer *layers, uint32_t count, enum part part,
                                 struct arena *arena, uint32_t *said_count)
{
    struct merge m = {.layers = layers, .part = part};
    uint32_t room = 0;
    for (uint32_t i = 0; i < count; i++) {
        room += members(part_of(&layers[i], part));
    }
    m.said = ARENA_ARRAY(arena, struct policy_said, room);
    for (uint32_t i = 0; i < count; i++) {
        const struct doc *map = part_of(&layers[i], part);
        for (const struct doc *d = map != NULL ? map->child : NULL; d != NULL; d = d->next) {
            if (!is_section(d)) {
                say(&m, STR(""), d, i);
                continue;
            }
            for (const struct doc *in = d->child; in != NULL; in = in->next) {
                say(&m, d->key, in, i);
            }
        }
    }
    *said_count = m.count;
    return m.said;
}

/* What may not be edited is not edited by those below either: of the layers down to the rule's own the
 * nearest with a default counts. */
static void fix_default(struct policy_merged *p, const struct policy_said *rule,
                        const struct policy_layer *layers)
{
    for (uint32_t i = 0; i < p->defaults_count; i++) {
        struct policy_said *said = &p->defaults[i];
        if (said->field != rule->field || said->layer <= rule->layer) {
            continue;
        }
        uint32_t layer = rule->layer + 1;
        const struct doc *value = NULL;
        while (value == NULL && layer > 0) {
            value = value_of_field(layers[--layer].defaults, rule->field);
        }
        if (value != NULL) {
            *said = (struct policy_said){rule->field, value, layer};
        } else {
            memmove(said, said + 1, sizeof(*said) * (p->defaults_count - i - 1));
            p->defaults_count--;
        }
        return;
    }
}

void policy_merge(struct policy_merged *p, const struct policy_layer *layers, uint32_t count,
                  struct arena *arena)
{
    p->defaults = merge(layers, count, DEFAULTS, arena, &p->defaults_count);
    p->rules = merge(layers, count, RULES, arena, &p->rules_count);
    for (uint32_t i = 0; i < p->rules_count; i++) {
        if (value_is_false(p->rules[i].value, "canEdit") && !layers[p->rules[i].layer].is_system) {
            fix_default(p, &p->rules[i], layers);
        }
    }
}
