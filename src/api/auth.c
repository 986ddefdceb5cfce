// SPDX-License-Identifier: Apache-2.0
// Who asks, and what the state gives them. The book of access is made anew when plan or identity have
// changed; a call's grants and sight follow it, also when the call waited for a command meanwhile.
#include <unistd.h>

#include "api/cookie.h"
#include "base/check.h"
#include "base/num.h"
#include "io/clock.h"

/* ---- the book ---- */

const struct access_book *api_book(struct api *api)
{
    const struct state *st = engine_state(api->config.engine);
    if (api->book_version == 0 || api->book.plan_revision != st->plan_revision ||
        api->book.identity_revision != st->identity.revision) {
        arena_done(&api->book_arena);
        arena_init(&api->book_arena, 0);
        access_book_build(&api->book, &st->plan, st->plan_revision, &st->identity,
                          &api->book_arena);
        api->book_version++;
    }
    return &api->book;
}

const struct grants *call_grants(struct call *c)
{
    const struct access_book *book = api_book(c->api);
    if (c->grants_version != c->api->book_version) {
        access_grants(book, &c->who.subject, c->arena, &c->grants);
        c->sight = (struct sight){
            .engine = c->api->config.engine, .grants = &c->grants, .arena = c->arena};
        c->grants_version = c->api->book_version;
    }
    return &c->grants;
}

struct sight *call_sight(struct call *c)
{
    call_grants(c);
    return &c->sight;
}

/* ---- who asks ---- */

static bool may_use(const struct peer *peer)
{
    return peer->uid == 0 || peer->uid == geteuid();
}

/* The token behind "Bearer "; false: there is no such header. */
static bool bearer(const struct http_request *r, struct str *token)
{
    static const struct str scheme = STRS("bearer ");
    struct str header = http_header(r, "Authorization");
    if (header.len < scheme.len) {
        return false;
    }
    for (uint32_t i = 0; i < scheme.len; i++) {
        char c = header.ptr[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c) != scheme.ptr[i]) {
            return false;
        }
    }
    *token = str_trim(str_sub(header, scheme.len, header.len));
    return true;
}

static enum status by_token(struct api *api, struct str token, struct session *session,
                            struct who *who, struct err *err)
{
    int64_t now_ms = api->config.now_ms();
    if (api->tokens == NULL) {
        return err_set(err, STATUS_UNAUTHENTIC, "this server gives no tokens, and takes none");
    }
    enum status status = token_read(api->tokens, token, now_ms, session, err);
    if (status == STATUS_OK && session->refresh) {
        status = err_set(err, STATUS_UNAUTHENTIC,
                         "this is a refresh token: it is exchanged at /api/v2/token");
    }
    const struct identity *identity = &engine_state(api->config.engine)->identity;
    return status != STATUS_OK ? status : session_who(session, identity, now_ms, who, err);
}

/* A browser sends its cookies along whoever's page asks: what changes something, or opens a socket, must
 * come from a page of ours. */
static enum status by_cookie(struct api *api, const struct http_request *r, struct str token,
                             struct session *session, struct who *who, struct err *err)
{
    bool reads = str_eq(r->method, STR("GET")) || str_eq(r->method, STR("HEAD"));
    if ((!reads || http_header(r, "Upgrade").len > 0) && !cookie_same_origin(r)) {
        err_set(err, STATUS_DENIED, "a page of another server asked for this");
        return err_hint(err, "programs send a token: Authorization: Bearer …");
    }
    return by_token(api, token, session, who, err);
}

/* A job runs as the user who submits, often an administrator: it is not him. Asked once for each
 * connection, since that is what the kernel tells: who made it. */
