// SPDX-License-Identifier: Apache-2.0
// Users: /api/v1/users, /api/v1/me/password. Made here are local ones; those of an identity provider
// are there once they have signed in.
#include "api/runai/people.h"

#include "api/guard.h"
#include "io/random.h"

enum { PASSWORD_TRIES = 5 };

/* ---- showing ---- */

static void show_user(struct jw *w, const struct user *u)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), u->id);
    jw_member_string(w, STR("username"), u->name);
    jw_member_string(w, STR("createdBy"), u->stamp.created_by);
    show_when(w, STR("createdAt"), u->stamp.created_ms);
    show_when(w, STR("updatedAt"), u->stamp.updated_ms);
    show_when(w, STR("lastLogin"), u->login_ms);
    jw_member_bool(w, STR("isLocal"), u->local);
    show_strings(w, STR("groups"), u->groups, u->groups_count);
    jw_object_end(w);
}

/* ---- lists ---- */

static const struct column columns[] = {
    {"username",     COLUMN_TEXT},
    {"createdBy",    COLUMN_TEXT},
    {"lastLogin",    COLUMN_TIME},
    {"creationTime", COLUMN_TIME},
    {"lastUpdated",  COLUMN_TIME},
    {"isLocal",      COLUMN_TEXT},
    {"type",         COLUMN_TEXT},
};
#define SORT_WORDS "'username'|'createdBy'|'lastLogin'|'creationTime'|'lastUpdated'|'type'"

static struct cell user_cell(void *ctx, uint32_t row, uint32_t column)
{
    const struct user *u = &identity_of(ctx)->users[row];
    switch (column) {
    case 0:
        return cell_text(u->name);
    case 1:
        return cell_text(u->stamp.created_by);
    case 2:
        return cell_time(u->login_ms);
    case 3:
        return cell_time(u->stamp.created_ms);
    case 4:
        return cell_time(u->stamp.updated_ms);
    case 5:
        return cell_text(u->local ? STR("true") : STR("false"));
    default:
        return cell_text(u->local ? STR("local") : STR("sso"));
    }
}

static struct str user_name(void *ctx, uint32_t row)
{
    return identity_of(ctx)->users[row].name;
}

static struct list user_list(struct call *c)
{
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COUNT_OF(columns),
                         .cell = user_cell,
                         .name = user_name,
                         .ctx = c,
                         .rows_count = identity_of(c)->users_count};
}

static void list(struct call *c)
{
    struct list l = user_list(c);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_user(&w, &identity_of(c)->users[l.rows[i]]);
    }
    jw_array_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct list l = user_list(c);
    list_count(&l);
}

static void get(struct call *c)
{
    const struct user *u = path_user(c);
    struct jw w;
    if (u != NULL) {
        call_begin(c, &w);
        show_user(&w, u);
        call_send(c, 200);
    }
}

/* ---- making one ---- */

static void on_created(struct call *c, const struct outcome *outcome)
{
    const struct user *u = identity_user(identity_of(c), outcome->id);
    struct jw w;
    struct err err;
    if (outcome->repeated || u == NULL) {
        err_set(&err, STATUS_CONFLICT, "this user was made before; its password is shown once");
        err_hint(&err, "POST /api/v1/users/ID/password makes a new one");
        call_fail(c, &err);
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    show_uuid(&w, STR("id"), u->id);
    jw_member_string(&w, STR("username"), u->name);
    jw_member_string(&w, STR("tempPassword"), c->secret);
    jw_object_end(&w);
    call_send(c, 201);
}

static void create_with(struct call *c, struct str hash)
{
    struct identity_change change = {.op = IDENTITY_USER_ADD};
    change.user.id = random_uuid();
    change.user.name = name_lower(body_str(c->body, STR("email")), c->arena);
    change.user.local = true;
    change.user.password = hash;
    change.user.change_password = body_bool(c->body, STR("resetPassword"), false);
    change.user.groups = body_strings(body_get(c->body, STR("groups")), c->arena,
                                      &change.user.groups_count);
    people_change(c, &change, on_created);
}

static void create(struct call *c)
{
    c->secret = password_random(c);
    call_password_hash(c, c->secret, create_with);
}

/* ---- passwords ---- */

static bool is_local(struct call *c, const struct user *u)
{
    struct err err;
    if (u->local) {
        return true;
    }
    err_set(&err, STATUS_CONFLICT, "user " STR_FMT " signs in with an identity provider",
            STR_ARG(u->name));
    err_hint(&err, "its password is changed there");
    call_reject(c, &err);
    return false;
}

static void on_reset(struct call *c, const struct outcome *outcome)
{
    struct jw w;
    (void)outcome;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("tempPassword"), c->secret);
    jw_object_end(&w);
    call_send(c, 200);
}

