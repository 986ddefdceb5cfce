// SPDX-License-Identifier: Apache-2.0
// What must be remembered between two requests is given away sealed, to a browser or a program, and
// comes back with it; only codes that are good once are kept here.
#include "api/sso.h"

#include <string.h>

#include "api/guard.h"
#include "api/runai/people.h"
#include "api/seal.h"
#include "api/vouch.h"
#include "base/check.h"
#include "base/mem.h"
#include "codec/base64.h"
#include "io/random.h"

enum { RANDOM_BYTES = 32, TRIES_ADDRESS = 50, ALIAS_SHOWN = 100 };

/* ---- codes ---- */

struct code {
    uint8_t sum[CRYPTO_SHA256_SIZE]; /* of it */
    int64_t exp_ms;                  /* 0: free */
    struct session session;
    struct str kept, redirect_uri, challenge; /* the arena's */
    struct arena arena;
};
struct sso {
    struct code codes[SSO_CODES];
    uint32_t next;
};

struct sso *sso_new(void)
{
    return mem_alloc(sizeof(struct sso));
}

void sso_free(struct sso *s)
{
    for (int i = 0; s != NULL && i < SSO_CODES; i++) {
        arena_done(&s->codes[i].arena);
    }
    mem_free(s);
}

static void forget_code(struct code *k)
{
    arena_done(&k->arena);
    *k = (struct code){0};
}

struct str vouch_code(struct call *c, const struct vouched *v, struct str redirect_uri,
                      struct str challenge)
{
    struct sso *s = c->api->sso;
    struct code *k = &s->codes[s->next++ % SSO_CODES];
    struct str text = vouch_random(c);
    forget_code(k);
    arena_init(&k->arena, 0);
    crypto_sha256(text, k->sum);
    k->exp_ms = c->api->config.now_ms() + INT64_C(1000) * SSO_CODE_S;
    k->session = v->session;
    k->kept = arena_str(&k->arena, v->kept);
    k->redirect_uri = arena_str(&k->arena, redirect_uri);
    k->challenge = arena_str(&k->arena, challenge);
    return text;
}

/* ---- sealed texts ---- */

struct str vouch_random(struct call *c)
{
    uint8_t bytes[RANDOM_BYTES];
    random_bytes(bytes, sizeof bytes);
    return seal_base64((struct str){(const char *)bytes, sizeof bytes}, c->arena);
}

struct str vouch_challenge(struct call *c, struct str verifier)
{
    uint8_t sum[CRYPTO_SHA256_SIZE];
    crypto_sha256(verifier, sum);
    return seal_base64((struct str){(const char *)sum, sizeof sum}, c->arena);
}

struct str vouch_seal(struct call *c, const char *about, struct str text)
{
    return seal_text(c->api->config.key, str_from_c(about), text, c->arena);
}

static bool open_text(struct call *c, const char *about, struct str sealed, struct str *out)
{
    return seal_open(c->api->config.key, str_from_c(about), sealed, c->arena, out);
}

struct doc *vouch_open(struct call *c, const char *about, struct str sealed)
{
    struct str text;
    struct doc *d = NULL;
    return open_text(c, about, sealed, &text) && json_doc(text, c->arena, &d, NULL) == STATUS_OK
               ? d
               : NULL;
}

static const char *about_secret(struct call *c, struct str alias)
{
    return arena_printf(c->arena, "secret of " STR_FMT, STR_ARG(alias)).ptr;
}

struct str sso_seal_secret(struct call *c, struct str alias, struct str secret)
{
    return vouch_seal(c, about_secret(c, alias), secret);
}

struct str sso_callback_url(struct call *c, struct str alias)
{
    return arena_printf(c->arena, STR_FMT "/api/weir/v1/login/callback/" STR_FMT,
                        STR_ARG(c->api->config.url), STR_ARG(alias));
}

static const char *about_refresh(struct call *c, struct uuid user)
{
    return arena_printf(c->arena, "refresh " STR_FMT, STR_ARG(uuid_str(user, c->arena))).ptr;
}

/* ---- asking ---- */

