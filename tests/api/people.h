// SPDX-License-Identifier: Apache-2.0
// people: users, a service account and an access key in the world, and asking as each of them.
#pragma once

#include "server.h"

#define PASSWORD "correct horse"
#define SECRET   "a-secret-of-many-letters"

/* ---- who there is ---- */

static char password_hashed[PASSWORD_HASH_SIZE];

UNUSED static void on_hashed(void *arg, bool ok, struct str hash)
{
    (void)arg;
    REQUIRE(ok);
    snprintf(password_hashed, sizeof password_hashed, STR_FMT, STR_ARG(hash));
}

UNUSED static struct uuid id_of(uint8_t n)
{
    return uuid_from_random((const uint8_t[16]){n, n, n});
}

UNUSED static void change(struct world *w, struct identity_change c)
{
    struct world_answer a = {0};
    struct input in = {.kind = INPUT_IDENTITY, .author = STR("root"), .identity = c};
    writer_command(w->writer, &in, world_done_fn, &a);
    world_settle(w);
    REQUIRE(a.done);
    REQUIRE_OK(a.outcome.status, &a.outcome.err);
}

UNUSED static void add_user(struct world *w, uint8_t n, const char *name)
{
    change(w, (struct identity_change){
                  .op = IDENTITY_USER_ADD,
                  .user = {.id = id_of(n),
                           .name = str_from_c(name),
                           .local = true,
                           .password = str_from_c(password_hashed)}
    });
}

UNUSED static void give(struct world *w, enum subject_kind kind, const char *name, uint32_t role,
                        struct scope scope)
{
    change(
        w,
        (struct identity_change){
            .op = IDENTITY_RULE_ADD,
            .rule = {
                     .subject_kind = kind, .subject = str_from_c(name), .role = role, .scope = scope}
    });
}

UNUSED static struct str hash_of(const char *secret, char text[65])
{
    uint8_t sum[CRYPTO_SHA256_SIZE];
    crypto_sha256(str_from_c(secret), sum);
    for (size_t i = 0; i < sizeof sum; i++) {
        snprintf(text + 2 * i, 3, "%02x", sum[i]);
    }
    return str_from_c(text);
}

UNUSED static struct scope project(struct world *w, const char *name)
{
    const struct plan *p = &engine_state(w->engine)->plan;
    for (uint32_t i = 0; i < p->projects_count; i++) {
        if (str_eq(p->projects[i].name, str_from_c(name))) {
            return (struct scope){SCOPE_PROJECT, p->projects[i].id};
        }
    }
    REQUIRE(false);
    return SCOPE_OF_TENANT;
}

/* root@x administers; dev@x develops in team-a; ci submits there; key 4 is root@x's. */
UNUSED static void prepare(struct world *w)
{
    struct world_answer a = {0};
    struct err err;
    char text[65];
    password_hashed[0] = '\0';
    REQUIRE_OK(password_hash(server.passwords, STR(PASSWORD), on_hashed, NULL, &err), &err);
    while (password_hashed[0] == '\0') {
        loop_step(w->loop, -1);
    }
    world_plan(w, &a);
    world_settle(w);
    add_user(w, 1, "root@x");
    add_user(w, 2, "dev@x");
    struct identity_change c = {
        .op = IDENTITY_APPLICATION_ADD, .application = {.id = id_of(3), .name = STR("ci")}
    };
    c.application.secret = hash_of(SECRET, text);
    change(w, c);
    c = (struct identity_change){
        .op = IDENTITY_KEY_ADD, .key = {.id = id_of(4), .user = id_of(1), .name = STR("laptop")}
    };
    c.key.secret = hash_of(SECRET, text);
    change(w, c);
    give(w, SUBJECT_USER, "root@x", ROLE_SYSTEM_ADMINISTRATOR, SCOPE_OF_TENANT);
    give(w, SUBJECT_USER, "dev@x", ROLE_DEVELOPER, project(w, "team-a"));
    give(w, SUBJECT_APPLICATION, "ci", ROLE_CICD, project(w, "team-a"));
}

/* ---- asking ---- */

UNUSED static long post_tcp(const char *path, const char *body)
{
    return ask(&(struct ask){.method = "POST", .path = path, .body = body, .tcp = true});
}

UNUSED static const char *token_of(long code, const char *member)
{
    EXPECT_I64(code, 200);
    return arena_cstr(&server.arena, at(member));
}

UNUSED static const char *token_by_password(const char *user)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"grantType\":\"password\",\"username\":\"%s\",\"password\":\"" PASSWORD "\"}",
             user);
    return token_of(post_tcp("/api/v1/token", body), "accessToken");
}

UNUSED static const char *token_by_secret(const char *client)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"grantType\":\"app_token\",\"AppId\":\"%s\",\"AppSecret\":\"" SECRET "\"}", client);
    return token_of(post_tcp("/api/v1/token", body), "accessToken");
}

UNUSED static long as(const char *token, const char *method, const char *path, const char *body)
{
    return ask(
        &(struct ask){.method = method, .path = path, .body = body, .tcp = true, .token = token});
}

UNUSED static const char *key_id(void)
{
    return uuid_str(id_of(4), &server.arena).ptr;
}

#define JOB(name, kind, project)                                          \
    "{\"name\":\"" name "\",\"kind\":\"" kind "\",\"project\":\"" project \
    "\",\"spec\":{\"command\":[\"sleep\",\"1\"]}}"

/* What is done to a user while its token lives. */
UNUSED static void change_while_up(struct identity_change c)
{
    struct world *w = &server.world;
    server_pause();
    change(w, c);
    server_resume();
}
