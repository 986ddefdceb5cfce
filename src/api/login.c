// SPDX-License-Identifier: Apache-2.0
// /api/weir/v1/login: a browser goes to an identity provider and comes back. What it came for it keeps
// itself, sealed, in a cookie named after its state: so only the browser that began ends, and several
// attempts can be under way in it.
#include "api/cookie.h"
#include "api/guard.h"
#include "api/runai/people.h"
#include "api/vouch.h"
#include "codec/discovery.h"
#include "codec/percent.h"

#define P     "/api/weir/v1/login"
#define ABOUT "login"

enum {
    TARGET_BYTES_MAX = 1024,
    STATE_BYTES_MAX = 512,
    CHALLENGE_BYTES = 43, /* SHA-256 in base64url */
    STATE_SHOWN = 16,     /* of it in the name of its cookie */
    TRIES_DEVICE = 20,
    PAGE_BYTES_MAX = 64 << 10,
};

/* ---- answers for browsers ---- */

static void redirect(struct call *c, struct str url)
{
    http_set_header(c->request, "Location", url);
    http_set_header(c->request, "Referrer-Policy", STR("no-referrer"));
    http_answer(c->request, 302, "text/plain", STR(""));
}

static void add_text(struct buf *page, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"' || *text == '\'') {
            buf_printf(page, "&#%d;", *text);
        } else {
            buf_char(page, *text);
        }
    }
}

static bool is_browser(const struct http_request *r)
{
    struct str rest = http_header(r, "Accept");
    struct str type;
    while (rest.len > 0 && str_split(&rest, ',', &type)) {
        if (str_starts(str_trim(type), STR("text/html"))) {
            return true;
        }
    }
    return false;
}

/* For a person a page, for a program the body of every error. */
static void fail(struct call *c, const struct err *err)
{
    struct buf page;
    if (!is_browser(c->request)) {
        call_fail(c, err);
        return;
    }
    buf_init(&page, PAGE_BYTES_MAX);
    buf_str(&page, STR("<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">"
                       "<title>weir: not signed in</title><h1>You are not signed in</h1><p>"));
    add_text(&page, err->text);
    buf_str(&page, STR("</p><p>"));
    add_text(&page, err->hint);
    buf_str(&page, STR("</p><p>Request "));
    add_text(&page, c->request->id);
    buf_str(&page, STR("</p></html>\n"));
    http_set_header(c->request, "Content-Security-Policy",
                    STR("default-src 'none'; frame-ancestors 'none'"));
    http_set_header(c->request, "Referrer-Policy", STR("no-referrer"));
    http_answer(c->request, status_info(err->status)->http, "text/html; charset=utf-8",
                buf_view(&page));
    buf_done(&page);
}

static struct str with_arg(struct call *c, struct str url, const char *name, struct str value)
{
    struct buf b;
    buf_init(&b, PAGE_BYTES_MAX);
    buf_printf(&b, STR_FMT "%s%s=", STR_ARG(url), str_find(url, '?') < url.len ? "&" : "?", name);
    percent_encode(value, &b);
    struct str out = arena_str(c->arena, buf_view(&b));
    buf_done(&b);
    return out;
}

/* ---- an attempt ---- */

struct login {
    struct str provider, state, nonce, verifier;
    struct str next; /* a path of ours to go to */
    /* Or a program on the user's machine that sent the browser. */
    struct str program, program_state, challenge;
};

static struct str cookie_name(struct call *c, struct str state)
{
    return arena_printf(c->arena, "weir_login_" STR_FMT, STR_ARG(str_sub(state, 0, STATE_SHOWN)));
}

static void keep(struct call *c, const struct login *l)
{
    const struct {
        struct str name, value;
    } members[] = {
        {STRS("idp"),           l->provider     },
        {STRS("state"),         l->state        },
        {STRS("nonce"),         l->nonce        },
        {STRS("verifier"),      l->verifier     },
        {STRS("next"),          l->next         },
        {STRS("program"),       l->program      },
        {STRS("program_state"), l->program_state},
        {STRS("challenge"),     l->challenge    },
    };
    struct buf text;
    struct jw w;
    buf_init(&text, PAGE_BYTES_MAX);
    jw_init(&w, &text, false);
    jw_object_begin(&w);
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        jw_member_string(&w, members[i].name, members[i].value);
    }
    jw_member_i64(&w, STR("exp_ms"), c->api->config.now_ms() + INT64_C(1000) * SSO_ATTEMPT_S);
    jw_object_end(&w);
    cookie_set(c, cookie_name(c, l->state), vouch_seal(c, ABOUT, buf_view(&text)), P,
               SSO_ATTEMPT_S);
    buf_done(&text);
}