enum status vouch_provider(struct call *c, struct str alias, const struct provider **out,
                           struct err *err)
{
    const struct identity *d = identity_of(c);
    const struct provider *p = identity_provider(d, alias);
    if (c->api->tokens == NULL || c->api->config.identity.ask == NULL) {
        return err_set(err, STATUS_UNSUPPORTED, "this server has no single sign-on");
    }
    if (alias.len == 0 && d->providers_count > 1) {
        err_set(err, STATUS_INVALID, "there are %u identity providers: which one?",
                d->providers_count);
        err_field(err, "idp");
        err_hint(err, "GET /api/weir/v1/login lists them");
        return STATUS_INVALID;
    }
    if (alias.len == 0 && d->providers_count == 1) {
        p = &d->providers[0];
    }
    if (p == NULL) {
        err_set(err, STATUS_UNKNOWN,
                alias.len > 0 ? "there is no identity provider \"" STR_FMT "\""
                              : "there is no identity provider" STR_FMT,
                STR_ARG(str_clip(alias, ALIAS_SHOWN)));
        err_hint(err,
                 "sign in with a password or a secret; docs/access.md says how to connect one");
        return STATUS_UNKNOWN;
    }
    *out = p;
    return STATUS_OK;
}

struct ask_job {
    struct call *call;
    void (*done)(struct call *c, const struct identity_answer *answer);
};

static void on_answer(void *arg, const struct identity_answer *answer)
{
    struct ask_job *job = arg;
    job->call->request->over = NULL;
    job->done(job->call, answer);
}

static void on_gone(void *arg)
{
    struct ask_job *job = arg;
    const struct identity_port *port = &job->call->api->config.identity;
    port->forget(port->ctx, job);
}

void vouch_ask(struct call *c, const struct provider *p, const struct identity_ask *ask,
               void (*done)(struct call *c, const struct identity_answer *answer))
{
    const struct identity_port *port = &c->api->config.identity;
    struct identity_ask full = *ask;
    full.provider = p;
    if (p->client_secret.len > 0 &&
        !open_text(c, about_secret(c, p->alias), p->client_secret, &full.secret)) {
        struct identity_answer a = {.err = {.status = STATUS_OK}};
        err_set(&a.err, STATUS_UNREACHABLE,
                "the secret that identity provider " STR_FMT " knows us by cannot be read: this "
                "server has another token-key.pem since",
                STR_ARG(p->alias));
        err_hint(&a.err, "an administrator sets it anew");
        done(c, &a);
        return;
    }
    struct ask_job *job = ARENA_NEW(c->arena, struct ask_job);
    *job = (struct ask_job){c, done};
    c->request->over = on_gone;
    c->request->over_arg = job;
    port->ask(port->ctx, &full, on_answer, job);
}

/* ---- letting in ---- */

struct sign_in {
    struct vouched *v;
    void (*done)(struct call *c, struct vouched *v, const struct err *err);
    struct str refresh_token;
};

static void on_signed_in(struct call *c, const struct outcome *outcome)
{
    struct sign_in *s = c->context;
    struct vouched *v = s->v;
    const struct user *u = identity_user_of(identity_of(c), v->provider, v->subject);
    if (outcome->status != STATUS_OK || u == NULL) {
        struct err err = outcome->err;
        if (outcome->status == STATUS_OK) {
            err_set(&err, STATUS_UNKNOWN, "the user was removed in this moment");
        }
        s->done(c, v, &err);
        return;
    }
    v->session = (struct session){.kind = SESSION_USER, .id = u->id, .generation = u->generation};
    if (s->refresh_token.len > 0) {
        v->kept = vouch_seal(c, about_refresh(c, u->id), s->refresh_token);
        v->kept = v->kept.len <= TOKEN_KEPT_MAX ? v->kept : STR("");
    }
    c->user = arena_str(c->arena, u->name);
    s->done(c, v, NULL);
}

static struct str_item *copy_groups(struct call *c, const struct identity_answer *a)
{
    struct str_item *out = ARENA_ARRAY(c->arena, struct str_item, a->groups_count);
    for (uint32_t i = 0; i < a->groups_count; i++) {
        out[i].value = arena_str(c->arena, a->groups[i].value);
    }
    return out;
}

