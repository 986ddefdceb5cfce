// SPDX-License-Identifier: Apache-2.0
// What is asked becomes a piece of work that goes from step to step: know the provider, ask it, know
// its keys, check the token, ask who it is about. Each step is entered when the answer to the one
// before is there; what is kept of the provider is looked up anew in each, since it may have changed.
#include "adapters/oidc/oidc.h"

#include "adapters/oidc/cache.h"
#include "adapters/oidc/claims.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/jwt.h"
#include "codec/percent.h"
#include "io/crypto.h"
#include "io/fetch.h"
#include "model/record.h"

enum { FORM_BYTES_MAX = 64 * 1024, SHOWN_MAX = 100, INTERVAL_S = 5, INTERVAL_MAX_S = 60 };

#define DEVICE_GRANT "urn:ietf:params:oauth:grant-type:device_code"

struct work;
typedef void work_step(struct work *w);

struct work {
    struct work *next;
    struct oidc *o;
    struct arena arena;
    struct identity_ask ask; /* texts are the arena's */
    struct provider provider;
    identity_done *done;
    void *arg;
    work_step *then; /* after what is being fetched */
    bool keys_again; /* looked for the key anew already */
    struct str id_token, access_token, refresh_token;
    const struct doc *claims;
};

struct oidc {
    struct oidc_config config;
    struct fetch *fetch;
    struct cache cache;
    struct work *works;
};

/* ---- the end ---- */

static void work_free(struct work *w)
{
    struct work **at = &w->o->works;
    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
    arena_done(&w->arena);
    mem_free(w);
}

static void finish(struct work *w, const struct identity_answer *answer)
{
    void *arg = w->arg;
    w->arg = NULL; /* nobody forgets it from here on */
    w->done(arg, answer);
    work_free(w);
}

static void fail(struct work *w, const struct err *err)
{
    struct identity_answer answer = {.err = *err};
    struct str alias = str_clip(w->provider.alias, SHOWN_MAX);
    err_wrap(&answer.err, "identity provider " STR_FMT, STR_ARG(alias));
    finish(w, &answer);
}

static struct cached *cached(struct work *w)
{
    return cache_get(&w->o->cache, w->provider.discovery_url, w->o->config.mono_ms());
}

/* ---- asking ---- */

/* Whatever keeps a provider from answering as it should is its absence. */
static void unreachable(struct work *w, const char *what, const struct err *why)
{
    struct err err = *why;
    err_wrap(&err, "its %s", what);
    if (err.status != STATUS_BUSY) {
        err.status = STATUS_UNREACHABLE;
        err_hint(&err, "local users and service accounts sign in without it");
    }
    fail(w, &err);
}

static void unexpected(struct work *w, const char *what, int code)
{
    struct err err;
    err_set(&err, STATUS_UNREACHABLE, "answered with HTTP status %d", code);
    unreachable(w, what, &err);
}

static void start(struct work *w, const char *what, const struct fetch_request *r, fetch_done *done)
{
    struct fetch_request full = *r;
    struct err err;
    full.bytes_max = OIDC_BYTES_MAX;
    full.time_ms = w->o->config.time_ms;
    full.direct = discovery_url_local(r->url);
    if (fetch_start(w->o->fetch, &full, done, w, &err) != STATUS_OK) {
        unreachable(w, what, &err);
    }
}

static void add_field(struct buf *form, const char *name, struct str value)
{
    if (value.len > 0) {
        buf_printf(form, "%s%s=", form->len > 0 ? "&" : "", name);
        percent_encode(value, form);
    }
}

static struct str encoded(struct work *w, struct str text)
{
    struct buf b;
    buf_init(&b, FORM_BYTES_MAX);
    percent_encode(text, &b);
    struct str out = arena_str(&w->arena, buf_view(&b));
    buf_done(&b);
    return out;
}