static enum status refuse_jobs(const struct api_host *host, const struct http_request *r,
                               const struct peer *peer, struct err *err)
{
    if (host->is_pod == NULL || *r->known) {
        return STATUS_OK;
    }
    bool pod = host->is_pod(host->ctx, peer->pid);
    if (peer_gone(r->fd)) {
        return err_set(err, STATUS_DENIED, "the process that connected has ended");
    }
    if (pod) {
        err_set(err, STATUS_DENIED, "jobs may not use weir (process %d)", (int)peer->pid);
        return err_hint(err, "use weir from outside of the job");
    }
    *r->known = true;
    return STATUS_OK;
}

static enum status by_peer(struct api *api, const struct http_request *r, struct peer *peer,
                           struct session *session, struct who *who, struct err *err)
{
    enum status status = peer_get(r->fd, peer, err);
    if (status != STATUS_OK) {
        return status;
    }
    if (!may_use(peer)) {
        char name[PEER_NAME_SIZE];
        char self[PEER_NAME_SIZE];
        peer_name(peer->uid, name);
        peer_name(geteuid(), self);
        err_set(err, STATUS_DENIED, "user %s may not use this weir", name);
        return err_hint(err, "only root and %s, who runs it, may; others sign in: weir login",
                        self);
    }
    *session = (struct session){.kind = SESSION_MACHINE};
    *who = (struct who){.subject = {.machine = true}};
    return refuse_jobs(&api->config.host, r, peer, err);
}

static enum status identify(struct api *api, const struct http_request *r, struct peer *peer,
                            struct session *session, struct who *who, struct err *err)
{
    struct str token;
    if (bearer(r, &token)) {
        return by_token(api, token, session, who, err);
    }
    token = cookie_get(r, STR(COOKIE_SESSION));
    if (!r->local && token.len > 0) {
        return by_cookie(api, r, token, session, who, err);
    }
    if (r->local) {
        return by_peer(api, r, peer, session, who, err);
    }
    if (api->tokens == NULL) {
        err_set(err, STATUS_UNAUTHENTIC, "over TCP only /healthz and /version are answered");
        return err_hint(err, "use weir on this machine, which signs in over the local socket");
    }
    err_set(err, STATUS_UNAUTHENTIC, "nobody is signed in");
    return err_hint(err, "send a token: Authorization: Bearer …; weir login gets one");
}

bool call_known(struct api *api, const struct http_request *r)
{
    struct peer peer;
    struct session session;
    struct who who;
    return identify(api, r, &peer, &session, &who, NULL) == STATUS_OK;
}

/* The system's list of users is a file to be read: a name is kept for a moment. */
static struct str name_of_peer(struct api *api, uid_t uid)
{
    enum { KEPT_MS = 10 * 1000 };
    int64_t now_ms = clock_mono_ms();
    if (api->named_ms == 0 || api->named_uid != uid || now_ms - api->named_ms >= KEPT_MS) {
        peer_name(uid, api->named);
        api->named_uid = uid;
        api->named_ms = now_ms;
    }
    return str_from_c(api->named);
}

void call_is(struct call *c, const struct who *who)
{
    c->who = *who;
    struct subject *s = &c->who.subject;
    struct str_item *groups = ARENA_ARRAY(c->arena, struct str_item, s->groups_count);
    for (uint32_t i = 0; i < s->groups_count; i++) {
        groups[i].value = arena_str(c->arena, s->groups[i].value);
    }
    s->groups = groups;
    if (s->machine) {
        s->name = name_of_peer(c->api, c->peer.uid);
    }
    s->name = arena_str(c->arena, s->name);
    c->user = s->name;
}

/* Who may not use this weir is told so whatever else is wrong, and learns nothing more. */
bool call_admit(struct call *c)
{
    struct err err;
    struct who who;
    enum permit_where where = c->entry != NULL ? c->entry->permit.where : PERMIT_SOMEWHERE;
    if (where == PERMIT_OPEN) {
        return true;
    }
    if (identify(c->api, c->request, &c->peer, &c->session, &who, &err) != STATUS_OK) {
        call_fail(c, &err);
        return false;
    }
    call_is(c, &who);
    if (c->who.change_password && where != PERMIT_SELF) {
        err_set(&err, STATUS_DENIED, "somebody else knows your password: change it first");
        err_hint(&err, "weir user password, or POST /api/v1/me/password");
        call_fail(c, &err);
        return false;
    }
    return true;
}

