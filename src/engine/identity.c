// SPDX-License-Identifier: Apache-2.0
// identity: users, service accounts and access keys come, change and go. What goes takes along what
// only it gave sense to: a user its keys and rules, a service account its rules.
//
// Somebody administers: once a user or a service account has the role of system administrator over
// the tenant, no change leaves nobody with it. (Over the local socket the machine's administrator
// may everything in any case.)
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "engine/machine.h"
#include "model/limits.h"

#define REFUSE(out, field, ...)                                        \
    ((out)->status = err_set(&(out)->err, (out)->status, __VA_ARGS__), \
     err_field(&(out)->err, "%s", (field)), false)

enum { NAME_SHOWN = 100 };

/* ---- names and texts ---- */

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// ^[a-z][-_a-z0-9]*[a-z0-9]$
static bool client_name_ok(struct str s)
{
    if (s.len < 2 || s.len > CLIENT_NAME_LEN_MAX || !is_lower(s.ptr[0]) ||
        s.ptr[s.len - 1] == '-' || s.ptr[s.len - 1] == '_') {
        return false;
    }
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!is_lower(c) && !is_digit(c) && c != '-' && c != '_') {
            return false;
        }
    }
    return true;
}

// One @ with something on both sides; visible, and no capital letters of ASCII.
static bool user_name_ok(struct str s)
{
    uint32_t at = str_find(s, '@');
    if (at == 0 || at + 1 >= s.len || s.len > IDENTITY_NAME_LEN_MAX || !str_is_utf8(s) ||
        str_find(str_sub(s, at + 1, s.len), '@') < s.len - at - 1) {
        return false;
    }
    for (uint32_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c <= ' ' || c == 0x7f || (c >= 'A' && c <= 'Z')) {
            return false;
        }
    }
    return true;
}

static bool text_ok(struct str s, uint32_t max)
{
    return s.len <= max && str_is_utf8(s);
}

static bool groups_ok(const struct user *u, struct outcome *out)
{
    out->status = STATUS_INVALID;
    if (u->groups_count > USER_GROUPS_MAX) {
        return REFUSE(out, "groups", "%u groups are given, at most %u are possible",
                      u->groups_count, USER_GROUPS_MAX);
    }
    for (uint32_t i = 0; i < u->groups_count; i++) {
        struct str g = u->groups[i].value;
        if (g.len == 0 || !text_ok(g, GROUP_LEN_MAX)) {
            return REFUSE(out, "groups", "a group's name has 1 to %u bytes", GROUP_LEN_MAX);
        }
    }
    out->status = STATUS_OK;
    return true;
}

static bool secret_ok(struct str s, const char *field, struct outcome *out)
{
    out->status = STATUS_INVALID;
    if (!text_ok(s, SECRET_LEN_MAX)) {
        return REFUSE(out, field, "a hash has at most %u bytes", SECRET_LEN_MAX);
    }
    out->status = STATUS_OK;
    return true;
}

static bool room(uint32_t count, uint32_t max, const char *what, struct outcome *out)
{
    if (count < max) {
        return true;
    }
    out->status = err_set(&out->err, STATUS_TOO_LARGE, "there are %u %s, as many as there may be",
                          count, what);
    err_hint(&out->err, "remove those that nobody uses");
    return false;
}

static bool fresh(struct uuid id, const struct identity *d, struct outcome *out)
{
    if (!uuid_is_zero(id) && identity_user(d, id) == NULL && identity_application(d, id) == NULL &&
        identity_key(d, id) == NULL) {
        return true;
    }
    out->status = err_set(&out->err, STATUS_CONFLICT, "the id is taken, or missing");
    return false;
}

static bool unknown(const char *what, struct uuid id, struct outcome *out)
{
    char text[UUID_TEXT_LEN + 1];
    uuid_format(id, text);
    out->status = err_set(&out->err, STATUS_UNKNOWN, "there is no %s %s", what, text);
    return false;
}

static bool taken(const char *what, struct str name, struct outcome *out)
{
    out->status = err_set(&out->err, STATUS_CONFLICT, "there is a %s \"" STR_FMT "\" already", what,
                          STR_ARG(str_sub(name, 0, NAME_SHOWN)));
    err_field(&out->err, "name");
    return false;
}

/* ---- checks ---- */

static bool user_name_is(struct str name, const char *field, struct outcome *out)
{
    out->status = STATUS_INVALID;
    if (!user_name_ok(name)) {
        return REFUSE(out, field,
                      "a user is named by an e-mail address in lower case, at most %u bytes, "
                      "not \"" STR_FMT "\"",
                      IDENTITY_NAME_LEN_MAX, STR_ARG(str_sub(name, 0, NAME_SHOWN)));
    }
    out->status = STATUS_OK;
    return true;
}

