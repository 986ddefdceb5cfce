// SPDX-License-Identifier: Apache-2.0
// policy_stack: the policies from the tenant down to a scope, and weir's own below them all in strength.
#include "api/runai/assets.h"
#include "api/runai/policies.h"

/* What may not be had unless somebody who administers allows it. */
#define SYSTEM_SECURITY "\"security\":{\"privileged\":{\"canEdit\":false}}"
#define SYSTEM_GRACE    "\"terminationGracePeriodSeconds\":{\"max\":300}"

static struct str system_text(enum workload_kind kind, enum policy_part part)
{
    if (kind == WORKLOAD_INFERENCE) {
        return STR("{\"rules\":{" SYSTEM_SECURITY "}}");
    }
    if (part == POLICY_MASTER) {
        return STR("{\"rules\":{\"master\":{" SYSTEM_GRACE "," SYSTEM_SECURITY "}}}");
    }
    return part == POLICY_WORKER
               ? STR("{\"rules\":{\"worker\":{" SYSTEM_GRACE "," SYSTEM_SECURITY "}}}")
               : STR("{\"rules\":{" SYSTEM_GRACE "," SYSTEM_SECURITY "}}");
}

uint32_t policy_parts(enum workload_kind kind, enum policy_part parts[2])
{
    bool split = kind == WORKLOAD_DISTRIBUTED;
    parts[0] = split ? POLICY_MASTER : POLICY_WHOLE;
    parts[1] = POLICY_WORKER;
    return split ? 2 : 1;
}

struct str policy_part_name(enum policy_part part)
{
    static const struct str names[] = {STRS(""), STRS("master"), STRS("worker")};
    return names[part];
}

static const struct doc *part_of(const struct doc *map, enum policy_part part)
{
    return part == POLICY_WHOLE ? map : body_get(map, policy_part_name(part));
}

static void add(struct call *c, struct policy_stack *s, enum policy_part part, bool is_system,
                struct policy_source source, struct str text)
{
    const struct doc *d = asset_doc(c, text);
    s->layers[s->count] = (struct policy_layer){
        .is_system = is_system,
        .defaults = part_of(body_get(d, STR("defaults")), part),
        .rules = part_of(body_get(d, STR("rules")), part),
    };
    s->sources[s->count++] = source;
}

void policy_stack_build(struct call *c, enum workload_kind kind, enum policy_part part,
                        struct scope scope, const struct policy *instead, struct policy_stack *out)
{
    const struct scope_tree *tree = &call_grants(c)->book->tree;
    uint32_t depth = 1;
    for (struct scope s = scope; scope_parent(tree, s, &s);) {
        depth++;
    }
    *out = (struct policy_stack){
        .layers = ARENA_ARRAY(c->arena, struct policy_layer, depth + 1),
        .sources = ARENA_ARRAY(c->arena, struct policy_source, depth + 1),
    };
    add(c, out, part, true, (struct policy_source){.scope = SCOPE_OF_TENANT},
        system_text(kind, part));
    for (uint32_t up = depth; up > 0; up--) {
        struct scope s = scope;
        for (uint32_t i = 1; i < up; i++) {
            (void)!scope_parent(tree, s, &s);
        }
        const struct policy *p = instead != NULL && scope_eq(instead->scope, s)
                                     ? instead
                                     : policy_find(&state_of(c)->policies, kind, s);
        if (p != NULL) {
            add(c, out, part, false, (struct policy_source){s, p}, p->text);
        }
    }
    policy_merge(&out->merged, out->layers, out->count, c->arena);
}

int64_t policy_stack_updated_ms(const struct policy_stack *s)
{
    int64_t at_ms = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct policy *p = s->sources[i].policy;
        at_ms = p != NULL ? num_max_i64(at_ms, p->stamp.updated_ms) : at_ms;
    }
    return at_ms;
}

struct str policy_source_words(struct call *c, const struct policy_stack *s, uint32_t layer)
{
    struct scope scope = s->sources[layer].scope;
    if (s->layers[layer].is_system) {
        return STR("weir itself");
    }
    if (scope.kind <= SCOPE_CLUSTER) {
        return arena_printf(c->arena, "the " STR_FMT, STR_ARG(scope_type(scope.kind)));
    }
    return arena_printf(c->arena, STR_FMT " " STR_FMT, STR_ARG(scope_type(scope.kind)),
                        STR_ARG(scope_name(c, scope)));
}