static void reset_with(struct call *c, struct str hash)
{
    struct identity_change change = {.op = IDENTITY_USER_PASSWORD};
    const struct user *u = path_user(c);
    if (u == NULL) {
        return;
    }
    change.user = (struct user){.id = u->id, .password = hash, .change_password = true};
    people_change(c, &change, on_reset);
}

static void reset_password(struct call *c)
{
    const struct user *u = path_user(c);
    if (u != NULL && is_local(c, u) &&
        people_manage(c, ENTITY_USERS, RIGHT_UPDATE, SUBJECT_USER, u->name, &u->stamp)) {
        c->secret = password_random(c);
        call_password_hash(c, c->secret, reset_with);
    }
}

static const struct user *self(struct call *c)
{
    const struct user *u = c->session.kind == SESSION_USER
                               ? identity_user(identity_of(c), c->session.id)
                               : NULL;
    if (u == NULL) {
        struct err err;
        err_set(&err, STATUS_DENIED, "only who signed in with a password can change it");
        call_reject(c, &err);
    }
    return u;
}

static void change_with(struct call *c, struct str hash)
{
    struct identity_change change = {.op = IDENTITY_USER_PASSWORD};
    change.user = (struct user){.id = c->session.id, .password = hash};
    people_change(c, &change, answer_object);
}

static struct str guard_key(struct call *c)
{
    return arena_printf(c->arena, "password of " STR_FMT, STR_ARG(c->user));
}

static void on_current(struct call *c, bool ok)
{
    struct err err;
    if (ok) {
        guard_clear(c->api->guard, guard_key(c));
        call_password_hash(c, body_str(c->body, STR("newPassword")), change_with);
        return;
    }
    guard_failed(c->api->guard, guard_key(c), c->api->config.now_ms());
    err_set(&err, STATUS_DENIED, "the current password is another one");
    err_field(&err, "currentPassword");
    call_reject(c, &err);
}

static void change_password(struct call *c)
{
    const struct user *u = self(c);
    struct err err;
    if (u == NULL || !is_local(c, u)) {
        return;
    }
    int64_t wait_ms = guard_wait_ms(c->api->guard, guard_key(c), PASSWORD_TRIES,
                                    c->api->config.now_ms());
    if (wait_ms > 0) {
        err_set(&err, STATUS_DENIED, "too many wrong attempts");
        err_hint(&err, "try again in %lld seconds", (long long)(wait_ms + 999) / 1000);
        call_reject(c, &err);
        return;
    }
    call_password_check(c, u->password, body_str(c->body, STR("currentPassword")), on_current);
}

/* ---- groups, signing out, removing ---- */

static void set_groups(struct call *c)
{
    const struct user *u = path_user(c);
    struct identity_change change = {.op = IDENTITY_USER_GROUPS};
    if (u == NULL || !is_local(c, u) || !call_may(c, ENTITY_USERS, RIGHT_UPDATE, SCOPE_OF_TENANT)) {
        return; /* a group may give any role anywhere: only over the tenant */
    }
    change.user.id = u->id;
    change.user.groups = body_strings(body_get(c->body, STR("groups")), c->arena,
                                      &change.user.groups_count);
    people_change(c, &change, answer_object);
}