static bool user_new_ok(const struct identity *d, const struct user *u, const char *field,
                        struct outcome *out)
{
    return user_name_is(u->name, field, out) && room(d->users_count, USERS_MAX, "users", out) &&
           fresh(u->id, d, out);
}

static bool user_add_ok(const struct identity *d, const struct user *u, struct outcome *out)
{
    return user_new_ok(d, u, "name", out) && secret_ok(u->password, "password", out) &&
           groups_ok(u, out) &&
           (identity_user_named(d, u->name) == NULL || taken("user", u->name, out));
}

static bool client_name_is(struct str name, const char *what, struct outcome *out)
{
    out->status = STATUS_INVALID;
    if (!client_name_ok(name)) {
        return REFUSE(out, "name",
                      "%s has a name of 2 to %u small letters, digits, - and _, beginning with a "
                      "letter and ending with a letter or digit, not \"" STR_FMT "\"",
                      what, CLIENT_NAME_LEN_MAX, STR_ARG(str_sub(name, 0, NAME_SHOWN)));
    }
    out->status = STATUS_OK;
    return true;
}

static bool application_add_ok(const struct identity *d, const struct application *a,
                               struct outcome *out)
{
    return client_name_is(a->name, "a service account", out) &&
           secret_ok(a->secret, "secret", out) &&
           room(d->applications_count, APPLICATIONS_MAX, "service accounts", out) &&
           fresh(a->id, d, out) &&
           (identity_application_named(d, a->name) == NULL ||
            taken("service account", a->name, out));
}

static bool key_add_ok(const struct identity *d, const struct access_key *k, struct outcome *out)
{
    uint32_t count = 0;
    if (!client_name_is(k->name, "an access key", out) || !secret_ok(k->secret, "secret", out) ||
        !fresh(k->id, d, out)) {
        return false;
    }
    if (identity_user(d, k->user) == NULL) {
        return unknown("user", k->user, out);
    }
    for (uint32_t i = 0; i < d->keys_count; i++) {
        if (uuid_eq(d->keys[i].user, k->user)) {
            count++;
            if (str_eq(d->keys[i].name, k->name)) {
                return taken("access key", k->name, out);
            }
        }
    }
    return room(count, USER_KEYS_MAX, "access keys of this user", out);
}

// A name is one person's: nobody gets at somebody else's by having a provider call him the same.
static bool vouched_ok(const struct identity *d, const struct user *u, struct outcome *out)
{
    const struct user *known = identity_user_of(d, u->provider, u->subject);
    const struct user *named = identity_user_named(d, u->name);
    if (identity_provider(d, u->provider) == NULL) {
        out->status = err_set(&out->err, STATUS_UNKNOWN, "the identity provider is gone");
        return false;
    }
    out->status = STATUS_INVALID;
    if (u->subject.len == 0 || !text_ok(u->subject, CLAIM_LEN_MAX)) {
        return REFUSE(out, "subject", "a subject has 1 to %u bytes", CLAIM_LEN_MAX);
    }
    if (named != NULL && named != known) {
        out->status = err_set(&out->err, STATUS_CONFLICT, "there is another user " STR_FMT ", %s",
                              STR_ARG(str_sub(u->name, 0, NAME_SHOWN)),
                              named->local ? "who signs in with a password"
                                           : "known under another subject");
        err_hint(&out->err, "an administrator removes that one first");
        return false;
    }
    out->status = STATUS_OK;
    if (known != NULL) {
        return user_name_is(u->name, "name", out) && groups_ok(u, out);
    }
    return user_new_ok(d, u, "name", out) && groups_ok(u, out);
}

static bool sign_in_ok(const struct identity *d, const struct identity_change *c,
                       struct outcome *out)
{
    if (c->user.provider.len > 0) {
        return vouched_ok(d, &c->user, out);
    }
    if (!uuid_is_zero(c->application.id)) {
        return identity_application(d, c->application.id) != NULL ||
               unknown("service account", c->application.id, out);
    }
    if (!uuid_is_zero(c->key.id)) {
        return identity_key(d, c->key.id) != NULL || unknown("access key", c->key.id, out);
    }
    return identity_user(d, c->user.id) != NULL || unknown("user", c->user.id, out);
}

