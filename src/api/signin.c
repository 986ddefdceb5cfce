// SPDX-License-Identifier: Apache-2.0
// POST /api/v1/token and /api/v2/token: who shows a password, a secret or a refresh token gets a token.
// Both take the same grants; the first is Run:ai's own form, the second that of OAuth 2.0 (RFC 6749).
//
// Wrong ones are counted by name, by address and by both (guard.h), and kept for the audit. An
// unknown name takes as long as a wrong password, and is answered with the same words.
#include "api/signin.h"

#include <string.h>

#include "api/attempt.h"
#include "api/guard.h"
#include "api/sso.h"
#include "base/check.h"
#include "base/num.h"
#include "codec/base64.h"
#include "codec/percent.h"
#include "io/crypto.h"
#include "io/password.h"
#include "io/random.h"
#include "model/limits.h"

enum {
    SECRET_BYTES = 32,
    FORM_FIELDS_MAX = 32,
    NAME_BYTES_MAX = 256,
    TRIES_PAIR = 5,     /* wrong ones for a name from an address before it has to wait */
    TRIES_ADDRESS = 50, /* from an address */
    TRIES_NAME = 100,   /* for a name: also when they come from everywhere */
};

/* ---- secrets ---- */

static struct str secret_hash(struct str secret, struct arena *arena)
{
    uint8_t sum[CRYPTO_SHA256_SIZE];
    char text[2 * CRYPTO_SHA256_SIZE + 1];
    crypto_sha256(secret, sum);
    for (int i = 0; i < CRYPTO_SHA256_SIZE; i++) {
        str_format(text + (size_t)i * 2, 3, "%02x", sum[i]);
    }
    return arena_str(arena, str_from_c(text));
}

struct secret secret_new(struct call *c)
{
    uint8_t bytes[SECRET_BYTES];
    struct buf text;
    buf_init(&text, 2 * (size_t)SECRET_BYTES);
    random_bytes(bytes, sizeof bytes);
    base64_encode(BASE64_URL, (struct str){(const char *)bytes, sizeof bytes}, &text);
    struct secret s = {.text = arena_str(c->arena, buf_view(&text))};
    s.hash = secret_hash(s.text, c->arena);
    buf_done(&text);
    return s;
}

struct str password_random(struct call *c)
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789"; /* 32, none like another */
    enum { LETTERS = 20, GROUP = 4 };
    _Static_assert(sizeof letters == 33, "five bits a letter");
    uint8_t bytes[LETTERS];
    char text[LETTERS + LETTERS / GROUP];
    uint32_t len = 0;
    random_bytes(bytes, sizeof bytes);
    for (int i = 0; i < LETTERS; i++) {
        if (i > 0 && i % GROUP == 0) {
            text[len++] = '-';
        }
        text[len++] = letters[bytes[i] % 32];
    }
    return arena_str(c->arena, (struct str){text, len});
}

/* ---- passwords, in their thread ---- */

struct password_job {
    struct call *call;
    void (*hashed)(struct call *c, struct str hash);
    void (*checked)(struct call *c, bool ok);
};

static void on_password(void *arg, bool ok, struct str hash)
{
    struct password_job *job = arg;
    struct call *c = job->call;
    c->request->over = NULL;
    if (job->checked != NULL) {
        job->checked(c, ok);
    } else if (ok) {
        job->hashed(c, arena_str(c->arena, hash));
    } else {
        struct err err;
        err_set(&err, STATUS_NO_MEMORY, "there is no memory for the hash of a password");
        call_fail(c, &err);
    }
}

static void on_password_gone(void *arg)
{
    struct password_job *job = arg;
    password_forget(job->call->api->config.passwords, job);
}

static struct password_job *job_new(struct call *c)
{
    struct password_job *job = ARENA_NEW(c->arena, struct password_job);
    job->call = c;
    c->request->over = on_password_gone;
    c->request->over_arg = job;
    return job;
}

static void job_failed(struct call *c, const struct err *err)
{
    c->request->over = NULL;
    call_fail(c, err);
}

void call_password_hash(struct call *c, struct str password,
                        void (*done)(struct call *c, struct str hash))
{
    struct err err;
    if (password.len < PASSWORD_LEN_MIN) {
        err_set(&err, STATUS_INVALID, "a password has at least %d bytes", PASSWORD_LEN_MIN);
        call_fail(c, &err);
        return;
    }
    struct password_job *job = job_new(c);
    job->hashed = done;
    if (password_hash(c->api->config.passwords, password, on_password, job, &err) != STATUS_OK) {
        job_failed(c, &err);
    }
}