/* POST of a form, by which weir says who it is (RFC 6749, 2.3.1); the form is used up. */
static void post(struct work *w, const char *what, struct str url, struct buf *form,
                 fetch_done *done)
{
    struct fetch_request r = {.url = url, .post = true};
    bool in_body = cached(w)->discovery.secret_in_body;
    if (w->ask.secret.len == 0 || in_body) {
        add_field(form, "client_id", w->provider.client_id);
        add_field(form, "client_secret", w->ask.secret);
    } else {
        r.basic_name = encoded(w, w->provider.client_id);
        r.basic_secret = encoded(w, w->ask.secret);
    }
    r.body = arena_str(&w->arena, buf_view(form));
    bool full = form->full;
    buf_done(form);
    if (full) {
        struct err err;
        err_set(&err, STATUS_DENIED, "what was sent is too long");
        fail(w, &err);
        return;
    }
    start(w, what, &r, done);
}

/* ---- knowing the provider ---- */

static void on_discovery(void *arg, const struct fetch_answer *answer, const struct err *err)
{
    struct work *w = arg;
    struct err wrong;
    if (answer == NULL) {
        unreachable(w, "discovery document", err);
    } else if (answer->code != 200) {
        unexpected(w, "discovery document", answer->code);
    } else if (cached_set_discovery(cached(w), answer->body, w->o->config.mono_ms(), &wrong) !=
               STATUS_OK) {
        unreachable(w, "discovery document", &wrong);
    } else {
        w->then(w);
    }
}

static void need_discovery(struct work *w, work_step *then)
{
    struct str url = w->provider.discovery_url;
    struct err err;
    w->then = then;
    if (cached_discovery_fresh(cached(w), w->o->config.mono_ms())) {
        then(w);
    } else if (!discovery_url_ok(url)) {
        err_set(&err, STATUS_UNREACHABLE,
                "expected an https address (http: of this machine only), got \"" STR_FMT "\"",
                STR_ARG(str_clip(url, SHOWN_MAX)));
        unreachable(w, "discovery document", &err);
    } else {
        start(w, "discovery document", &(struct fetch_request){.url = url}, on_discovery);
    }
}

/* ---- knowing its keys ---- */

static void on_keys(void *arg, const struct fetch_answer *answer, const struct err *err)
{
    struct work *w = arg;
    struct err wrong;
    if (answer == NULL) {
        unreachable(w, "set of keys", err);
    } else if (answer->code != 200) {
        unexpected(w, "set of keys", answer->code);
    } else if (cached_set_keys(cached(w), answer->body, w->o->config.mono_ms(), &wrong) !=
               STATUS_OK) {
        unreachable(w, "set of keys", &wrong);
    } else {
        w->then(w);
    }
}

static void ask_keys(struct work *w, work_step *then)
{
    struct cached *d = cached(w);
    w->then = then;
    d->keys_asked_ms = w->o->config.mono_ms();
    start(w, "set of keys", &(struct fetch_request){.url = d->discovery.keys}, on_keys);
}

/* ---- who it is ---- */

static void tell(struct work *w, const struct doc *about, const struct doc *userinfo)
{
    struct person p;
    struct err err;
    if (person_read(&w->provider, about, userinfo, &w->arena, &p, &err) != STATUS_OK) {
        fail(w, &err);
        return;
    }
    finish(w, &(struct identity_answer){.subject = p.subject,
                                        .name = p.name,
                                        .groups = p.groups,
                                        .groups_count = p.groups_count,
                                        .refresh_token = w->refresh_token});
}