static bool find_ok(const struct identity *d, const struct identity_change *c, struct outcome *out)
{
    switch (c->op) {
    case IDENTITY_USER_PASSWORD:
    case IDENTITY_USER_GROUPS:
    case IDENTITY_USER_REMOVE:
    case IDENTITY_SIGN_OUT:
        out->id = c->user.id;
        return identity_user(d, c->user.id) != NULL || unknown("user", c->user.id, out);
    case IDENTITY_APPLICATION_SECRET:
    case IDENTITY_APPLICATION_ENABLE:
    case IDENTITY_APPLICATION_REMOVE:
        out->id = c->application.id;
        return identity_application(d, c->application.id) != NULL ||
               unknown("service account", c->application.id, out);
    case IDENTITY_KEY_SECRET:
    case IDENTITY_KEY_REMOVE:
        out->id = c->key.id;
        return identity_key(d, c->key.id) != NULL || unknown("access key", c->key.id, out);
    case IDENTITY_NOTHING:
    case IDENTITY_USER_ADD:
    case IDENTITY_APPLICATION_ADD:
    case IDENTITY_KEY_ADD:
    case IDENTITY_ROLE_ADD:
    case IDENTITY_ROLE_SET:
    case IDENTITY_ROLE_REMOVE:
    case IDENTITY_RULE_ADD:
    case IDENTITY_RULE_REMOVE:
    case IDENTITY_SIGN_IN:
    case IDENTITY_PROTECT:
    case IDENTITY_PROVIDER_ADD:
    case IDENTITY_PROVIDER_SET:
    case IDENTITY_PROVIDER_REMOVE:
    case IDENTITY_OP_COUNT:
        return true;
    }
    return true;
}

static bool change_ok(const struct engine *e, const struct identity_change *c, struct outcome *out)
{
    const struct identity *d = &e->s.identity;
    switch (c->op) {
    case IDENTITY_USER_ADD:
        out->id = c->user.id;
        return user_add_ok(d, &c->user, out);
    case IDENTITY_USER_PASSWORD:
        return secret_ok(c->user.password, "password", out);
    case IDENTITY_USER_GROUPS:
        return groups_ok(&c->user, out);
    case IDENTITY_APPLICATION_ADD:
        out->id = c->application.id;
        return application_add_ok(d, &c->application, out);
    case IDENTITY_APPLICATION_SECRET:
        return secret_ok(c->application.secret, "secret", out);
    case IDENTITY_KEY_ADD:
        out->id = c->key.id;
        return key_add_ok(d, &c->key, out);
    case IDENTITY_KEY_SECRET:
        return secret_ok(c->key.secret, "secret", out);
    case IDENTITY_SIGN_IN:
        return sign_in_ok(d, c, out);
    case IDENTITY_ROLE_ADD:
    case IDENTITY_ROLE_SET:
    case IDENTITY_ROLE_REMOVE:
    case IDENTITY_RULE_ADD:
    case IDENTITY_RULE_REMOVE:
        return rules_change_ok(e, c, out);
    case IDENTITY_PROVIDER_ADD:
    case IDENTITY_PROVIDER_SET:
    case IDENTITY_PROVIDER_REMOVE:
        return providers_change_ok(d, c, out);
    case IDENTITY_USER_REMOVE:
    case IDENTITY_APPLICATION_ENABLE:
    case IDENTITY_APPLICATION_REMOVE:
    case IDENTITY_KEY_REMOVE:
    case IDENTITY_SIGN_OUT:
    case IDENTITY_PROTECT:
        return true;
    case IDENTITY_NOTHING:
    case IDENTITY_OP_COUNT:
        break;
    }
    out->status = err_set(&out->err, STATUS_INVALID, "this is no change of identity");
    return false;
}

void identity_check(const struct engine *e, const struct input *in, struct outcome *out)
{
    const struct identity_change *c = &in->identity;
    const struct identity *d = &e->s.identity;
    if (!find_ok(d, c, out) || !change_ok(e, c, out)) {
        return;
    }
    if (!somebody_administers(d, c) && somebody_administers(d, NULL)) {
        out->status = err_set(&out->err, STATUS_CONFLICT,
                              "after this nobody would administer this weir any more");
        err_hint(&out->err, "give somebody else the role System administrator over the tenant "
                            "first");
    }
}

/* ---- changes ---- */

static void stamp_new(struct step *st, struct stamp *s)
{
    struct str by = arena_str(engine_memory(st->e), st->in->author);
    *s = (struct stamp){st->now_ms, st->now_ms, by, by};
}

void identity_stamp(struct step *st, struct stamp *s)
{
    if (s->created_ms == 0) {
        stamp_new(st, s);
        return;
    }
    s->updated_ms = st->now_ms;
    s->updated_by = arena_str(engine_memory(st->e), st->in->author);
}

