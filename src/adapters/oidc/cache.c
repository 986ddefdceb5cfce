// SPDX-License-Identifier: Apache-2.0
#include "adapters/oidc/cache.h"

#include "base/attr.h"

static void forget(struct cached *d)
{
    arena_done(&d->arena);
    arena_done(&d->keys_arena);
    *d = (struct cached){0};
}

struct cached *cache_get(struct cache *c, struct str url, int64_t now_ms)
{
    struct cached *oldest = &c->items[0];
    for (size_t i = 0; i < COUNT_OF(c->items); i++) {
        struct cached *d = &c->items[i];
        if (d->used_ms > 0 && str_eq(d->url, url)) {
            d->used_ms = now_ms;
            return d;
        }
        oldest = d->used_ms < oldest->used_ms ? d : oldest;
    }
    forget(oldest);
    arena_init(&oldest->arena, 0);
    arena_init(&oldest->keys_arena, 0);
    oldest->url = arena_str(&oldest->arena, url);
    oldest->used_ms = now_ms;
    return oldest;
}

void cache_done(struct cache *c)
{
    for (size_t i = 0; i < COUNT_OF(c->items); i++) {
        forget(&c->items[i]);
    }
}

static bool fresh(int64_t at_ms, int64_t now_ms)
{
    return at_ms > 0 && now_ms - at_ms < OIDC_LIFE_MS;
}

bool cached_discovery_fresh(const struct cached *d, int64_t now_ms)
{
    return fresh(d->discovery_ms, now_ms);
}

bool cached_keys_fresh(const struct cached *d, int64_t now_ms)
{
    return fresh(d->keys_ms, now_ms);
}

bool cached_may_ask_again(const struct cached *d, int64_t now_ms)
{
    return d->keys_asked_ms == 0 || now_ms - d->keys_asked_ms >= OIDC_AGAIN_MS;
}

enum status cached_set_discovery(struct cached *d, struct str json, int64_t now_ms, struct err *err)
{
    struct arena arena = {0};
    struct discovery read;
    arena_init(&arena, 0);
    struct str url = arena_str(&arena, d->url);
    enum status status = discovery_read(arena_str(&arena, json), url, &arena, &read, err);
    if (status != STATUS_OK) {
        arena_done(&arena);
        return status;
    }
    arena_done(&d->arena);
    d->arena = arena;
    d->url = url;
    d->discovery = read;
    d->discovery_ms = now_ms;
    return STATUS_OK;
}

enum status cached_set_keys(struct cached *d, struct str json, int64_t now_ms, struct err *err)
{
    struct arena arena = {0};
    struct jwk *keys;
    uint32_t count;
    arena_init(&arena, 0);
    enum status status = jwks_read(arena_str(&arena, json), &arena, &keys, &count, err);
    if (status != STATUS_OK) {
        arena_done(&arena);
        return status;
    }
    arena_done(&d->keys_arena);
    d->keys_arena = arena;
    d->keys = keys;
    d->keys_count = count;
    d->keys_ms = now_ms;
    return STATUS_OK;
}

const struct jwk *cached_key(const struct cached *d, const struct jws_header *h)
{
    const struct jwk *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->keys_count; i++) {
        const struct jwk *k = &d->keys[i];
        if (k->alg == h->alg && (h->kid.len == 0 || str_eq(k->kid, h->kid))) {
            found = count == 0 ? k : found;
            count++;
        }
    }
    return h->kid.len > 0 || count == 1 ? found : NULL;
}