static void on_userinfo(void *arg, const struct fetch_answer *answer, const struct err *err)
{
    static const char what[] = "userinfo";
    struct work *w = arg;
    struct doc *d = NULL;
    struct err wrong;
    if (answer == NULL) {
        unreachable(w, what, err);
        return;
    }
    if (answer->code == 401 || answer->code == 403) {
        err_set(&wrong, STATUS_DENIED, "it does not tell who this is any more");
        fail(w, &wrong);
        return;
    }
    if (answer->code != 200) {
        unexpected(w, what, answer->code);
        return;
    }
    if (json_doc(arena_str(&w->arena, answer->body), &w->arena, &d, &wrong) != STATUS_OK) {
        unreachable(w, what, &wrong);
        return;
    }
    const struct doc *sub = doc_get(d, STR("sub"));
    const struct doc *want = doc_get(w->claims, STR("sub"));
    struct str subject = want != NULL ? want->text : w->ask.subject;
    if (sub == NULL || sub->kind != DOC_STRING || !str_eq(sub->text, subject)) {
        err_set(&wrong, STATUS_DENIED, "its userinfo is about somebody else (sub)");
        fail(w, &wrong);
        return;
    }
    tell(w, w->claims != NULL ? w->claims : d, d);
}

static void ask_userinfo(struct work *w)
{
    struct fetch_request r = {.url = cached(w)->discovery.userinfo, .bearer = w->access_token};
    start(w, "userinfo", &r, on_userinfo);
}

static bool lacks(struct work *w, enum provider_claim claim)
{
    return claim_find(w->claims, provider_claim_name(&w->provider, claim)) == NULL;
}

/* The ID token is good; what it does not tell, userinfo may. */
static void know_person(struct work *w)
{
    bool more = lacks(w, CLAIM_EMAIL) || lacks(w, CLAIM_GROUPS) ||
                (w->provider.must_claim.len > 0 &&
                 claim_find(w->claims, w->provider.must_claim) == NULL);
    if (more && w->access_token.len > 0 && cached(w)->discovery.userinfo.len > 0) {
        ask_userinfo(w);
    } else {
        tell(w, w->claims, NULL);
    }
}

/* ---- the ID token ---- */

static void check_token(struct work *w);

static void no_key(struct work *w)
{
    struct err err;
    if (!w->keys_again && cached_may_ask_again(cached(w), w->o->config.mono_ms())) {
        w->keys_again = true; /* it may have new ones */
        ask_keys(w, check_token);
        return;
    }
    err_set(&err, STATUS_DENIED,
            "the ID token is signed with a key that the provider does not show");
    fail(w, &err);
}

static enum status read_claims(struct work *w, const struct jwt *jwt, struct err *err)
{
    struct doc *claims = NULL;
    if (json_doc(jwt->payload, &w->arena, &claims, err) != STATUS_OK) {
        return err_set(err, STATUS_DENIED, "the ID token is no JSON");
    }
    struct claims_rules rules = {
        .issuer = cached(w)->discovery.issuer,
        .client_id = w->provider.client_id,
        .nonce = w->ask.what == IDENTITY_ASK_CODE ? w->ask.nonce : STR(""),
        .subject = w->ask.what == IDENTITY_ASK_REFRESH ? w->ask.subject : STR(""),
        .now_ms = w->o->config.now_ms(),
    };
    w->claims = claims;
    return claims_check(claims, &rules, err);
}

static void check_token(struct work *w)
{
    struct jwt jwt;
    struct jws_header header;
    struct err err;
    if (!jwt_split(w->id_token, &w->arena, &jwt) ||
        jws_header_read(jwt.header, &w->arena, &header, NULL) != STATUS_OK) {
        err_set(&err, STATUS_DENIED, "this is no ID token");
        fail(w, &err);
        return;
    }
    if (header.alg == JWA_OTHER) {
        err_set(&err, STATUS_DENIED, "the ID token is not signed with RS256, ES256 or EdDSA");
        fail(w, &err);
        return;
    }
    if (!cached_keys_fresh(cached(w), w->o->config.mono_ms())) {
        w->keys_again = true;
        ask_keys(w, check_token);
        return;
    }
    const struct jwk *key = cached_key(cached(w), &header);
    if (key == NULL) {
        no_key(w);
    } else if (!crypto_jws_verify(key, jwt.signed_part, jwt.signature)) {
        err_set(&err, STATUS_DENIED, "the signature of the ID token is wrong");
        fail(w, &err);
    } else if (read_claims(w, &jwt, &err) != STATUS_OK) {
        fail(w, &err);
    } else {
        know_person(w);
    }
}