static struct user *user_row(struct step *st, struct uuid id)
{
    struct identity *d = &st->e->s.identity;
    const struct user *u = identity_user(d, id);
    CHECK(u != NULL);
    return &d->users[u - d->users];
}

static struct application *application_row(struct step *st)
{
    struct identity *d = &st->e->s.identity;
    const struct application *a = identity_application(d, st->in->identity.application.id);
    CHECK(a != NULL);
    return &d->applications[a - d->applications];
}

static struct access_key *key_row(struct step *st)
{
    struct identity *d = &st->e->s.identity;
    const struct access_key *k = identity_key(d, st->in->identity.key.id);
    CHECK(k != NULL);
    return &d->keys[k - d->keys];
}

static void set_groups(struct step *st, struct user *u, const struct user *from)
{
    struct arena *a = engine_memory(st->e);
    u->groups_count = from->groups_count;
    u->groups = ARENA_ARRAY(a, struct str_item, from->groups_count);
    for (uint32_t i = 0; i < from->groups_count; i++) {
        u->groups[i].value = arena_str(a, from->groups[i].value);
    }
}

static void user_add(struct step *st, bool vouched_for)
{
    struct engine *e = st->e;
    struct identity *d = &e->s.identity;
    const struct user *from = &st->in->identity.user;
    d->users = array_grow(engine_memory(e), d->users, sizeof(*d->users), d->users_count,
                          &e->identity_caps.users);
    struct user *u = &d->users[d->users_count++];
    record_copy(&record_user, from, u, engine_memory(e));
    u->login_ms = 0;
    u->generation = 0;
    u->local = !vouched_for && u->local;
    if (vouched_for) {
        u->password = (struct str){0};
        u->change_password = false;
    } else {
        u->provider = (struct str){0};
        u->subject = (struct str){0};
    }
    stamp_new(st, &u->stamp);
}

static void application_add(struct step *st)
{
    struct engine *e = st->e;
    struct identity *d = &e->s.identity;
    d->applications = array_grow(engine_memory(e), d->applications, sizeof(*d->applications),
                                 d->applications_count, &e->identity_caps.applications);
    struct application *a = &d->applications[d->applications_count++];
    record_copy(&record_application, &st->in->identity.application, a, engine_memory(e));
    a->enabled = true;
    a->login_ms = 0;
    a->generation = 0;
    stamp_new(st, &a->stamp);
}

static void key_add(struct step *st)
{
    struct engine *e = st->e;
    struct identity *d = &e->s.identity;
    d->keys = array_grow(engine_memory(e), d->keys, sizeof(*d->keys), d->keys_count,
                         &e->identity_caps.keys);
    struct access_key *k = &d->keys[d->keys_count++];
    record_copy(&record_access_key, &st->in->identity.key, k, engine_memory(e));
    k->login_ms = 0;
    k->generation = 0;
    stamp_new(st, &k->stamp);
}

#define REMOVE_ROW(rows, count, row) \
    (memmove(&(rows)[row], &(rows)[(row) + 1], sizeof(*(rows)) * ((count) - (row) - 1)), (count)--)

static void user_remove(struct step *st)
{
    struct identity *d = &st->e->s.identity;
    struct user *u = user_row(st, st->in->identity.user.id);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->keys_count; i++) {
        if (!uuid_eq(d->keys[i].user, u->id)) {
            d->keys[kept++] = d->keys[i];
        }
    }
    d->keys_count = kept;
    rules_forget_subject(d, SUBJECT_USER, u->name);
    uint32_t row = (uint32_t)(u - d->users);
    REMOVE_ROW(d->users, d->users_count, row);
}

static void application_remove(struct step *st)
{
    struct identity *d = &st->e->s.identity;
    struct application *a = application_row(st);
    rules_forget_subject(d, SUBJECT_APPLICATION, a->name);
    uint32_t row = (uint32_t)(a - d->applications);
    REMOVE_ROW(d->applications, d->applications_count, row);
}

// The user is as the provider has it now: name and groups. Returns whether that is a change.
static bool vouched_for(struct step *st, const struct user *now)
{
    struct identity *d = &st->e->s.identity;
    const struct user *known = identity_user_of(d, now->provider, now->subject);
    if (known == NULL) {
        user_add(st, true);
        d->users[d->users_count - 1].login_ms = st->now_ms;
        return true;
    }
    struct user *u = &d->users[known - d->users];
    bool renamed = !str_eq(u->name, now->name);
    bool other = u->groups_count != now->groups_count;
    for (uint32_t i = 0; !other && i < u->groups_count; i++) {
        other = !str_eq(u->groups[i].value, now->groups[i].value);
    }
    if (renamed) {
        struct str name = arena_str(engine_memory(st->e), now->name);
        rules_rename_user(d, u->name, name);
        u->name = name;
    }
    if (other) {
        set_groups(st, u, now);
    }
    u->login_ms = st->now_ms;
    return other || renamed;
}

