// SPDX-License-Identifier: Apache-2.0
// identity: the tables that describe it field by field. Tags are stored: append only, never reuse.
#include "model/identity.h"

#define STAMP_FIELDS(first, type)                                                       \
    F_I64((first), type, stamp.created_ms), F_I64((first) + 1, type, stamp.updated_ms), \
        F_STR((first) + 2, type, stamp.created_by), F_STR((first) + 3, type, stamp.updated_by)

static const struct field user_fields[] = {
    F_UUID(1, struct user, id),
    F_STR(2, struct user, name),
    F_STR(3, struct user, password),
    F_BOOL(4, struct user, local),
    F_BOOL(5, struct user, change_password),
    F_LIST(6, struct user, groups, record_str_item),
    F_I64(7, struct user, login_ms),
    F_I64(8, struct user, tokens_from_ms),
    STAMP_FIELDS(9, struct user),
};
const struct record record_user = RECORD("user", struct user, user_fields);

static const struct field application_fields[] = {
    F_UUID(1, struct application, id),      F_STR(2, struct application, name),
    F_STR(3, struct application, secret),   F_BOOL(4, struct application, enabled),
    F_I64(5, struct application, login_ms), F_I64(6, struct application, tokens_from_ms),
    STAMP_FIELDS(7, struct application),
};
const struct record record_application = RECORD("application", struct application,
                                                application_fields);

static const struct field access_key_fields[] = {
    F_UUID(1, struct access_key, id),      F_UUID(2, struct access_key, user),
    F_STR(3, struct access_key, name),     F_STR(4, struct access_key, secret),
    F_I64(5, struct access_key, login_ms), F_I64(6, struct access_key, tokens_from_ms),
    STAMP_FIELDS(7, struct access_key),
};
const struct record record_access_key = RECORD("access_key", struct access_key, access_key_fields);

static const struct field permission_fields[] = {
    F_U32(1, struct permission, entity),
    F_U32(2, struct permission, actions),
};
static const struct record record_permission = RECORD("permission", struct permission,
                                                      permission_fields);

static const struct field role_fields[] = {
    F_U32(1, struct role, id),
    F_STR(2, struct role, name),
    F_STR(3, struct role, description),
    F_BOOL(4, struct role, disabled),
    F_LIST(5, struct role, permissions, record_permission),
    STAMP_FIELDS(6, struct role),
};
const struct record record_role = RECORD("role", struct role, role_fields);

static const struct field access_rule_fields[] = {
    F_U32(1, struct access_rule, id),         F_U32(2, struct access_rule, subject_kind),
    F_STR(3, struct access_rule, subject),    F_U32(4, struct access_rule, role),
    F_U32(5, struct access_rule, scope.kind), F_U32(6, struct access_rule, scope.id),
    F_BOOL(7, struct access_rule, from_plan), STAMP_FIELDS(8, struct access_rule),
};
const struct record record_access_rule = RECORD("access_rule", struct access_rule,
                                                access_rule_fields);

static const struct field identity_fields[] = {
    F_I64(1, struct identity, revision),
    F_U32(2, struct identity, next_role),
    F_U32(3, struct identity, next_rule),
    F_BOOL(4, struct identity, protect_ownership),
    F_LIST(5, struct identity, users, record_user),
    F_LIST(6, struct identity, applications, record_application),
    F_LIST(7, struct identity, keys, record_access_key),
    F_LIST(8, struct identity, roles, record_role),
    F_LIST(9, struct identity, rules, record_access_rule),
};
const struct record record_identity = RECORD("identity", struct identity, identity_fields);