/* ---- the token endpoint ---- */

static struct str member(const struct doc *d, const char *name)
{
    const struct doc *m = doc_get(d, str_from_c(name));
    return m != NULL && m->kind == DOC_STRING ? m->text : STR("");
}

/* It says no, or not yet (RFC 6749, 5.2; RFC 8628, 3.5). */
static void refused(struct work *w, const struct doc *d)
{
    struct identity_answer answer = {.pending = IDENTITY_SETTLED};
    struct str error = member(d, "error");
    struct str more = member(d, "error_description");
    if (w->ask.what == IDENTITY_ASK_DEVICE_CODE && str_eq(error, STR("authorization_pending"))) {
        answer.pending = IDENTITY_PENDING;
        finish(w, &answer);
        return;
    }
    if (w->ask.what == IDENTITY_ASK_DEVICE_CODE && str_eq(error, STR("slow_down"))) {
        answer.pending = IDENTITY_SLOWER;
        finish(w, &answer);
        return;
    }
    err_set(&answer.err, STATUS_DENIED, "it refused: " STR_FMT "%s" STR_FMT,
            STR_ARG(str_clip(error, SHOWN_MAX)), more.len > 0 ? ", " : "",
            STR_ARG(str_clip(more, SHOWN_MAX)));
    if (str_eq(error, STR("invalid_client")) || str_eq(error, STR("unauthorized_client"))) {
        err_hint(&answer.err, "an administrator looks after the client's id and secret");
    } else {
        err_hint(&answer.err, "sign in again: weir login");
    }
    fail(w, &answer.err);
}

static void on_tokens(void *arg, const struct fetch_answer *answer, const struct err *err)
{
    static const char what[] = "token endpoint";
    struct work *w = arg;
    struct doc *d = NULL;
    struct err wrong;
    if (answer == NULL) {
        unreachable(w, what, err);
        return;
    }
    if (json_doc(arena_str(&w->arena, answer->body), &w->arena, &d, &wrong) != STATUS_OK) {
        if (answer->code != 200) {
            unexpected(w, what, answer->code);
        } else {
            unreachable(w, what, &wrong);
        }
        return;
    }
    if (answer->code >= 400 && answer->code < 500 && member(d, "error").len > 0) {
        refused(w, d);
        return;
    }
    if (answer->code != 200) {
        unexpected(w, what, answer->code);
        return;
    }
    w->id_token = member(d, "id_token");
    w->access_token = member(d, "access_token");
    w->refresh_token = member(d, "refresh_token");
    if (w->refresh_token.len == 0 && w->ask.what == IDENTITY_ASK_REFRESH) {
        w->refresh_token = w->ask.code; /* it goes on to be good */
    }
    if (w->id_token.len > 0) {
        check_token(w);
    } else if (w->ask.what == IDENTITY_ASK_REFRESH && w->access_token.len > 0 &&
               cached(w)->discovery.userinfo.len > 0) {
        ask_userinfo(w);
    } else {
        err_set(&wrong, STATUS_DENIED, "it gave no ID token");
        err_hint(&wrong, "is this client one of OpenID Connect there?");
        fail(w, &wrong);
    }
}

static void ask_tokens(struct work *w)
{
    struct buf form;
    buf_init(&form, FORM_BYTES_MAX);
    if (w->ask.what == IDENTITY_ASK_CODE) {
        add_field(&form, "grant_type", STR("authorization_code"));
        add_field(&form, "code", w->ask.code);
        add_field(&form, "redirect_uri", w->ask.redirect_uri);
        add_field(&form, "code_verifier", w->ask.verifier);
    } else if (w->ask.what == IDENTITY_ASK_DEVICE_CODE) {
        add_field(&form, "grant_type", STR(DEVICE_GRANT));
        add_field(&form, "device_code", w->ask.code);
    } else {
        add_field(&form, "grant_type", STR("refresh_token"));
        add_field(&form, "refresh_token", w->ask.code);
    }
    post(w, "token endpoint", cached(w)->discovery.token, &form, on_tokens);
}

