// SPDX-License-Identifier: Apache-2.0
// Service accounts: /api/v1/service-accounts. Their client id is their name; the secret is shown when
// it is made, and a new one ends what the old one began.
#include "api/runai/people.h"

#include "io/random.h"

static void show_account(struct jw *w, const struct application *a)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), a->id);
    jw_member_string(w, STR("name"), a->name);
    jw_member_string(w, STR("clientId"), a->name);
    jw_member_string(w, STR("createdBy"), a->stamp.created_by);
    show_when(w, STR("createdAt"), a->stamp.created_ms);
    show_when(w, STR("updatedAt"), a->stamp.updated_ms);
    jw_member_bool(w, STR("enabled"), a->enabled);
    show_id(w, STR("tenantId"), TENANT_ID);
    show_when(w, STR("lastLogin"), a->login_ms);
    jw_object_end(w);
}

static void list(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_array_begin(&w);
    for (uint32_t i = 0; i < identity_of(c)->applications_count; i++) {
        show_account(&w, &identity_of(c)->applications[i]);
    }
    jw_array_end(&w);
    call_send(c, 200);
}

static void get(struct call *c)
{
    const struct application *a = path_application(c);
    struct jw w;
    if (a != NULL) {
        call_begin(c, &w);
        show_account(&w, a);
        call_send(c, 200);
    }
}

static void on_created(struct call *c, const struct outcome *outcome)
{
    const struct application *a = identity_application(identity_of(c), outcome->id);
    struct jw w;
    if (outcome->repeated || a == NULL) {
        fail_made_before(c, "service account", "service-accounts");
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    show_uuid(&w, STR("id"), a->id);
    jw_member_string(&w, STR("name"), a->name);
    jw_member_string(&w, STR("clientId"), a->name);
    jw_member_string(&w, STR("clientSecret"), c->secret);
    jw_object_end(&w);
    call_send(c, 201);
}

static void create(struct call *c)
{
    struct identity_change change = {.op = IDENTITY_APPLICATION_ADD};
    change.application.id = random_uuid();
    change.application.name = body_str(c->body, STR("name"));
    change.application.secret = call_secret(c);
    people_change(c, &change, on_created);
}

static bool may(struct call *c, const struct application *a, enum right right)
{
    return a != NULL && people_manage(c, ENTITY_SERVICE_ACCOUNTS, right, SUBJECT_APPLICATION,
                                      a->name, &a->stamp);
}

static void enable(struct call *c)
{
    const struct application *a = path_application(c);
    struct identity_change change = {.op = IDENTITY_APPLICATION_ENABLE};
    if (may(c, a, RIGHT_UPDATE)) {
        change.application.id = a->id;
        change.application.enabled = body_bool(c->body, STR("enabled"), true);
        people_change(c, &change, answer_object);
    }
}

static void new_secret(struct call *c)
{
    const struct application *a = path_application(c);
    struct identity_change change = {.op = IDENTITY_APPLICATION_SECRET};
    if (may(c, a, RIGHT_UPDATE)) {
        change.application.id = a->id;
        change.application.secret = call_secret(c);
        people_change(c, &change, answer_secret);
    }
}

static void delete(struct call *c)
{
    const struct application *a = path_application(c);
    struct identity_change change = {.op = IDENTITY_APPLICATION_REMOVE};
    if (may(c, a, RIGHT_DELETE)) {
        change.application.id = a->id;
        people_change(c, &change, answer_nothing);
    }
}

static const struct schema_row schemas[] = {
    {"ServiceAccount",                "id* str, name* str, clientId* str, createdBy* str, createdAt* ts?, "
                       "updatedAt* ts?, enabled* bool, tenantId str, lastLogin* ts?"},
    {"ServiceAccountCreationRequest", "name* str(1..63)"                                                  },
    {"ServiceAccountPostResponse",    "id* str, name* str, clientSecret* str, clientId str"               },
    {"ServiceAccountPatchRequest",    "enabled* bool"                                                     },
    {"ClientSecret",                  "clientSecret str"                                                  },
};

#define P "/api/v1/service-accounts"

static const struct route routes[] = {
    {"GET",    P,                              "get_service_accounts",              list,       NULL, NULL,                            200, "[ServiceAccount]",
     "Service accounts",                                                                                                                                                                                              0, "read service-account"  },
    {"POST",   P,                              "create_service_account",            create,     NULL, "ServiceAccountCreationRequest", 201,
     "ServiceAccountPostResponse",                                                                                                                              "Create a service account; its secret is shown once", 0,
     "create service-account anywhere"                                                                                                                                                                                                           },
    {"GET",    P "/{serviceAccountId}",        "get_service_account_by_id",         get,        NULL, NULL,                            200,
     "ServiceAccount",                                                                                                                                          "One service account",                                0, "read service-account"  },
    {"PATCH",  P "/{serviceAccountId}",        "update_service_account_by_id",      enable,     NULL,
     "ServiceAccountPatchRequest",                                                                                                     200, "obj",              "Enable or disable a service account",                0,
     "update service-account"                                                                                                                                                                                                                    },
    {"DELETE", P "/{serviceAccountId}",        "delete_service_account_by_id",      delete,     NULL, NULL,                            204,
     NULL,                                                                                                                                                      "Delete a service account with its access rules",     0, "delete service-account"},
    {"POST",   P "/{serviceAccountId}/secret", "regenerate_service_account_secret", new_secret, NULL,
     NULL,                                                                                                                             200, "ClientSecret",     "Give it a new secret, shown once; the old one ends", 0,
     "update service-account"                                                                                                                                                                                                                    },
};

const struct route_group group_accounts = ROUTE_GROUP("ServiceAccounts", routes, schemas);
