// SPDX-License-Identifier: Apache-2.0
#include "api/lasting.h"

#include "api/call.h"
#include "base/num.h"
#include "io/clock.h"

static bool same_groups(const struct subject *a, const struct subject *b)
{
    bool same = a->groups_count == b->groups_count;
    for (uint32_t i = 0; same && i < a->groups_count; i++) {
        same = str_eq(a->groups[i].value, b->groups[i].value);
    }
    return same;
}

/* The route's row asks the same now as it did when the call began. */
static bool allows(struct call *c, const struct grants *g)
{
    const struct permit *p = &c->entry->permit;
    for (uint32_t i = 0; i < p->asks_count; i++) {
        for (unsigned r = RIGHT_CREATE; r <= RIGHT_DELETE; r *= 2) {
            bool about_one = p->where == PERMIT_WORKLOAD;
            enum entity e = about_one ? c->entity : p->asks[i].entity;
            if ((p->asks[i].rights & r) != 0 &&
                !(about_one ? access_allows(g, e, (enum right)r, c->scope)
                            : access_anywhere(g, e, (enum right)r))) {
                return false;
            }
        }
    }
    return true;
}

static bool may_go_on(struct call *c)
{
    struct who who;
    struct grants grants;
    struct arena arena;
    const struct identity *identity = &engine_state(c->api->config.engine)->identity;
    if (session_who(&c->session, identity, c->api->config.now_ms(), &who, NULL) != STATUS_OK) {
        return false;
    }
    if (!same_groups(&who.subject, &c->who.subject)) {
        call_is(c, &who);
    }
    arena_init(&arena, 0);
    access_grants(api_book(c->api), &c->who.subject, &arena, &grants);
    bool ok = allows(c, &grants);
    arena_done(&arena);
    return ok;
}

static void look(void *arg);

static void set_timer(struct api *api)
{
    int64_t first_ms = INT64_MAX;
    for (const struct lasting *l = api->lasting; l != NULL; l = l->next) {
        first_ms = num_min_i64(first_ms, l->call->session.exp_ms);
    }
    loop_cancel(api->config.loop, &api->lasting_timer);
    if (first_ms < INT64_MAX) {
        int64_t left_ms = num_max_i64(first_ms - api->config.now_ms(), 0);
        loop_at(api->config.loop, &api->lasting_timer, clock_mono_ms() + left_ms + 1, look, api);
    }
}

static void look(void *arg)
{
    struct api *api = arg;
    struct lasting *next;
    for (struct lasting *l = api->lasting; l != NULL; l = next) {
        next = l->next;
        if (!may_go_on(l->call)) {
            lasting_over(l);
            l->end(l->arg);
        }
    }
    set_timer(api);
}

void lasting_begin(struct lasting *l, struct call *c, void (*end)(void *arg), void *arg)
{
    struct api *api = c->api;
    if (c->session.kind == SESSION_MACHINE) {
        return;
    }
    *l = (struct lasting){.next = api->lasting, .call = c, .end = end, .arg = arg, .listed = true};
    api->lasting = l;
    set_timer(api);
}

void lasting_over(struct lasting *l)
{
    if (!l->listed) {
        return;
    }
    struct lasting **at = &l->call->api->lasting;
    while (*at != l) {
        at = &(*at)->next;
    }
    *at = l->next;
    l->listed = false;
}

void lasting_changed(struct api *api)
{
    if (api->lasting == NULL) {
        return;
    }
    (void)api_book(api);
    if (api->lasting_version != api->book_version) {
        api->lasting_version = api->book_version;
        look(api);
    }
}