static void take_token(struct work *w)
{
    w->id_token = w->ask.code;
    check_token(w);
}

/* ---- addresses for browsers ---- */

static struct str scopes(struct work *w)
{
    struct str all = STR("openid");
    for (uint32_t i = 0; i < w->provider.scopes_count; i++) {
        struct str scope = w->provider.scopes[i].value;
        if (!str_eq(scope, STR("openid"))) {
            all = arena_printf(&w->arena, STR_FMT " " STR_FMT, STR_ARG(all), STR_ARG(scope));
        }
    }
    return all;
}

static struct str challenge(struct work *w)
{
    uint8_t sum[CRYPTO_SHA256_SIZE];
    struct buf text;
    buf_init(&text, 2 * (size_t)CRYPTO_SHA256_SIZE);
    crypto_sha256(w->ask.verifier, sum);
    base64_encode(BASE64_URL, (struct str){(const char *)sum, sizeof sum}, &text);
    struct str out = arena_str(&w->arena, buf_view(&text));
    buf_done(&text);
    return out;
}

static void tell_url(struct work *w, struct str base, struct buf *query)
{
    bool has_query = str_find(base, '?') < base.len;
    struct str url = arena_printf(&w->arena, STR_FMT "%s" STR_FMT, STR_ARG(base),
                                  has_query ? "&" : "?", STR_ARG(buf_view(query)));
    buf_done(query);
    finish(w, &(struct identity_answer){.url = url});
}

static void tell_start(struct work *w)
{
    struct buf q;
    buf_init(&q, FORM_BYTES_MAX);
    add_field(&q, "response_type", STR("code"));
    add_field(&q, "client_id", w->provider.client_id);
    add_field(&q, "redirect_uri", w->ask.redirect_uri);
    add_field(&q, "scope", scopes(w));
    add_field(&q, "state", w->ask.state);
    add_field(&q, "nonce", w->ask.nonce);
    add_field(&q, "code_challenge", challenge(w));
    add_field(&q, "code_challenge_method", STR("S256"));
    tell_url(w, cached(w)->discovery.authorization, &q);
}

static void tell_end(struct work *w)
{
    struct str url = cached(w)->discovery.end_session;
    struct buf q;
    if (url.len == 0) {
        finish(w, &(struct identity_answer){.url = STR("")});
        return;
    }
    buf_init(&q, FORM_BYTES_MAX);
    add_field(&q, "client_id", w->provider.client_id);
    add_field(&q, "post_logout_redirect_uri", w->ask.redirect_uri);
    tell_url(w, url, &q);
}

/* ---- another device ---- */

static int64_t number(const struct doc *d, const char *name, int64_t otherwise, int64_t most)
{
    const struct doc *m = doc_get(d, str_from_c(name));
    int64_t v;
    if (m == NULL || m->kind != DOC_NUMBER || !num_parse_i64(m->text, &v) || v <= 0) {
        return otherwise;
    }
    return v < most ? v : most;
}