void call_password_check(struct call *c, struct str hash, struct str password,
                         void (*done)(struct call *c, bool ok))
{
    struct err err;
    struct password_job *job = job_new(c);
    job->checked = done;
    if (password_check(c->api->config.passwords, hash, password, on_password, job, &err) !=
        STATUS_OK) {
        job_failed(c, &err);
    }
}

/* ---- a request for a token ---- */

static void answer_oauth(struct call *c, const char *error, const struct err *err)
{
    struct jw w;
    bool client = strcmp(error, "invalid_client") == 0;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("error"), str_from_c(error));
    jw_member_string(&w, STR("error_description"),
                     err->hint[0] == '\0' ? str_from_c(err->text)
                                          : arena_printf(c->arena, "%s; %s", err->text, err->hint));
    jw_object_end(&w);
    call_send(c, client ? 401 : 400);
}

/* Run:ai's clients try 401 again and again: they get 400 or 403. */
void attempt_fail(struct call *c, const struct attempt *a, const char *error, const struct err *err)
{
    if (a->oauth && status_info(err->status)->http < 500) {
        answer_oauth(c, error, err);
    } else {
        call_fail(c, err);
    }
}

static void refuse(struct call *c, struct attempt *a)
{
    struct err err;
    struct origin origin;
    int64_t now_ms = c->api->config.now_ms();
    for (size_t i = 0; i < COUNT_OF(a->keys); i++) {
        guard_failed(c->api->guard, a->keys[i], now_ms);
    }
    bool by_secret = a->grant == GRANT_SECRET;
    err_set(&err, STATUS_DENIED, "%s",
            by_secret ? "the client is unknown, or its secret is wrong"
                      : "the user is unknown, or the password is wrong");
    c->user = str_clip(a->name, NAME_BYTES_MAX);
    c->who.subject.kind = by_secret ? SUBJECT_APPLICATION : SUBJECT_USER;
    c->entity = ENTITY_USERS;
    c->scope = SCOPE_OF_TENANT;
    origin = call_origin(c);
    writer_refused(c->api->writer, c->user, &origin, STR("sign-in"), &err);
    attempt_fail(c, a, by_secret ? "invalid_client" : "invalid_grant", &err);
}

static bool may_try(struct call *c, struct attempt *a)
{
    static const uint32_t tries[] = {TRIES_PAIR, TRIES_ADDRESS, TRIES_NAME};
    int64_t now_ms = c->api->config.now_ms();
    int64_t wait_ms = 0;
    struct str name = str_clip(a->name, NAME_BYTES_MAX);
    struct str address = c->request->address;
    a->keys[0] = arena_printf(c->arena, "pair " STR_FMT " " STR_FMT, STR_ARG(address),
                              STR_ARG(name));
    a->keys[1] = arena_printf(c->arena, "address " STR_FMT, STR_ARG(address));
    a->keys[2] = arena_printf(c->arena, "name " STR_FMT, STR_ARG(name));
    for (size_t i = 0; i < COUNT_OF(tries); i++) {
        wait_ms = num_max_i64(wait_ms, guard_wait_ms(c->api->guard, a->keys[i], tries[i], now_ms));
    }
    if (wait_ms == 0) {
        return true;
    }
    struct err err;
    err_set(&err, STATUS_DENIED, "too many wrong attempts");
    err_hint(&err, "try again in %lld seconds", (long long)(wait_ms + 999) / 1000);
    attempt_fail(c, a, "invalid_grant", &err);
    return false;
}

void attempt_tokens(struct call *c, const struct attempt *a, bool with_refresh)
{
    struct buf access, refresh;
    struct jw w;
    struct session longer = a->session;
    int64_t now_ms = c->api->config.now_ms();
    longer.refresh = true;
    buf_init(&access, BODY_BYTES_MAX);
    buf_init(&refresh, BODY_BYTES_MAX);
    token_make(c->api->tokens, &a->session, c->user, STR(""), now_ms, &access);
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, a->oauth ? STR("access_token") : STR("accessToken"), buf_view(&access));
    if (a->oauth) {
        jw_member_string(&w, STR("token_type"), STR("Bearer"));
    }
    jw_member_i64(&w, a->oauth ? STR("expires_in") : STR("expiresIn"), TOKEN_ACCESS_S);
    if (with_refresh) {
        token_make(c->api->tokens, &longer, c->user, a->kept, now_ms, &refresh);
        jw_member_string(&w, a->oauth ? STR("refresh_token") : STR("refreshToken"),
                         buf_view(&refresh));
    }
    jw_object_end(&w);
    buf_done(&access);
    buf_done(&refresh);
    call_send(c, 200);
}