/* False: this browser did not begin it. */
static bool take(struct call *c, struct str state, struct login *l)
{
    struct str name = cookie_name(c, state);
    const struct doc *d = vouch_open(c, ABOUT, cookie_get(c->request, name));
    if (d == NULL || state.len == 0 || !crypto_same(state, body_str(d, STR("state"))) ||
        body_i64(d, STR("exp_ms"), 0) <= c->api->config.now_ms()) {
        return false;
    }
    *l = (struct login){
        .provider = body_str(d, STR("idp")),
        .state = body_str(d, STR("state")),
        .nonce = body_str(d, STR("nonce")),
        .verifier = body_str(d, STR("verifier")),
        .next = body_str(d, STR("next")),
        .program = body_str(d, STR("program")),
        .program_state = body_str(d, STR("program_state")),
        .challenge = body_str(d, STR("challenge")),
    };
    cookie_set(c, name, STR(""), P, 0);
    return true;
}

/* The one that sent the browser is told too. */
static void fail_login(struct call *c, const struct login *l, const struct err *err)
{
    if (l->program.len == 0) {
        fail(c, err);
        return;
    }
    struct str text = str_from_c(err->text);
    struct str url = with_arg(c, l->program, "error", STR("access_denied"));
    if (err->hint[0] != '\0') {
        text = arena_printf(c->arena, "%s; %s", err->text, err->hint);
    }
    url = with_arg(c, url, "error_description", text);
    redirect(c, with_arg(c, url, "state", l->program_state));
}

/* ---- there ---- */

static bool is_printable(struct str s)
{
    for (uint32_t i = 0; i < s.len; i++) {
        if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f || s.ptr[i] == '\\') {
            return false;
        }
    }
    return true;
}

/* A path of this server, and no address of another one. */
static struct str safe_next(struct str next)
{
    bool ok = next.len > 0 && next.len <= TARGET_BYTES_MAX && next.ptr[0] == '/' &&
              !str_starts(next, STR("//")) && is_printable(next);
    return ok ? next : STR("/");
}