static void on_device(void *arg, const struct fetch_answer *answer, const struct err *err)
{
    static const char what[] = "device authorization endpoint";
    struct work *w = arg;
    struct doc *d = NULL;
    struct err wrong;
    if (answer == NULL) {
        unreachable(w, what, err);
        return;
    }
    if (json_doc(arena_str(&w->arena, answer->body), &w->arena, &d, &wrong) != STATUS_OK) {
        unexpected(w, what, answer->code);
        return;
    }
    if (answer->code >= 400 && answer->code < 500 && member(d, "error").len > 0) {
        refused(w, d);
        return;
    }
    struct identity_answer a = {
        .device_code = member(d, "device_code"),
        .user_code = member(d, "user_code"),
        .verification_url = member(d, "verification_uri"),
        .verification_url_complete = member(d, "verification_uri_complete"),
        .interval_s = number(d, "interval", INTERVAL_S, INTERVAL_MAX_S),
        .life_s = number(d, "expires_in", 600, 3600),
    };
    bool complete_ok = discovery_url_ok(a.verification_url_complete);
    a.verification_url_complete = complete_ok ? a.verification_url_complete : STR("");
    if (answer->code != 200 || a.device_code.len == 0 || a.user_code.len == 0 ||
        !discovery_url_ok(a.verification_url)) {
        unexpected(w, what, answer->code);
        return;
    }
    finish(w, &a);
}

static void ask_device(struct work *w)
{
    struct str url = cached(w)->discovery.device;
    struct buf form;
    struct err err;
    if (url.len == 0) {
        err_set(&err, STATUS_UNSUPPORTED, "it does not sign in on another device");
        err_hint(&err, "sign in with a browser: weir login");
        fail(w, &err);
        return;
    }
    buf_init(&form, FORM_BYTES_MAX);
    add_field(&form, "scope", scopes(w));
    post(w, "device authorization endpoint", url, &form, on_device);
}

/* ---- the port ---- */

static void ask(void *ctx, const struct identity_ask *from, identity_done *done, void *arg)
{
    static work_step *const first[] = {
        [IDENTITY_ASK_START] = tell_start,   [IDENTITY_ASK_CODE] = ask_tokens,
        [IDENTITY_ASK_DEVICE] = ask_device,  [IDENTITY_ASK_DEVICE_CODE] = ask_tokens,
        [IDENTITY_ASK_REFRESH] = ask_tokens, [IDENTITY_ASK_TOKEN] = take_token,
        [IDENTITY_ASK_END] = tell_end,
    };
    struct oidc *o = ctx;
    struct work *w = mem_alloc(sizeof *w);
    *w = (struct work){.next = o->works, .o = o, .ask = *from, .done = done, .arg = arg};
    o->works = w;
    arena_init(&w->arena, 0);
    record_copy(&record_provider, from->provider, &w->provider, &w->arena);
    struct str *texts[] = {&w->ask.secret, &w->ask.code,     &w->ask.redirect_uri, &w->ask.state,
                           &w->ask.nonce,  &w->ask.verifier, &w->ask.subject};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        *texts[i] = arena_str(&w->arena, *texts[i]);
    }
    CHECK((size_t)from->what < COUNT_OF(first));
    need_discovery(w, first[from->what]);
}

static void forget(void *ctx, const void *arg)
{
    struct oidc *o = ctx;
    for (struct work *w = o->works; w != NULL;) {
        struct work *next = w->next;
        if (w->arg == arg) {
            fetch_forget(o->fetch, w);
            work_free(w);
        }
        w = next;
    }
}

struct identity_port oidc_port(struct oidc *o)
{
    return (struct identity_port){o, ask, forget};
}

enum status oidc_new(const struct oidc_config *config, struct oidc **out, struct err *err)
{
    struct fetch *fetch;
    enum status status = fetch_new(config->loop, config->ca, &fetch, err);
    if (status != STATUS_OK) {
        return status;
    }
    struct oidc *o = mem_alloc(sizeof *o);
    o->config = *config;
    o->config.time_ms = config->time_ms > 0 ? config->time_ms : OIDC_TIME_MS;
    o->fetch = fetch;
    *out = o;
    return STATUS_OK;
}

void oidc_free(struct oidc *o)
{
    if (o == NULL) {
        return;
    }
    fetch_free(o->fetch);
    while (o->works != NULL) {
        work_free(o->works);
    }
    cache_done(&o->cache);
    mem_free(o);
}
