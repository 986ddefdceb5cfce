// SPDX-License-Identifier: Apache-2.0
// Scheduling rules of departments and projects, as the wire has them: schedulingRules in seconds, and
// nodeTypes. What a body leaves out is no rule.
#include "api/runai/common.h"

static const struct {
    struct str name;
    size_t offset;
} limits[] = {
    {STRS("trainingJobTimeLimitSeconds"),              offsetof(struct scheduling_rules, training_run_ms)              },
    {STRS("trainingJobMaxIdleDurationSeconds"),
     offsetof(struct scheduling_rules,                                                   training_idle_ms)             },
    {STRS("interactiveJobTimeLimitSeconds"),           offsetof(struct scheduling_rules, workspace_run_ms)             },
    {STRS("interactiveJobMaxIdleDurationSeconds"),
     offsetof(struct scheduling_rules,                                                   workspace_idle_ms)            },
    {STRS("interactiveJobPreemptIdleDurationSeconds"),
     offsetof(struct scheduling_rules,                                                   workspace_preemptible_idle_ms)},
};

void rules_read(struct call *c, struct scheduling_rules *r)
{
    const struct doc *given = body_get(c->body, STR("schedulingRules"));
    const struct doc *types = body_get(c->body, STR("nodeTypes"));
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        int64_t *ms = (void *)((char *)r + limits[i].offset);
        *ms = num_sat_mul_i64(body_i64(given, limits[i].name, 0), 1000);
    }
    r->training_types = body_strings(body_get(types, STR("training")), c->arena,
                                     &r->training_types_count);
    r->workspace_types = body_strings(body_get(types, STR("workspace")), c->arena,
                                      &r->workspace_types_count);
}

void rules_show(struct jw *w, const struct scheduling_rules *r)
{
    jw_key(w, STR("schedulingRules"));
    jw_object_begin(w);
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        const void *ms = (const char *)r + limits[i].offset;
        if (*(const int64_t *)ms > 0) {
            jw_member_i64(w, limits[i].name, *(const int64_t *)ms / 1000);
        }
    }
    jw_object_end(w);
    jw_key(w, STR("nodeTypes"));
    jw_object_begin(w);
    show_strings(w, STR("training"), r->training_types, r->training_types_count);
    show_strings(w, STR("workspace"), r->workspace_types, r->workspace_types_count);
    jw_object_end(w);
}
