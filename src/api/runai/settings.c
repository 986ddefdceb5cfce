// SPDX-License-Identifier: Apache-2.0
// Tenant settings: /v1/k8s/setting. Those of the product's that mean something here, and ours.
#include "api/runai/people.h"

enum { SHOWN_MAX = 100 };

enum setting_id { SETTING_DEPARTMENTS, SETTING_OWNERSHIP, SETTING_COUNT };
static const struct setting {
    struct str key, category, label, description;
    bool fixed; /* it is on, and stays so */
} settings[SETTING_COUNT] = {
    [SETTING_DEPARTMENTS] = {STRS("department.use"),                STRS("General"),   STRS("Departments"),
                             STRS("Projects belong to departments"), true},
    [SETTING_OWNERSHIP] = {STRS("workload.ownership-protection"), STRS("Workloads"),
                             STRS("Ownership protection"),
                             STRS("Only who submitted a workload, and who administers access, may "
                                "change it"),
                             false                                       },
};

static bool value_of(const struct call *c, enum setting_id id)
{
    return settings[id].fixed || identity_of(c)->protect_ownership;
}

static bool key_eq(struct str a, struct str b)
{
    for (uint32_t i = 0; i < a.len && a.len == b.len; i++) {
        char x = a.ptr[i] == '_' ? '-' : a.ptr[i];
        char y = b.ptr[i] == '_' ? '-' : b.ptr[i];
        if (x != y) {
            return false;
        }
    }
    return a.len == b.len;
}

/* SETTING_COUNT: answered. */
static enum setting_id find(struct call *c, struct str key)
{
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        if (key_eq(settings[i].key, key)) {
            return (enum setting_id)i;
        }
    }
    fail_unknown(c, "setting", str_clip(key, SHOWN_MAX));
    return SETTING_COUNT;
}

static void list(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_array_begin(&w);
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *s = &settings[i];
        jw_object_begin(&w);
        jw_member_string(&w, STR("key"), s->key);
        jw_member_string(&w, STR("type"), STR("Boolean"));
        jw_member_string(&w, STR("value"),
                         value_of(c, (enum setting_id)i) ? STR("true") : STR("false"));
        jw_member_bool(&w, STR("active"), true);
        jw_member_string(&w, STR("category"), s->category);
        jw_member_string(&w, STR("label"), s->label);
        jw_member_string(&w, STR("description"), s->description);
        jw_member_string(&w, STR("source"), s->fixed ? STR("weir") : STR("tenant"));
        jw_object_end(&w);
    }
    jw_array_end(&w);
    call_send(c, 200);
}

static void get(struct call *c)
{
    enum setting_id id = find(c, c->segments.items[0]);
    struct jw w;
    if (id != SETTING_COUNT) {
        call_begin(c, &w);
        jw_bool(&w, value_of(c, id));
        call_send(c, 200);
    }
}

static void answer_set(struct call *c, const struct outcome *outcome)
{
    struct jw w;
    (void)outcome;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("msg"), STR("the setting is changed"));
    jw_object_end(&w);
    call_send(c, 200);
}

static void set(struct call *c)
{
    struct identity_change change = {.op = IDENTITY_PROTECT};
    const struct doc *value = body_get(c->body, STR("value"));
    enum setting_id id = find(c, body_str(c->body, STR("key")));
    if (id == SETTING_COUNT) {
        return;
    }
    bool on = value != NULL && (value->boolean || str_eq(value->text, STR("true")));
    bool off = value != NULL &&
               ((value->kind == DOC_BOOL && !value->boolean) || str_eq(value->text, STR("false")));
    if (!on && !off) {
        fail_field(c, "value", STR(""), "expected true or false");
        return;
    }
    if (settings[id].fixed && off) {
        fail_field(c, "value", STR("false"), STR_FMT " is always on", STR_ARG(settings[id].key));
        return;
    }
    if (settings[id].fixed) {
        answer_set(c, NULL);
        return;
    }
    change.protect_ownership = on;
    people_change(c, &change, answer_set);
}

static const struct schema_row schemas[] = {
    {"Setting",                       "key* str, type* str, value* str, active* bool, category str, description str, "
                "label str, source str"             },
    {"TenantSettingCreationRequest",  "key* str(1..253), value any"},
    {"TenantSettingCreationResponse", "msg* str"                   },
};

#define P "/v1/k8s/setting"

static const struct route routes[] = {
    {"GET", P,                 "get_tenant_settings",        list, NULL, NULL,                           200, "[Setting]", "Tenant settings", 0,
     "read settings at tenant"                                                                                                                                            },
    {"PUT", P,                 "update_tenant_setting",      set,  NULL, "TenantSettingCreationRequest", 200,
     "TenantSettingCreationResponse",                                                                                      "Change one",      0,
     "update settings, update cluster-config at tenant"                                                                                                                   },
    {"GET", P "/{settingKey}", "get_tenant_settings_by_key", get,  NULL, NULL,                           200, "bool",
     "The value of one",                                                                                                                      0, "read settings at tenant"},
};

const struct route_group group_settings = ROUTE_GROUP("Settings", routes, schemas);