/* Whether it could be stored or not: who has the right password must get in to look after the disk. */
static void on_signed_in(struct call *c, const struct outcome *outcome)
{
    struct attempt *a = c->context;
    if (outcome->status == STATUS_UNKNOWN) {
        refuse(c, a); /* removed in this moment */
        return;
    }
    attempt_tokens(c, a, a->session.kind == SESSION_USER);
}

static void accept(struct call *c, struct attempt *a)
{
    struct input in = {.kind = INPUT_IDENTITY, .version = INPUT_VERSION};
    in.identity.op = IDENTITY_SIGN_IN;
    if (a->session.kind == SESSION_USER) {
        in.identity.user.id = a->session.id;
    } else if (a->session.kind == SESSION_KEY) {
        in.identity.key.id = a->session.id;
    } else {
        in.identity.application.id = a->session.id;
    }
    for (size_t i = 0; i < COUNT_OF(a->keys); i++) {
        guard_clear(c->api->guard, a->keys[i]);
    }
    c->entity = ENTITY_USERS;
    c->context = a;
    call_command(c, &in, on_signed_in);
}

/* ---- by password ---- */

static const struct identity *identity_of(const struct call *c)
{
    return &engine_state(c->api->config.engine)->identity;
}

static void on_checked(struct call *c, bool ok)
{
    struct attempt *a = c->context;
    const struct user *u = identity_user(identity_of(c), a->session.id);
    if (!ok || u == NULL || u->generation != a->session.generation) {
        refuse(c, a);
        return;
    }
    accept(c, a);
}

/* Users are named in lower case, however it was typed. */
struct str name_lower(struct str name, struct arena *arena)
{
    char *out = arena_alloc(arena, name.len + 1);
    for (uint32_t i = 0; i < name.len; i++) {
        char ch = name.ptr[i];
        out[i] = ch >= 'A' && ch <= 'Z' ? (char)(ch | 0x20) : ch;
    }
    return (struct str){out, name.len};
}

static void by_password(struct call *c, struct attempt *a)
{
    a->name = name_lower(a->name, c->arena);
    c->user = a->name;
    const struct user *u = identity_user_named(identity_of(c), a->name);
    struct str hash = STR("");
    a->session.kind = SESSION_USER;
    if (u != NULL) {
        hash = u->password;
        a->session.id = u->id;
        a->session.generation = u->generation;
    }
    c->context = a;
    call_password_check(c, hash, a->secret, on_checked);
}

/* ---- by secret ---- */

static bool is_secret(struct call *c, struct str hash, struct str secret)
{
    return hash.len > 0 && crypto_same(hash, secret_hash(secret, c->arena));
}

static void by_secret(struct call *c, struct attempt *a)
{
    const struct identity *d = identity_of(c);
    const struct application *app = identity_application_named(d, a->name);
    struct uuid id;
    const struct access_key *k = uuid_parse(a->name, &id) ? identity_key(d, id) : NULL;
    const struct user *u = k != NULL ? identity_user(d, k->user) : NULL;
    if (app != NULL && app->enabled && is_secret(c, app->secret, a->secret)) {
        a->session = (struct session){
            .kind = SESSION_APPLICATION, .id = app->id, .generation = app->generation};
        c->user = arena_str(c->arena, app->name);
        c->who.subject.kind = SUBJECT_APPLICATION;
        accept(c, a);
    } else if (u != NULL && is_secret(c, k->secret, a->secret)) {
        a->session = (struct session){
            .kind = SESSION_KEY, .id = k->id, .generation = k->generation};
        c->user = arena_str(c->arena, u->name);
        accept(c, a);
    } else {
        refuse(c, a);
    }
}

/* ---- by refresh token ---- */

static void by_refresh(struct call *c, struct attempt *a)
{
    struct err err;
    struct who who;
    int64_t now_ms = c->api->config.now_ms();
    enum status status = token_read(c->api->tokens, a->secret, now_ms, &a->session, &err);
    status = status != STATUS_OK ? status
                                 : session_who(&a->session, identity_of(c), now_ms, &who, &err);
    if (status == STATUS_OK && !a->session.refresh) {
        status = err_set(&err, STATUS_UNAUTHENTIC, "this is no refresh token");
    }
    if (status != STATUS_OK) {
        err.status = STATUS_DENIED;
        attempt_fail(c, a, "invalid_grant", &err);
        return;
    }
    c->user = arena_str(c->arena, who.subject.name);
    a->session.refresh = false;
    const struct user *u = identity_user(identity_of(c), a->session.id);
    if (u != NULL && !u->local) {
        sso_refresh(c, a);
        return;
    }
    attempt_tokens(c, a, true);
}

