// SPDX-License-Identifier: Apache-2.0
// policy: the tables that describe it field by field. Tags are stored: append only, never reuse.
#include "model/policy.h"

static const struct field imposed_fields[] = {
    F_UUID(1, struct imposed, asset),
    F_BOOL(2, struct imposed, master),
};
static const struct record record_imposed = RECORD("imposed", struct imposed, imposed_fields);

static const struct field policy_fields[] = {
    F_UUID(1, struct policy, id),
    F_U32(2, struct policy, kind),
    F_U32(3, struct policy, scope.kind),
    F_U32(4, struct policy, scope.id),
    F_STR(5, struct policy, name),
    F_STR(6, struct policy, text),
    F_LIST(7, struct policy, imposed, record_imposed),
    STAMP_FIELDS(8, struct policy),
};
const struct record record_policy = RECORD("policy", struct policy, policy_fields);

static const struct field policies_fields[] = {
    F_I64(1, struct policies, revision),
    F_LIST(2, struct policies, rows, record_policy),
};
const struct record record_policies = RECORD("policies", struct policies, policies_fields);

static const struct field policy_change_fields[] = {
    F_U32(1, struct policy_change, op),
    F_RECORD(2, struct policy_change, policy, record_policy),
};
const struct record record_policy_change = RECORD("policy_change", struct policy_change,
                                                  policy_change_fields);

const struct policy *policy_find(const struct policies *p, uint32_t kind, struct scope scope)
{
    for (uint32_t i = 0; i < p->rows_count; i++) {
        const struct policy *row = &p->rows[i];
        if (row->kind == kind && row->scope.kind == scope.kind && row->scope.id == scope.id) {
            return row;
        }
    }
    return NULL;
}
