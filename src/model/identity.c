// SPDX-License-Identifier: Apache-2.0
// identity: the tables that describe it field by field. Tags are stored: append only, never reuse.
#include "model/identity.h"

static const struct field user_fields[] = {
    F_UUID(1, struct user, id),
    F_STR(2, struct user, name),
    F_STR(3, struct user, password),
    F_BOOL(4, struct user, local),
    F_BOOL(5, struct user, change_password),
    F_LIST(6, struct user, groups, record_str_item),
    F_I64(7, struct user, login_ms),
    F_U32(8, struct user, generation),
    STAMP_FIELDS(9, struct user),
    F_STR(13, struct user, provider),
    F_STR(14, struct user, subject),
};
const struct record record_user = RECORD("user", struct user, user_fields);

static const struct field application_fields[] = {
    F_UUID(1, struct application, id),      F_STR(2, struct application, name),
    F_STR(3, struct application, secret),   F_BOOL(4, struct application, enabled),
    F_I64(5, struct application, login_ms), F_U32(6, struct application, generation),
    STAMP_FIELDS(7, struct application),
};
const struct record record_application = RECORD("application", struct application,
                                                application_fields);

static const struct field access_key_fields[] = {
    F_UUID(1, struct access_key, id),      F_UUID(2, struct access_key, user),
    F_STR(3, struct access_key, name),     F_STR(4, struct access_key, secret),
    F_I64(5, struct access_key, login_ms), F_U32(6, struct access_key, generation),
    STAMP_FIELDS(7, struct access_key),
};
const struct record record_access_key = RECORD("access_key", struct access_key, access_key_fields);

static const struct field permission_fields[] = {
    F_U32(1, struct permission, entity),
    F_U32(2, struct permission, rights),
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

static const struct field provider_fields[] = {
    F_STR(1, struct provider, alias),
    F_STR(2, struct provider, client_id),
    F_STR(3, struct provider, client_secret),
    F_STR(4, struct provider, discovery_url),
    F_LIST(5, struct provider, scopes, record_str_item),
    F_STR(6, struct provider, must_claim),
    F_LIST(7, struct provider, must_values, record_str_item),
    F_STR(8, struct provider, claims[CLAIM_EMAIL]),
    F_STR(9, struct provider, claims[CLAIM_GROUPS]),
    F_STR(10, struct provider, claims[CLAIM_UID]),
    F_STR(11, struct provider, claims[CLAIM_GID]),
    F_STR(12, struct provider, claims[CLAIM_SUPPLEMENTARY_GROUPS]),
    STAMP_FIELDS(13, struct provider),
};
const struct record record_provider = RECORD("provider", struct provider, provider_fields);

static const struct field identity_fields[] = {
    F_I64(1, struct identity, revision),
    F_U32(2, struct identity, roles_made),
    F_U32(3, struct identity, rules_made),
    F_BOOL(4, struct identity, protect_ownership),
    F_LIST(5, struct identity, users, record_user),
    F_LIST(6, struct identity, applications, record_application),
    F_LIST(7, struct identity, keys, record_access_key),
    F_LIST(8, struct identity, roles, record_role),
    F_LIST(9, struct identity, rules, record_access_rule),
    F_LIST(10, struct identity, providers, record_provider),
};
const struct record record_identity = RECORD("identity", struct identity, identity_fields);

static const struct field identity_change_fields[] = {
    F_U32(1, struct identity_change, op),
    F_RECORD(2, struct identity_change, user, record_user),
    F_RECORD(3, struct identity_change, application, record_application),
    F_RECORD(4, struct identity_change, key, record_access_key),
    F_RECORD(5, struct identity_change, role, record_role),
    F_RECORD(6, struct identity_change, rule, record_access_rule),
    F_BOOL(7, struct identity_change, protect_ownership),
    F_RECORD(8, struct identity_change, provider, record_provider),
};
const struct record record_identity_change = RECORD("identity_change", struct identity_change,
                                                    identity_change_fields);

/* ---- looking up ---- */

const struct user *identity_user(const struct identity *i, struct uuid id)
{
    for (uint32_t k = 0; k < i->users_count; k++) {
        if (uuid_eq(i->users[k].id, id)) {
            return &i->users[k];
        }
    }
    return NULL;
}

const struct user *identity_user_named(const struct identity *i, struct str name)
{
    for (uint32_t k = 0; k < i->users_count; k++) {
        if (str_eq(i->users[k].name, name)) {
            return &i->users[k];
        }
    }
    return NULL;
}

const struct user *identity_user_of(const struct identity *i, struct str provider,
                                    struct str subject)
{
    for (uint32_t k = 0; k < i->users_count; k++) {
        if (!i->users[k].local && str_eq(i->users[k].subject, subject) &&
            str_eq(i->users[k].provider, provider)) {
            return &i->users[k];
        }
    }
    return NULL;
}

const struct provider *identity_provider(const struct identity *i, struct str alias)
{
    for (uint32_t k = 0; k < i->providers_count; k++) {
        if (str_eq(i->providers[k].alias, alias)) {
            return &i->providers[k];
        }
    }
    return NULL;
}

struct str provider_claim_name(const struct provider *p, enum provider_claim claim)
{
    static const struct str usual[PROVIDER_CLAIMS] = {
        [CLAIM_EMAIL] = STRS("email"),
        [CLAIM_GROUPS] = STRS("GROUPS"),
        [CLAIM_UID] = STRS("UID"),
        [CLAIM_GID] = STRS("GID"),
        [CLAIM_SUPPLEMENTARY_GROUPS] = STRS("SUPPLEMENTARYGROUPS"),
    };
    return p->claims[claim].len > 0 ? p->claims[claim] : usual[claim];
}

const struct application *identity_application(const struct identity *i, struct uuid id)
{
    for (uint32_t k = 0; k < i->applications_count; k++) {
        if (uuid_eq(i->applications[k].id, id)) {
            return &i->applications[k];
        }
    }
    return NULL;
}

const struct application *identity_application_named(const struct identity *i, struct str name)
{
    for (uint32_t k = 0; k < i->applications_count; k++) {
        if (str_eq(i->applications[k].name, name)) {
            return &i->applications[k];
        }
    }
    return NULL;
}

const struct access_key *identity_key(const struct identity *i, struct uuid id)
{
    for (uint32_t k = 0; k < i->keys_count; k++) {
        if (uuid_eq(i->keys[k].id, id)) {
            return &i->keys[k];
        }
    }
    return NULL;
}

const struct role *identity_role(const struct identity *i, uint32_t id)
{
    for (uint32_t k = 0; k < i->roles_count; k++) {
        if (i->roles[k].id == id) {
            return &i->roles[k];
        }
    }
    return NULL;
}

const struct access_rule *identity_rule(const struct identity *i, uint32_t id)
{
    for (uint32_t k = 0; k < i->rules_count; k++) {
        if (i->rules[k].id == id) {
            return &i->rules[k];
        }
    }
    return NULL;
}