/* ---- reading the request ---- */

struct form_field {
    struct str name, value;
};
struct form {
    struct form_field fields[FORM_FIELDS_MAX];
    uint32_t count;
};

static bool same_word(struct str a, const char *b)
{
    struct str want = str_from_c(b);
    if (a.len != want.len) {
        return false;
    }
    for (uint32_t i = 0; i < a.len; i++) {
        char x = a.ptr[i] >= 'A' && a.ptr[i] <= 'Z' ? (char)(a.ptr[i] | 0x20) : a.ptr[i];
        if (x != want.ptr[i]) {
            return false;
        }
    }
    return true;
}

/* The first that is given of up to three spellings (in small letters; case is not looked at). */
static struct str field(const struct form *f, const char *a, const char *b, const char *d)
{
    const char *names[] = {a, b, d};
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        for (uint32_t i = 0; names[k] != NULL && i < f->count; i++) {
            if (same_word(f->fields[i].name, names[k])) {
                return f->fields[i].value;
            }
        }
    }
    return (struct str){0};
}

static bool read_form(struct str body, struct arena *arena, struct form *f)
{
    struct str pair;
    while (body.len > 0 && str_split(&body, '&', &pair)) {
        struct str name;
        struct str value = pair;
        if (!str_split(&value, '=', &name) || f->count == FORM_FIELDS_MAX) {
            return false;
        }
        struct form_field *to = &f->fields[f->count++];
        if (!percent_decode(name, arena, &to->name) || !percent_decode(value, arena, &to->value)) {
            return false;
        }
    }
    return true;
}

/* A string is a document in a document: what the asynchronous client sends. */
static bool read_json(struct str body, struct arena *arena, struct form *f, struct err *err)
{
    struct doc *d = NULL;
    enum status status = json_doc(body, arena, &d, err);
    if (status == STATUS_OK && d->kind == DOC_STRING) {
        status = json_doc(d->text, arena, &d, err);
    }
    if (status != STATUS_OK) {
        return false;
    }
    if (d->kind != DOC_MAP) {
        err_set(err, STATUS_INVALID, "expected an object, got %s", doc_kind_name(d->kind));
        return false;
    }
    for (const struct doc *m = d->child; m != NULL && f->count < FORM_FIELDS_MAX; m = m->next) {
        if (m->kind == DOC_STRING) {
            f->fields[f->count++] = (struct form_field){m->key, m->text};
        }
    }
    return true;
}

/* A client may name itself in the header instead (RFC 6749, 2.3.1). */
static void read_basic(struct call *c, struct attempt *a)
{
    static const struct str scheme = STRS("Basic ");
    struct str header = http_header(c->request, "Authorization");
    struct str text = str_trim(str_sub(header, scheme.len, header.len));
    struct buf bytes;
    buf_init(&bytes, OPEN_BODY_BYTES_MAX);
    if (str_starts(header, scheme) && base64_decode(BASE64_STD, text, &bytes)) {
        struct str rest = arena_str(c->arena, buf_view(&bytes));
        struct str name;
        if (str_split(&rest, ':', &name) && percent_decode(name, c->arena, &name) &&
            percent_decode(rest, c->arena, &rest)) {
            a->name = name;
            a->secret = rest;
        }
    }
    buf_done(&bytes);
}

