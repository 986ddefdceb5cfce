// SPDX-License-Identifier: Apache-2.0
// Any document as two policies, one above the other, and a spec: what nobody asked for breaks no rule
// about asking, and what is laid under a spec leaves what it says.
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "codec/json.h"
#include "policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct policy_layer layer_of(const struct doc *d, bool is_system)
{
    return (struct policy_layer){is_system, doc_get(d, STR("defaults")), doc_get(d, STR("rules"))};
}

static void check_nothing_asked(const struct policy_merged *p, const struct doc *implied,
                                struct arena *arena)
{
    static const struct str asking[] = {STRS("canEdit"), STRS("blocked"), STRS("canAdd"),
                                        STRS("locked")};
    struct policy_issues issues;
    const struct doc *laid = policy_lay(p, NULL, implied, arena);
    policy_judge(p, NULL, laid, implied, arena, &issues);
    for (uint32_t i = 0; i < issues.count; i++) {
        for (size_t k = 0; k < COUNT_OF(asking); k++) {
            CHECK(!str_eq(str_from_c(issues.items[i].rule), asking[k]));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct doc *d;
    arena_init(&arena, 0);
    struct str text = {(const char *)data, (uint32_t)size};
    if (json_doc(text, &arena, &d, NULL) == STATUS_OK) {
        struct policy_layer layers[] = {layer_of(doc_get(d, STR("system")), true),
                                        layer_of(doc_get(d, STR("above")), false),
                                        layer_of(d, false)};
        const struct doc *spec = doc_get(d, STR("spec")), *implied = doc_get(d, STR("implied"));
        struct problems problems;
        struct policy_merged p;
        struct policy_issues issues;
        problems_init(&problems, &arena);
        policy_check(&layers[2], STR("policy"), "", &problems, &arena);
        policy_merge(&p, layers, COUNT_OF(layers), &arena);
        check_nothing_asked(&p, implied, &arena);
        const struct doc *laid = policy_lay(&p, spec, implied, &arena);
        policy_judge(&p, spec, laid, implied, &arena, &issues);
        const struct doc *image = doc_get(spec, STR("image"));
        CHECK(image == NULL || image->kind == DOC_NULL ||
              str_eq(doc_get(laid, STR("image"))->text, image->text));
    }
    arena_done(&arena);
    return 0;
}
