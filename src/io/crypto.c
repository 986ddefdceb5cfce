// SPDX-License-Identifier: Apache-2.0
#include "io/crypto.h"

#include <openssl/evp.h>

#include "base/check.h"

void crypto_sha1(struct str bytes, uint8_t out[CRYPTO_SHA1_SIZE])
{
    unsigned int len = 0;
    CHECK(EVP_Digest(bytes.ptr, bytes.len, out, &len, EVP_sha1(), NULL) == 1);
    CHECK(len == CRYPTO_SHA1_SIZE);
}
