// SPDX-License-Identifier: Apache-2.0
// cache: what is kept of providers, by the address of their discovery document: the document and the
// keys. A table of fixed size; what was not used for longest makes room.
#pragma once

#include "adapters/oidc/oidc.h"
#include "codec/discovery.h"
#include "codec/jwk.h"

struct cached {
    struct arena arena, keys_arena;
    struct str url;
    struct discovery discovery;
    int64_t discovery_ms; /* when it was read; 0: not yet */
    struct jwk *keys;
    uint32_t keys_count;
    int64_t keys_ms;       /* the same */
    int64_t keys_asked_ms; /* for the last time; 0: not yet */
    int64_t used_ms;
};
struct cache {
    struct cached items[OIDC_PROVIDERS_KEPT];
};
/* cache_get gives the one for url, an empty one when there was none. Good until the next call. */
struct cached *cache_get(struct cache *c, struct str url, int64_t now_ms);
void cache_done(struct cache *c);

bool cached_discovery_fresh(const struct cached *d, int64_t now_ms);
bool cached_keys_fresh(const struct cached *d, int64_t now_ms);
bool cached_may_ask_again(const struct cached *d, int64_t now_ms);
/* Both read the text and keep what is in it; STATUS_INVALID and so on: what was there stays. */
MUST_USE enum status cached_set_discovery(struct cached *d, struct str json, int64_t now_ms,
                                          struct err *err);
MUST_USE enum status cached_set_keys(struct cached *d, struct str json, int64_t now_ms,
                                     struct err *err);
/* cached_key gives the key that the header means: by its kid, or the only one for its algorithm when it
 * names none. NULL: there is none. */
const struct jwk *cached_key(const struct cached *d, const struct jws_header *h);
