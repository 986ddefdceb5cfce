// SPDX-License-Identifier: Apache-2.0
#include "api/seal.h"

#include "codec/base64.h"

enum { SEALED_BYTES_MAX = 16 << 10 };

struct str seal_base64(struct str bytes, struct arena *arena)
{
    struct buf b;
    buf_init(&b, 2 * (size_t)SEALED_BYTES_MAX);
    base64_encode(BASE64_URL, bytes, &b);
    struct str text = arena_str(arena, buf_view(&b));
    buf_done(&b);
    return text;
}

struct str seal_text(const struct crypto_key *k, struct str about, struct str text,
                     struct arena *arena)
{
    struct buf b;
    buf_init(&b, SEALED_BYTES_MAX);
    crypto_seal(k, about, text, &b);
    struct str sealed = seal_base64(buf_view(&b), arena);
    buf_done(&b);
    return sealed;
}

bool seal_open(const struct crypto_key *k, struct str about, struct str sealed, struct arena *arena,
               struct str *out)
{
    struct buf bytes, text;
    buf_init(&bytes, SEALED_BYTES_MAX);
    buf_init(&text, SEALED_BYTES_MAX);
    bool ok = base64_decode(BASE64_URL, sealed, &bytes) &&
              crypto_open(k, about, buf_view(&bytes), &text);
    *out = ok ? arena_str(arena, buf_view(&text)) : STR("");
    buf_done(&bytes);
    buf_done(&text);
    return ok;
}

struct str seal_about_credential(struct uuid credential, struct str name, struct arena *arena)
{
    return arena_printf(arena, "asset " STR_FMT " " STR_FMT, STR_ARG(uuid_str(credential, arena)),
                        STR_ARG(name));
}
