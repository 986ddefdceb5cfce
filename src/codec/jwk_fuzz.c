// SPDX-License-Identifier: Apache-2.0
// Any bytes, as a set of keys and as a discovery document: what is read keeps what the headers promise.
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "codec/discovery.h"
#include "codec/jwk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_keys(struct str text, struct arena *arena)
{
    struct jwk *keys;
    uint32_t count;
    struct err err;
    if (jwks_read(text, arena, &keys, &count, &err) != STATUS_OK) {
        CHECK(str_is_utf8(str_from_c(err.text)));
        return;
    }
    CHECK(count <= JWKS_KEYS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(keys[i].alg != JWA_OTHER);
        CHECK(keys[i].alg == JWA_RS256 ? keys[i].a.len >= 256 && keys[i].b.len > 0
                                       : keys[i].a.len == 32);
    }
}

static void check_discovery(struct str text, struct str url, struct arena *arena)
{
    struct discovery d;
    struct err err;
    if (discovery_read(text, url, arena, &d, &err) != STATUS_OK) {
        CHECK(str_is_utf8(str_from_c(err.text)));
        return;
    }
    CHECK(discovery_url_ok(d.authorization) && discovery_url_ok(d.token) &&
          discovery_url_ok(d.keys));
    CHECK(d.device.len == 0 || discovery_url_ok(d.device));
    CHECK(str_starts(url, STR("http://")) || str_starts(d.token, STR("https://")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct str text = {(const char *)data, (uint32_t)size};
    arena_init(&arena, 0);
    check_keys(text, &arena);
    check_discovery(text, STR("https://idp.example.com" DISCOVERY_PATH), &arena);
    check_discovery(text, STR("http://localhost:4593/api/oidc" DISCOVERY_PATH), &arena);
    if (discovery_url_ok(text)) {
        CHECK(str_starts(text, STR("https://")) || discovery_url_local(text));
    }
    arena_done(&arena);
    return 0;
}