void vouch_sign_in(struct call *c, struct vouched *v, const struct identity_answer *answer,
                   void (*done)(struct call *c, struct vouched *v, const struct err *err))
{
    struct sign_in *s = ARENA_NEW(c->arena, struct sign_in);
    struct input in = {.kind = INPUT_IDENTITY, .version = INPUT_VERSION};
    *s = (struct sign_in){v, done, arena_str(c->arena, answer->refresh_token)};
    v->subject = arena_str(c->arena, answer->subject);
    c->user = name_lower(answer->name, c->arena);
    in.identity.op = IDENTITY_SIGN_IN;
    in.identity.user = (struct user){
        .id = random_uuid(),
        .name = c->user,
        .provider = v->provider,
        .subject = v->subject,
        .groups = copy_groups(c, answer),
        .groups_count = answer->groups_count,
    };
    c->who.subject.kind = SUBJECT_USER;
    c->entity = ENTITY_USERS;
    c->context = s;
    call_command(c, &in, on_signed_in);
}

static struct str address_key(struct call *c)
{
    return arena_printf(c->arena, "sso " STR_FMT, STR_ARG(c->request->address));
}

void vouch_refused(struct call *c, struct str provider, const struct err *err)
{
    c->user = arena_printf(c->arena, "(" STR_FMT ")", STR_ARG(provider));
    c->who.subject.kind = SUBJECT_USER;
    c->entity = ENTITY_USERS;
    c->scope = SCOPE_OF_TENANT;
    struct origin origin = call_origin(c);
    guard_failed(c->api->guard, address_key(c), c->api->config.now_ms());
    writer_refused(c->api->writer, c->user, &origin, STR("sign-in"), err);
}

bool vouch_may_try(struct call *c, struct err *err)
{
    int64_t wait_ms = guard_wait_ms(c->api->guard, address_key(c), TRIES_ADDRESS,
                                    c->api->config.now_ms());
    if (wait_ms > 0) {
        err_set(err, STATUS_DENIED, "too many wrong attempts");
        err_hint(err, "try again in %lld seconds", (long long)(wait_ms + 999) / 1000);
    }
    return wait_ms == 0;
}

/* ---- grants ---- */

static void on_granted(struct call *c, struct vouched *v, const struct err *err)
{
    struct attempt *a = v->context;
    if (err != NULL) {
        attempt_fail(c, a, "invalid_grant", err);
        return;
    }
    a->session = v->session;
    a->kept = v->kept;
    attempt_tokens(c, a, a->kept.len > 0 && a->grant != GRANT_EXTERNAL);
}

static void on_vouched(struct call *c, const struct identity_answer *answer)
{
    struct vouched *v = c->context;
    struct attempt *a = v->context;
    struct err err;
    if (answer->err.status != STATUS_OK) {
        if (answer->err.status == STATUS_DENIED) {
            vouch_refused(c, v->provider, &answer->err);
        }
        attempt_fail(c, a, a->grant == GRANT_DEVICE ? "access_denied" : "invalid_grant",
                     &answer->err);
    } else if (answer->pending != IDENTITY_SETTLED) {
        bool slower = answer->pending == IDENTITY_SLOWER;
        const char *word = slower ? "slow_down" : "authorization_pending";
        err_set(&err, STATUS_INVALID, "%s: nobody has signed in with the code yet", word);
        attempt_fail(c, a, word, &err);
    } else {
        vouch_sign_in(c, v, answer, on_granted);
    }
}

static void ask_grant(struct call *c, struct attempt *a, struct str alias,
                      const struct identity_ask *ask)
{
    const struct provider *p;
    struct err err;
    if (vouch_provider(c, alias, &p, &err) != STATUS_OK) {
        attempt_fail(c, a, "invalid_request", &err);
        return;
    }
    struct vouched *v = ARENA_NEW(c->arena, struct vouched);
    v->provider = arena_str(c->arena, p->alias);
    v->context = a;
    c->context = v;
    vouch_ask(c, p, ask, on_vouched);
}

static bool code_fits(struct call *c, const struct code *k, const struct attempt *a)
{
    return k->exp_ms > c->api->config.now_ms() && str_eq(k->redirect_uri, a->redirect_uri) &&
           crypto_same(k->challenge, vouch_challenge(c, a->verifier));
}