static void sign_out(struct call *c)
{
    const struct user *u = path_user(c);
    struct identity_change change = {.op = IDENTITY_SIGN_OUT};
    if (u == NULL) {
        return;
    }
    change.user.id = u->id;
    bool own = c->who.subject.kind == SUBJECT_USER && uuid_eq(c->who.id, u->id);
    if (own || people_manage(c, ENTITY_USERS, RIGHT_UPDATE, SUBJECT_USER, u->name, &u->stamp)) {
        people_change(c, &change, answer_object);
    }
}

static void delete(struct call *c)
{
    const struct user *u = path_user(c);
    struct identity_change change = {.op = IDENTITY_USER_REMOVE};
    if (u != NULL &&
        people_manage(c, ENTITY_USERS, RIGHT_DELETE, SUBJECT_USER, u->name, &u->stamp)) {
        change.user.id = u->id;
        people_change(c, &change, answer_nothing);
    }
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"User",                      "id* str, username* str, createdBy* str, createdAt* ts?, updatedAt* ts?, lastLogin* "
             "ts?, isLocal* bool?, groups [str]"                                            },
    {"UserCreationRequest",       "email* str(1..254), resetPassword bool?, notify bool?, groups [str]?"},
    {"UserPostResponse",          "id* str, username* str, tempPassword* str"                           },
    {"UserChangePasswordRequest", "currentPassword* str, newPassword* str"                              },
    {"UserGroups",                "groups* [str]"                                                       },
    {"TempPassword",              "tempPassword str"                                                    },
};

#define P "/api/v1/users"

static const struct route routes[] = {
    {"GET",    P,                      "get_users",            list,
     "filter str, " FILTER_ARGS ", sortBy " SORT_WORDS ", " ORDER_ARG
     ", offset int(0..) = 0, limit int(1..500) = 500, search str",                                          NULL,                  200, "[User]",           "Users",                                  0, "read users"            },
    {"POST",   P,                      "create_user",          create,          NULL,                       "UserCreationRequest", 201, "UserPostResponse",
     "Create a local user; its password is shown once",                                                                                                                                               0, "create users anywhere" },
    {"GET",    P "/count",             "count_users",          count,           FILTER_ARGS ", search str", NULL,                  200,
     "CountResponse",                                                                                                                                       "How many users",                         0, "read users"            },
    {"GET",    P "/{userId}",          "get_user_by_id",       get,             NULL,                       NULL,                  200, "User",             "One user",                               0,
     "read users"                                                                                                                                                                                                                },
    {"DELETE", P "/{userId}",          "delete_user_by_id",    delete,          NULL,                       NULL,                  204, NULL,
     "Delete a user with its keys and access rules",                                                                                                                                                  0, "delete users"          },
    {"POST",   P "/{userId}/logout",   "logout_user",          sign_out,        NULL,                       NULL,                  200, "obj",
     "End the sessions of a user",                                                                                                                                                                    0, "self"                  },
    {"POST",   P "/{userId}/password", "reset_user_password",  reset_password,  NULL,                       NULL,                  200,
     "TempPassword",                                                                                                                                        "Give a user a new password, shown once", 0, "update users"          },
    {"PUT",    P "/{userId}/groups",   "set_user_groups",      set_groups,      NULL,                       "UserGroups",          200, "obj",
     "Put a local user into groups",                                                                                                                                                                  0, "update users at tenant"},
    {"POST",   "/api/v1/me/password",  "change_user_password", change_password, NULL,
     "UserChangePasswordRequest",                                                                                                  200, "obj",              "Change one's own password",              0, "self"                  },
};

const struct route_group group_users = ROUTE_GROUP("Users", routes, schemas);
