// SPDX-License-Identifier: Apache-2.0
// Access keys: /api/v1/access-keys are one's own, /api/v1/administration/access-keys everybody's. Who
// signs in with one is its user.
#include "api/runai/people.h"

#include "io/random.h"

static void show_key(struct call *c, struct jw *w, const struct access_key *k, bool with_user)
{
    const struct user *u = with_user ? identity_user(identity_of(c), k->user) : NULL;
    jw_object_begin(w);
    show_uuid(w, STR("id"), k->id);
    show_uuid(w, STR("clientId"), k->id);
    jw_member_string(w, STR("name"), k->name);
    if (u != NULL) {
        jw_member_string(w, STR("createdBy"), u->name);
    }
    show_when(w, STR("createdAt"), k->stamp.created_ms);
    show_when(w, STR("lastLogin"), k->login_ms);
    jw_object_end(w);
}

/* ---- one's own ---- */

static bool is_user(struct call *c)
{
    struct err err;
    if (c->who.subject.kind == SUBJECT_USER && !c->who.subject.machine) {
        return true;
    }
    err_set(&err, STATUS_DENIED, "only users have access keys");
    err_hint(&err, c->who.subject.machine ? "over the local socket none is needed"
                                          : "a service account has its own secret");
    call_reject(c, &err);
    return false;
}

static void list(struct call *c)
{
    struct jw w;
    if (!is_user(c)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("accessKeys"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < identity_of(c)->keys_count; i++) {
        const struct access_key *k = &identity_of(c)->keys[i];
        if (uuid_eq(k->user, c->who.id)) {
            show_key(c, &w, k, false);
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

/* The key of the path; NULL: answered. own: and it is theirs. */
static const struct access_key *path_key(struct call *c, bool own)
{
    struct uuid id;
    const struct access_key *k = uuid_parse(c->segments.items[0], &id)
                                     ? identity_key(identity_of(c), id)
                                     : NULL;
    if (k == NULL || (own && !uuid_eq(k->user, c->who.id))) {
        fail_unknown(c, "access key", c->segments.items[0]);
        return NULL;
    }
    call_about(c, k->name);
    return k;
}

static void get(struct call *c)
{
    const struct access_key *k = path_key(c, true);
    struct jw w;
    if (k != NULL) {
        call_begin(c, &w);
        show_key(c, &w, k, false);
        call_send(c, 200);
    }
}

static void on_created(struct call *c, const struct outcome *outcome)
{
    const struct access_key *k = identity_key(identity_of(c), outcome->id);
    struct jw w;
    if (outcome->repeated || k == NULL) {
        fail_made_before(c, "access key", "access-keys");
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    show_uuid(&w, STR("id"), k->id);
    show_uuid(&w, STR("clientId"), k->id);
    jw_member_string(&w, STR("name"), k->name);
    jw_member_string(&w, STR("clientSecret"), c->secret);
    show_when(&w, STR("createdAt"), k->stamp.created_ms);
    jw_object_end(&w);
    call_send(c, 201);
}

static void create(struct call *c)
{
    struct identity_change change = {.op = IDENTITY_KEY_ADD};
    if (!is_user(c)) {
        return;
    }
    change.key = (struct access_key){.id = random_uuid(),
                                     .user = c->who.id,
                                     .name = body_str(c->body, STR("name")),
                                     .secret = call_secret(c)};
    people_change(c, &change, on_created);
}

static void new_secret(struct call *c)
{
    const struct access_key *k = path_key(c, true);
    struct identity_change change = {.op = IDENTITY_KEY_SECRET};
    if (k != NULL) {
        change.key.id = k->id;
        change.key.secret = call_secret(c);
        people_change(c, &change, answer_secret);
    }
}

static void remove_key(struct call *c, const struct access_key *k)
{
    struct identity_change change = {.op = IDENTITY_KEY_REMOVE};
    change.key.id = k->id;
    people_change(c, &change, answer_nothing);
}

static void delete(struct call *c)
{
    const struct access_key *k = path_key(c, true);
    if (k != NULL) {
        remove_key(c, k);
    }
}

/* ---- everybody's ---- */

static void list_all(struct call *c)
{
    struct str client = body_str(c->args, STR("clientId"));
    struct str by = body_str(c->args, STR("createdBy"));
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("accessKeys"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < identity_of(c)->keys_count; i++) {
        const struct access_key *k = &identity_of(c)->keys[i];
        const struct user *u = identity_user(identity_of(c), k->user);
        if ((client.len == 0 || str_eq(client, uuid_str(k->id, c->arena))) &&
            (by.len == 0 || (u != NULL && str_eq(by, u->name)))) {
            show_key(c, &w, k, true);
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void delete_any(struct call *c)
{
    const struct access_key *k = path_key(c, false);
    if (k != NULL) {
        remove_key(c, k);
    }
}

static const struct schema_row schemas[] = {
    {"AccessKeys",               "accessKeys* [AccessKey]"                             },
    {"AccessKey",
     "id* str, clientId* str, name* str, createdBy str, createdAt* ts?, lastLogin* ts?"},
    {"AccessKeyCreationRequest", "name* str(1..63)"                                    },
    {"AccessKeyPostResponse",
     "id* str, clientId* str, name* str, clientSecret* str, createdAt* ts?"            },
};

#define P     "/api/v1/access-keys"
#define ADMIN "/api/v1/administration/access-keys"

static const struct route routes[] = {
    {"GET",    P,                         "get_access_keys",                        list,       NULL,                          NULL,                       200, "AccessKeys", "One's own access keys",                              0,
     "self"                                                                                                                                                                                                                                                          },
    {"POST",   P,                         "create_access_key1",                     create,     NULL,                          "AccessKeyCreationRequest", 201,
     "AccessKeyPostResponse",                                                                                                                                                 "Create an access key; its secret is shown once",     0, "self"                        },
    {"GET",    P "/{accessKeyId}",        "get_access_key_by_id1",                  get,        NULL,                          NULL,                       200, "AccessKey",
     "One of one's own access keys",                                                                                                                                                                                                0, "self"                        },
    {"DELETE", P "/{accessKeyId}",        "delete_access_key_by_id",                delete,     NULL,                          NULL,                       204, NULL,
     "Delete one of one's own access keys",                                                                                                                                                                                         0, "self"                        },
    {"POST",   P "/{accessKeyId}/secret", "regenerate_access_key_secret",           new_secret, NULL,                          NULL,                       200,
     "ClientSecret",                                                                                                                                                          "Give it a new secret, shown once; the old one ends", 0, "self"                        },
    {"GET",    ADMIN,                     "get_access_keys_administration",         list_all,   "clientId str, createdBy str", NULL,
     200,                                                                                                                                                       "AccessKeys", "Everybody's access keys",                            0, "read access-keys at tenant"  },
    {"DELETE", ADMIN "/{accessKeyId}",    "delete_access_key_by_id_administration", delete_any, NULL,
     NULL,                                                                                                                                                 204, NULL,         "Delete anybody's access key",                        0, "delete access-keys at tenant"},
};

const struct route_group group_keys = ROUTE_GROUP("AccessKeys", routes, schemas);