void sso_code(struct call *c, struct attempt *a)
{
    uint8_t sum[CRYPTO_SHA256_SIZE];
    struct who who;
    struct err err;
    crypto_sha256(a->secret, sum);
    err_set(&err, STATUS_DENIED, "the code is unknown, was used before, or is not this program's");
    err_hint(&err, "sign in again: weir login");
    for (int i = 0; i < SSO_CODES; i++) {
        struct code *k = &c->api->sso->codes[i];
        if (k->exp_ms == 0 || memcmp(k->sum, sum, sizeof sum) != 0) {
            continue;
        }
        bool fits = code_fits(c, k, a);
        a->session = k->session;
        a->session.exp_ms = k->exp_ms;
        a->kept = arena_str(c->arena, k->kept);
        forget_code(k);
        if (fits && session_who(&a->session, identity_of(c), c->api->config.now_ms(), &who, &err) ==
                        STATUS_OK) {
            c->user = arena_str(c->arena, who.subject.name);
            attempt_tokens(c, a, a->kept.len > 0);
            return;
        }
        break;
    }
    err.status = STATUS_DENIED;
    attempt_fail(c, a, "invalid_grant", &err);
}

void sso_device_code(struct call *c, struct attempt *a)
{
    struct err err;
    const struct doc *d = vouch_open(c, "device", a->secret);
    int64_t now_ms = c->api->config.now_ms();
    if (d == NULL || body_i64(d, STR("exp_ms"), 0) <= now_ms) {
        err_set(&err, STATUS_DENIED, "the time to sign in is over, or this is no code of ours");
        err_hint(&err, "sign in again: weir login");
        attempt_fail(c, a, d == NULL ? "invalid_grant" : "expired_token", &err);
        return;
    }
    ask_grant(
        c, a, body_str(d, STR("idp")),
        &(struct identity_ask){.what = IDENTITY_ASK_DEVICE_CODE, .code = body_str(d, STR("code"))});
}

void sso_external(struct call *c, struct attempt *a)
{
    struct err err;
    if (!vouch_may_try(c, &err)) {
        attempt_fail(c, a, "invalid_grant", &err);
        return;
    }
    ask_grant(c, a, a->provider,
              &(struct identity_ask){.what = IDENTITY_ASK_TOKEN, .code = a->secret});
}

static bool same_groups(const struct user *u, const struct identity_answer *answer)
{
    bool same = u->groups_count == answer->groups_count;
    for (uint32_t i = 0; same && i < u->groups_count; i++) {
        same = str_eq(u->groups[i].value, answer->groups[i].value);
    }
    return same;
}

static void cannot_go_on(struct call *c, const struct attempt *a)
{
    struct err err;
    err_set(&err, STATUS_DENIED, "this session cannot go on");
    err_hint(&err, "sign in again: weir login");
    attempt_fail(c, a, "invalid_grant", &err);
}

/* Nothing is journalled while he is who he was. */
static void on_refreshed(struct call *c, const struct identity_answer *answer)
{
    const struct vouched *v = c->context;
    struct attempt *a = v->context;
    const struct user *u = identity_user(identity_of(c), a->session.id);
    if (u == NULL || u->generation != a->session.generation) {
        cannot_go_on(c, a);
    } else if (answer->err.status == STATUS_OK && same_groups(u, answer) &&
               str_eq(name_lower(answer->name, c->arena), u->name)) {
        struct str kept = vouch_seal(c, about_refresh(c, u->id), answer->refresh_token);
        a->kept = kept.len <= TOKEN_KEPT_MAX ? kept : STR("");
        attempt_tokens(c, a, a->kept.len > 0);
    } else {
        on_vouched(c, answer);
    }
}

void sso_refresh(struct call *c, struct attempt *a)
{
    struct err err;
    struct str token;
    const struct provider *p;
    const struct user *u = identity_user(identity_of(c), a->session.id);
    CHECK(u != NULL);
    struct str kept = token_kept(a->secret, c->arena);
    if (vouch_provider(c, u->provider, &p, &err) != STATUS_OK ||
        !open_text(c, about_refresh(c, u->id), kept, &token)) {
        cannot_go_on(c, a);
        return;
    }
    struct vouched *v = ARENA_NEW(c->arena, struct vouched);
    v->provider = arena_str(c->arena, u->provider);
    v->context = a;
    c->context = v;
    vouch_ask(c, p,
              &(struct identity_ask){.what = IDENTITY_ASK_REFRESH,
                                     .code = token,
                                     .subject = arena_str(c->arena, u->subject)},
              on_refreshed);
}