// Returns whether more than the time of the last sign-in has changed.
static bool sign_in(struct step *st)
{
    const struct identity_change *c = &st->in->identity;
    if (c->user.provider.len > 0) {
        return vouched_for(st, &c->user);
    }
    if (!uuid_is_zero(c->application.id)) {
        application_row(st)->login_ms = st->now_ms;
    } else if (!uuid_is_zero(c->key.id)) {
        key_row(st)->login_ms = st->now_ms;
    } else {
        user_row(st, c->user.id)->login_ms = st->now_ms;
    }
    return false;
}

static void set_password(struct step *st)
{
    const struct user *from = &st->in->identity.user;
    struct user *u = user_row(st, from->id);
    u->password = arena_str(engine_memory(st->e), from->password);
    u->change_password = from->change_password;
    u->local = true;
    u->provider = (struct str){0};
    u->subject = (struct str){0};
    u->generation++;
    identity_stamp(st, &u->stamp);
}

static void set_application(struct step *st)
{
    const struct identity_change *c = &st->in->identity;
    struct application *a = application_row(st);
    if (c->op == IDENTITY_APPLICATION_SECRET) {
        a->secret = arena_str(engine_memory(st->e), c->application.secret);
    } else {
        a->enabled = c->application.enabled;
    }
    if (c->op == IDENTITY_APPLICATION_SECRET || !a->enabled) {
        a->generation++;
    }
    identity_stamp(st, &a->stamp);
}

static void set_key(struct step *st)
{
    struct access_key *k = key_row(st);
    k->secret = arena_str(engine_memory(st->e), st->in->identity.key.secret);
    k->generation++;
    identity_stamp(st, &k->stamp);
}

void identity_apply(struct step *st)
{
    struct identity *d = &st->e->s.identity;
    const struct identity_change *c = &st->in->identity;
    bool changed = true;
    switch (c->op) {
    case IDENTITY_USER_ADD:
        user_add(st, false);
        break;
    case IDENTITY_USER_PASSWORD:
        set_password(st);
        break;
    case IDENTITY_USER_GROUPS:
        set_groups(st, user_row(st, c->user.id), &c->user);
        identity_stamp(st, &user_row(st, c->user.id)->stamp);
        break;
    case IDENTITY_USER_REMOVE:
        user_remove(st);
        break;
    case IDENTITY_APPLICATION_ADD:
        application_add(st);
        break;
    case IDENTITY_APPLICATION_SECRET:
    case IDENTITY_APPLICATION_ENABLE:
        set_application(st);
        break;
    case IDENTITY_APPLICATION_REMOVE:
        application_remove(st);
        break;
    case IDENTITY_KEY_ADD:
        key_add(st);
        break;
    case IDENTITY_KEY_SECRET:
        set_key(st);
        break;
    case IDENTITY_KEY_REMOVE: {
        uint32_t row = (uint32_t)(key_row(st) - d->keys);
        REMOVE_ROW(d->keys, d->keys_count, row);
        break;
    }
    case IDENTITY_ROLE_ADD:
    case IDENTITY_ROLE_SET:
    case IDENTITY_ROLE_REMOVE:
    case IDENTITY_RULE_ADD:
    case IDENTITY_RULE_REMOVE:
        rules_change(st);
        break;
    case IDENTITY_PROVIDER_ADD:
    case IDENTITY_PROVIDER_SET:
    case IDENTITY_PROVIDER_REMOVE:
        providers_change(st);
        break;
    case IDENTITY_SIGN_IN:
        changed = sign_in(st);
        break;
    case IDENTITY_SIGN_OUT:
        user_row(st, c->user.id)->generation++;
        break;
    case IDENTITY_PROTECT:
        d->protect_ownership = c->protect_ownership;
        break;
    case IDENTITY_NOTHING:
    case IDENTITY_OP_COUNT:
        return;
    }
    d->revision += changed;
}

/* ---- soundness ---- */

bool identity_sound(const struct identity *d)
{
    for (uint32_t i = 0; i < d->users_count; i++) {
        if (uuid_is_zero(d->users[i].id) || !user_name_ok(d->users[i].name)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < d->applications_count; i++) {
        if (uuid_is_zero(d->applications[i].id) || !client_name_ok(d->applications[i].name)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < d->keys_count; i++) {
        if (identity_user(d, d->keys[i].user) == NULL) {
            return false;
        }
    }
    return providers_sound(d) && rules_sound(d);
}