/* Only to the user's own machine goes a browser with a code (RFC 8252, 7.3). */
static enum status read_program(const struct call *c, struct login *l, struct err *err)
{
    l->program = body_str(c->args, STR("redirect_uri"));
    l->program_state = body_str(c->args, STR("state"));
    l->challenge = body_str(c->args, STR("code_challenge"));
    if (l->program.len == 0) {
        return STATUS_OK;
    }
    if (l->program.len > TARGET_BYTES_MAX || !str_starts(l->program, STR("http://")) ||
        !discovery_url_ok(l->program)) {
        err_set(err, STATUS_INVALID,
                "expected an address of this machine: http://127.0.0.1:PORT/…");
        err_field(err, "redirect_uri");
        return STATUS_INVALID;
    }
    if (l->challenge.len != CHALLENGE_BYTES || l->program_state.len == 0 ||
        l->program_state.len > STATE_BYTES_MAX) {
        err_set(err, STATUS_INVALID, "expected a state and a code_challenge (S256)");
        err_field(err, l->challenge.len != CHALLENGE_BYTES ? "code_challenge" : "state");
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static void on_started(struct call *c, const struct identity_answer *answer)
{
    const struct login *l = c->context;
    if (answer->err.status != STATUS_OK) {
        fail_login(c, l, &answer->err);
        return;
    }
    keep(c, l);
    redirect(c, answer->url);
}

static void start(struct call *c)
{
    struct login *l = ARENA_NEW(c->arena, struct login);
    const struct provider *p;
    struct err err;
    if (read_program(c, l, &err) != STATUS_OK ||
        vouch_provider(c, body_str(c->args, STR("idp")), &p, &err) != STATUS_OK) {
        fail(c, &err);
        return;
    }
    l->provider = arena_str(c->arena, p->alias);
    l->next = safe_next(body_str(c->args, STR("next")));
    l->state = vouch_random(c);
    l->nonce = vouch_random(c);
    l->verifier = vouch_random(c);
    c->context = l;
    vouch_ask(c, p,
              &(struct identity_ask){.what = IDENTITY_ASK_START,
                                     .redirect_uri = sso_callback_url(c, l->provider),
                                     .state = l->state,
                                     .nonce = l->nonce,
                                     .verifier = l->verifier},
              on_started);
}

/* ---- and back ---- */

static void give_session(struct call *c, const struct vouched *v)
{
    struct buf token;
    buf_init(&token, BODY_BYTES_MAX);
    token_make(c->api->tokens, &v->session, c->user, STR(""), c->api->config.now_ms(), &token);
    cookie_set(c, STR(COOKIE_SESSION), buf_view(&token), "/", TOKEN_ACCESS_S);
    buf_done(&token);
}

static void on_signed_in(struct call *c, struct vouched *v, const struct err *err)
{
    const struct login *l = v->context;
    if (err != NULL) {
        fail_login(c, l, err);
    } else if (l->program.len > 0) {
        struct str code = vouch_code(c, v, l->program, l->challenge);
        struct str url = with_arg(c, l->program, "code", code);
        redirect(c, with_arg(c, url, "state", l->program_state));
    } else {
        give_session(c, v);
        redirect(c, l->next);
    }
}

static void on_vouched(struct call *c, const struct identity_answer *answer)
{
    struct vouched *v = c->context;
    if (answer->err.status == STATUS_OK) {
        vouch_sign_in(c, v, answer, on_signed_in);
        return;
    }
    if (answer->err.status == STATUS_DENIED) {
        vouch_refused(c, v->provider, &answer->err);
    }
    fail_login(c, v->context, &answer->err);
}

static enum status read_answer(struct call *c, const struct login *l, struct err *err)
{
    struct str error = http_arg(c->request, STR("error"));
    struct str more = http_arg(c->request, STR("error_description"));
    if (!str_eq(l->provider, c->segments.items[0])) {
        return err_set(err, STATUS_DENIED, "another identity provider answers");
    }
    if (error.len > 0) {
        return err_set(err, STATUS_DENIED,
                       "identity provider " STR_FMT " says: " STR_FMT "%s" STR_FMT,
                       STR_ARG(l->provider), STR_ARG(str_clip(error, 100)),
                       more.len > 0 ? ", " : "", STR_ARG(str_clip(more, 200)));
    }
    if (http_arg(c->request, STR("code")).len == 0) {
        return err_set(err, STATUS_DENIED, "identity provider " STR_FMT " gave no code",
                       STR_ARG(l->provider));
    }
    return vouch_may_try(c, err) ? STATUS_OK : STATUS_DENIED;
}

static void callback(struct call *c)
{
    struct login *l = ARENA_NEW(c->arena, struct login);
    const struct provider *p;
    struct err err;
    if (c->api->tokens == NULL || !take(c, http_arg(c->request, STR("state")), l)) {
        err_set(&err, STATUS_DENIED, "this browser has not begun to sign in here, or too long ago");
        err_hint(&err, "begin again; cookies must be allowed");
        fail(c, &err);
        return;
    }
    if (read_answer(c, l, &err) != STATUS_OK ||
        vouch_provider(c, l->provider, &p, &err) != STATUS_OK) {
        fail_login(c, l, &err);
        return;
    }
    struct vouched *v = ARENA_NEW(c->arena, struct vouched);
    v->provider = l->provider;
    v->context = l;
    c->context = v;
    vouch_ask(c, p,
              &(struct identity_ask){.what = IDENTITY_ASK_CODE,
                                     .code = http_arg(c->request, STR("code")),
                                     .redirect_uri = sso_callback_url(c, l->provider),
                                     .nonce = l->nonce,
                                     .verifier = l->verifier},
              on_vouched);
}

/* ---- another device ---- */

static struct str device_key(struct call *c)
{
    return arena_printf(c->arena, "device " STR_FMT, STR_ARG(c->request->address));
}

static struct str seal_device(struct call *c, struct str provider,
                              const struct identity_answer *answer)
{
    struct buf text;
    struct jw w;
    buf_init(&text, PAGE_BYTES_MAX);
    jw_init(&w, &text, false);
    jw_object_begin(&w);
    jw_member_string(&w, STR("idp"), provider);
    jw_member_string(&w, STR("code"), answer->device_code);
    jw_member_i64(&w, STR("exp_ms"), c->api->config.now_ms() + 1000 * answer->life_s);
    jw_object_end(&w);
    struct str sealed = vouch_seal(c, "device", buf_view(&text));
    buf_done(&text);
    return sealed;
}

static void on_device(struct call *c, const struct identity_answer *answer)
{
    const struct str *provider = c->context;
    struct jw w;
    if (answer->err.status != STATUS_OK) {
        call_fail(c, &answer->err);
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("device_code"), seal_device(c, *provider, answer));
    jw_member_string(&w, STR("user_code"), answer->user_code);
    jw_member_string(&w, STR("verification_uri"), answer->verification_url);
    if (answer->verification_url_complete.len > 0) {
        jw_member_string(&w, STR("verification_uri_complete"), answer->verification_url_complete);
    }
    jw_member_i64(&w, STR("expires_in"), answer->life_s);
    jw_member_i64(&w, STR("interval"), answer->interval_s);
    jw_object_end(&w);
    call_send(c, 200);
}

/* Each costs the provider something: nobody begins them one after the other. */
static void device(struct call *c)
{
    const struct provider *p;
    struct err err;
    int64_t now_ms = c->api->config.now_ms();
    int64_t wait_ms = guard_wait_ms(c->api->guard, device_key(c), TRIES_DEVICE, now_ms);
    if (wait_ms > 0) {
        err_set(&err, STATUS_DENIED, "too many of these from your address");
        err_hint(&err, "try again in %lld seconds", (long long)(wait_ms + 999) / 1000);
        call_fail(c, &err);
        return;
    }
    if (vouch_provider(c, body_str(c->body, STR("idp")), &p, &err) != STATUS_OK) {
        call_fail(c, &err);
        return;
    }
    guard_failed(c->api->guard, device_key(c), now_ms);
    struct str *alias = ARENA_NEW(c->arena, struct str);
    *alias = arena_str(c->arena, p->alias);
    c->context = alias;
    vouch_ask(c, p, &(struct identity_ask){.what = IDENTITY_ASK_DEVICE}, on_device);
}

/* ---- which ways there are; signing out ---- */

static void list(struct call *c)
{
    const struct identity *d = identity_of(c);
    bool sso = c->api->tokens != NULL && c->api->config.identity.ask != NULL;
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_bool(&w, STR("password"), c->api->tokens != NULL);
    jw_key(&w, STR("providers"));
    jw_array_begin(&w);
    for (uint32_t i = 0; sso && i < d->providers_count; i++) {
        jw_object_begin(&w);
        jw_member_string(&w, STR("name"), d->providers[i].alias);
        jw_member_string(&w, STR("type"), STR("oidc"));
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void answer_logout(struct call *c, struct str url)
{
    struct jw w;
    cookie_set(c, STR(COOKIE_SESSION), STR(""), "/", 0);
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("url"), url);
    jw_object_end(&w);
    call_send(c, 200);
}

/* Whether the provider can be reached or not: the browser is signed out here. */
static void on_end(struct call *c, const struct identity_answer *answer)
{
    answer_logout(c, answer->err.status == STATUS_OK ? answer->url : STR(""));
}

static void logout(struct call *c)
{
    const struct user *u = c->session.kind == SESSION_USER
                               ? identity_user(identity_of(c), c->session.id)
                               : NULL;
    const struct provider *p = NULL;
    struct str home = arena_printf(c->arena, STR_FMT "/", STR_ARG(c->api->config.url));
    if (u == NULL || u->local || vouch_provider(c, u->provider, &p, NULL) != STATUS_OK) {
        answer_logout(c, STR(""));
        return;
    }
    vouch_ask(c, p, &(struct identity_ask){.what = IDENTITY_ASK_END, .redirect_uri = home}, on_end);
}

static const struct schema_row schemas[] = {
    {"LoginWays",   "password* bool, providers* [{name* str, type* 'oidc'}]"                          },
    {"DeviceStart", "idp str"                                                                         },
    {"DeviceCodes", "device_code* str, user_code* str, verification_uri* str, "
                    "verification_uri_complete str, expires_in* int, interval* int"},
    {"LoggedOut",   "url* str"                                                                        },
};

static const struct route routes[] = {
    {"GET",  P,                     "login_ways",     list,     NULL,      NULL,          200, "LoginWays",   "How one can sign in", 0,                             "open"},
    {"GET",  P "/sso",              "login_sso",      start,
     "idp str, next str, redirect_uri str, state str, code_challenge str", NULL,          302, NULL,
     "Send a browser to an identity provider",                                                                                       ROUTE_STREAM,                  "open"},
    {"GET",  P "/callback/{idp}",   "login_callback", callback, NULL,      NULL,          302, NULL,
     "Where it comes back to",                                                                                                       ROUTE_STREAM | ROUTE_ANY_ARGS, "open"},
    {"POST", P "/device",           "login_device",   device,   NULL,      "DeviceStart", 200, "DeviceCodes",
     "Sign in on another device (RFC 8628); /api/v2/token then takes the device_code",                                               0,                             "open"},
    {"POST", "/api/weir/v1/logout", "logout",         logout,   NULL,      NULL,          200, "LoggedOut",
     "Sign the browser out; url is where the identity provider does the same",                                                       0,                             "self"},
};

const struct route_group group_login = ROUTE_GROUP("Signing in", routes, schemas);