/* ---- deciding ---- */

const struct workload *call_workload(struct call *c)
{
    if (c->workload == NULL) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, "the workload is gone");
        call_fail(c, &err);
    }
    return c->workload;
}

uint32_t call_row(const struct call *c)
{
    CHECK(c->decided);
    return c->row;
}

bool call_answered(struct call *c, struct uuid *id)
{
    return engine_answered(c->api->config.engine, c->user,
                           http_header(c->request, "Idempotency-Key"), id);
}

void call_about(struct call *c, struct str name)
{
    c->thing = str_clip(arena_str(c->arena, name), 256);
}

bool call_is_read(const struct call *c)
{
    return str_eq(c->request->method, STR("GET")) || str_eq(c->request->method, STR("HEAD"));
}

void call_reject(struct call *c, const struct err *err)
{
    if (call_is_read(c)) {
        call_fail(c, err);
    } else {
        call_refuse(c, NULL, err);
    }
}

static struct str scope_words(struct call *c, struct scope s)
{
    const struct plan *plan = &engine_state(c->api->config.engine)->plan;
    const struct scope_tree *tree = &call_grants(c)->book->tree;
    uint32_t row;
    switch (s.kind) {
    case SCOPE_DEPARTMENT:
        if (map_get_u64(&tree->departments, s.id, &row)) {
            return arena_printf(c->arena, " in department \"" STR_FMT "\"",
                                STR_ARG(plan->departments[row].name));
        }
        return (struct str){0};
    case SCOPE_PROJECT:
        if (map_get_u64(&tree->projects, s.id, &row)) {
            return arena_printf(c->arena, " in project \"" STR_FMT "\"",
                                STR_ARG(plan->projects[row].name));
        }
        return (struct str){0};
    case SCOPE_TENANT:
    case SCOPE_CLUSTER:
        return (struct str){0};
    }
    return (struct str){0};
}

void call_denied(struct call *c, enum entity e, enum right right, struct scope scope)
{
    struct err err;
    c->entity = e;
    c->right = right;
    err_set(&err, STATUS_DENIED, STR_FMT " may not " STR_FMT " " STR_FMT STR_FMT, STR_ARG(c->user),
            STR_ARG(right_name(right)), STR_ARG(entity_info(e)->display),
            STR_ARG(scope_words(c, scope)));
    err_hint(&err, "weir whoami shows your roles; who administers access can give you another");
    call_reject(c, &err);
}

bool call_may(struct call *c, enum entity e, enum right right, struct scope scope)
{
    const struct grants *g = call_grants(c);
    c->scope = scope;
    c->entity = e;
    c->right = right;
    if (access_allows(g, e, right, scope)) {
        c->decided = true;
        return true;
    }
    if (right != RIGHT_READ && access_allows(g, e, RIGHT_READ, scope)) {
        call_denied(c, e, right, scope);
        return false;
    }
    struct err err;
    err_set(&err, STATUS_UNKNOWN, "there is nothing of this kind there");
    call_reject(c, &err);
    return false;
}

struct origin call_origin(const struct call *c)
{
    struct origin o = {
        .author_kind = c->who.subject.kind,
        .source = c->request->address,
        .method = c->request->method,
        .path = str_clip(c->request->path, 1024),
        .entity = c->entity,
        .right = c->right,
        .scope = c->scope,
    };
    const struct doc *name = doc_get(c->body, STR("name"));
    CHECK(uuid_parse(str_from_c(c->request->id), &o.request));
    if (c->workload != NULL) {
        o.name = c->workload->name;
    } else if (c->thing.len > 0) {
        o.name = c->thing;
    } else if (name != NULL && name->kind == DOC_STRING) {
        o.name = str_clip(name->text, 256);
    }
    return o;
}