static bool read_attempt(struct call *c, struct attempt *a)
{
    struct form form = {0};
    struct err err;
    struct str body = str_trim(c->request->body);
    bool json = !a->oauth || (body.len > 0 && (body.ptr[0] == '{' || body.ptr[0] == '"'));
    err_set(&err, STATUS_INVALID, "the body is no form of names and values");
    if (json ? !read_json(body, c->arena, &form, &err) : !read_form(body, c->arena, &form)) {
        attempt_fail(c, a, "invalid_request", &err);
        return false;
    }
    struct str grant = field(&form, "granttype", "grant_type", NULL);
    if (same_word(grant, "password")) {
        a->grant = GRANT_PASSWORD;
        a->name = field(&form, "username", NULL, NULL);
        a->secret = field(&form, "password", NULL, NULL);
    } else if (same_word(grant, "app_token") || same_word(grant, "client_credentials")) {
        a->grant = GRANT_SECRET;
        a->name = field(&form, "appid", "clientid", "client_id");
        a->secret = field(&form, "appsecret", "clientsecret", "client_secret");
        if (a->name.len == 0) {
            read_basic(c, a);
        }
    } else if (same_word(grant, "authorization_code") || same_word(grant, "exchange_token")) {
        a->grant = GRANT_CODE;
        a->secret = field(&form, "code", NULL, NULL);
        a->redirect_uri = field(&form, "redirecturi", "redirect_uri", NULL);
        a->verifier = field(&form, "codeverifier", "code_verifier", NULL);
        a->name = STR("code");
    } else if (same_word(grant, "urn:ietf:params:oauth:grant-type:device_code")) {
        a->grant = GRANT_DEVICE;
        a->secret = field(&form, "devicecode", "device_code", NULL);
        a->name = STR("device");
    } else if (same_word(grant, "external_token_exchange")) {
        a->grant = GRANT_EXTERNAL;
        a->secret = field(&form, "externaltoken", "external_token", NULL);
        a->provider = field(&form, "idp", NULL, NULL);
        a->name = STR("token");
    } else if (same_word(grant, "refresh_token")) {
        a->grant = GRANT_REFRESH;
        a->secret = field(&form, "refreshtoken", "refresh_token", NULL);
        a->name = STR("refresh");
    } else {
        err_set(&err, STATUS_INVALID, "\"" STR_FMT "\" is no way to sign in here",
                STR_ARG(str_clip(grant, 100)));
        err_field(&err, a->oauth ? "grant_type" : "grantType");
        err_hint(&err, "there are client_credentials, password, refresh_token and those of single "
                       "sign-on: docs/access.md");
        attempt_fail(c, a, "unsupported_grant_type", &err);
        return false;
    }
    if (a->name.len == 0 || a->secret.len == 0) {
        err_set(&err, STATUS_INVALID, "the %s is missing", a->name.len == 0 ? "name" : "secret");
        attempt_fail(c, a, "invalid_request", &err);
        return false;
    }
    return true;
}

static void ask_token(struct call *c, bool oauth)
{
    struct attempt *a = ARENA_NEW(c->arena, struct attempt);
    struct err err;
    a->oauth = oauth;
    if (c->api->tokens == NULL) {
        err_set(&err, STATUS_UNSUPPORTED, "this server gives no tokens");
        attempt_fail(c, a, "unauthorized_client", &err);
        return;
    }
    if (!read_attempt(c, a)) {
        return;
    }
    if (a->grant == GRANT_REFRESH) {
        by_refresh(c, a);
    } else if (a->grant == GRANT_CODE) {
        sso_code(c, a);
    } else if (a->grant == GRANT_DEVICE) {
        sso_device_code(c, a);
    } else if (a->grant == GRANT_EXTERNAL) {
        sso_external(c, a);
    } else if (!may_try(c, a)) {
        return;
    } else if (a->grant == GRANT_PASSWORD) {
        by_password(c, a);
    } else {
        by_secret(c, a);
    }
}

static void post_token(struct call *c)
{
    ask_token(c, false);
}

static void post_token_v2(struct call *c)
{
    ask_token(c, true);
}

static const struct schema_row schemas[] = {
    {"TokenRequest",  "grantType* str, appID str, appSecret str, clientID str, clientSecret str, "
                     "username str, password str, refreshToken str, code str, redirectUri str, "
                     "codeVerifier str, deviceCode str, externalToken str, idp str"},
    {"TokenResponse", "accessToken* str, refreshToken str, expiresIn int"                              },
    {"TokenForm",
     "grant_type* str, client_id str, client_secret str, username str, password str, "
     "refresh_token str, code str, redirect_uri str, code_verifier str, device_code str"               },
    {"OAuth2Token",   "access_token* str, token_type* str, expires_in int, refresh_token str"          },
};

static const struct route routes[] = {
    {"POST", "/api/v1/token", "grant_token",    post_token,    NULL, "TokenRequest", 200, "TokenResponse",
     "Sign in: a token for a secret, a password or a refresh token",                                                                            ROUTE_RAW_BODY,              "open"},
    {"POST", "/api/v2/token", "grant_token_v2", post_token_v2, NULL, "TokenForm",    200,
     "OAuth2Token",                                                                                        "The same in the form of OAuth 2.0", ROUTE_RAW_BODY | ROUTE_FORM, "open"},
};

const struct route_group group_tokens = ROUTE_GROUP("tokens", routes, schemas);
