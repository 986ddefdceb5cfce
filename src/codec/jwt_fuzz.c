// SPDX-License-Identifier: Apache-2.0
// Any bytes: what is taken apart as a token is put together again as the same signed part, and a header
// that is read has an algorithm of the list.
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "codec/base64.h"
#include "codec/jwk.h"
#include "codec/jwt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_parts(struct str token, const struct jwt *jwt)
{
    struct buf again;
    buf_init(&again, 2 * (size_t)JWT_BYTES_MAX);
    base64_encode(BASE64_URL, jwt->header, &again);
    buf_char(&again, '.');
    base64_encode(BASE64_URL, jwt->payload, &again);
    CHECK(str_eq(buf_view(&again), jwt->signed_part));
    jwt_end(jwt->signature, &again);
    CHECK(str_eq(buf_view(&again), token));
    buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct jwt jwt;
    struct jws_header header;
    struct err err;
    struct str token = {(const char *)data, (uint32_t)size};
    arena_init(&arena, 0);
    if (jwt_split(token, &arena, &jwt)) {
        check_parts(token, &jwt);
        if (jws_header_read(jwt.header, &arena, &header, &err) == STATUS_OK) {
            CHECK(header.alg < JWA_COUNT);
        } else {
            CHECK(str_is_utf8(str_from_c(err.text)));
        }
    }
    arena_done(&arena);
    return 0;
}
