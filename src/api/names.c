// SPDX-License-Identifier: Apache-2.0
// Names from a prefix. A command takes a while to become durable; until then its name is in no
// table, and those who come meanwhile must neither get the same one nor, when they repeat the
// command under its key, another one.
#include "api/call.h"
#include "base/num.h"

enum { PREFIX_TRIES_MAX = 100000, PREFIX_BYTES_SHOWN = 200 };

struct kept_name { /* in the arena of the call that wants it */
    struct kept_name *next;
    struct str project, prefix, name, user, key;
};

static struct str key_of(const struct call *c)
{
    return http_header(c->request, "Idempotency-Key");
}

/* The name this command got when it came before. */
static bool name_before(struct call *c, struct str project, struct str prefix, struct str *name)
{
    struct str key = key_of(c);
    struct uuid id;
    if (key.len == 0) {
        return false;
    }
    if (engine_answered(c->api->config.engine, c->user, key, &id)) {
        const struct workload *wl = engine_find(c->api->config.engine, id);
        struct str head = arena_printf(c->arena, STR_FMT "-", STR_ARG(prefix));
        uint64_t number;
        if (wl != NULL && str_eq(wl->project, project) && str_starts(wl->name, head) &&
            num_parse_u64(str_sub(wl->name, head.len, wl->name.len), &number)) {
            *name = arena_str(c->arena, wl->name);
            return true;
        }
    }
    for (const struct kept_name *k = c->api->names; k != NULL; k = k->next) {
        if (str_eq(k->key, key) && str_eq(k->user, c->user) && str_eq(k->project, project) &&
            str_eq(k->prefix, prefix)) {
            *name = arena_str(c->arena, k->name);
            return true;
        }
    }
    return false;
}

static bool is_free(const struct call *c, struct str project, struct str name)
{
    if (engine_find_name(c->api->config.engine, project, name) != NULL) {
        return false;
    }
    for (const struct kept_name *k = c->api->names; k != NULL; k = k->next) {
        if (str_eq(k->name, name) && str_eq(k->project, project)) {
            return false;
        }
    }
    return true;
}

bool name_from_prefix(struct call *c, struct str project, struct str prefix, struct str *name)
{
    prefix = str_sub(prefix, 0, PREFIX_BYTES_SHOWN); /* longer is no name anyway */
    if (name_before(c, project, prefix, name)) {
        return true;
    }
    for (uint32_t n = 0; n < PREFIX_TRIES_MAX; n++) {
        struct str tried = arena_printf(c->arena, STR_FMT "-%u", STR_ARG(prefix), n);
        if (is_free(c, project, tried)) {
            *name = tried;
            return true;
        }
    }
    return false;
}

void name_keep(struct call *c, struct str project, struct str prefix, struct str name)
{
    struct kept_name *k = ARENA_NEW(c->arena, struct kept_name);
    *k = (struct kept_name){
        .next = c->api->names,
        .project = project,
        .prefix = str_sub(prefix, 0, PREFIX_BYTES_SHOWN),
        .name = name,
        .user = c->user,
        .key = key_of(c),
    };
    c->api->names = k;
    c->name = k;
}

void name_done(struct call *c)
{
    struct kept_name **at = &c->api->names;
    while (*at != NULL && *at != c->name) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = (*at)->next;
    }
    c->name = NULL;
}
