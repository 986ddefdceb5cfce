// SPDX-License-Identifier: Apache-2.0
// plan_text_test: for tests of plan files: a plan from text, and short ways to write one.
#pragma once

#include "base/test.h"
#include "cli/plan.h"
#include "io/yaml.h"

enum { TEXT_MAX = 1 << 20 };

#define PROJECT(quota)                                       \
    "node_pools: [{name: h100}]\n"                           \
    "organization:\n"                                        \
    "  departments:\n"                                       \
    "    - name: dep\n"                                      \
    "      node_pool_quotas: {h100: {guaranteed_gpus: 8}}\n" \
    "      projects:\n"                                      \
    "        - name: p\n"                                    \
    "          node_pool_quotas:\n"                          \
    "            h100: {" quota "}\n"

/* plan_of reads text as plan_file_read would the file that holds it. */
UNUSED static void plan_of(struct str text, struct arena *arena, struct plan_file *out)
{
    *out = (struct plan_file){.path = STR("plan.yaml"), .bytes = text};
    problems_init(&out->problems, arena);
    if (yaml_parse(text, arena, &out->root, &out->problems) == STATUS_OK) {
        plan_from_doc(out->root, NULL, arena, &out->plan, &out->problems);
    }
    plan_file_check(out, NULL, false, NULL, 0);
}
