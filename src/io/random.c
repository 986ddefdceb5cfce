// SPDX-License-Identifier: Apache-2.0
#include "io/random.h"

#include <errno.h>
#include <sys/random.h>

#include "base/check.h"

void random_bytes(void *out, size_t len)
{
    size_t got = 0;
    while (got < len) {
        ssize_t n = getrandom((char *)out + got, len - got, 0);
        CHECK(n > 0 || (n < 0 && errno == EINTR)); /* without it no identifier is safe to mint */
        got += n > 0 ? (size_t)n : 0;
    }
}

struct uuid random_uuid(void)
{
    uint8_t bytes[16];
    random_bytes(bytes, sizeof bytes);
    return uuid_from_random(bytes);
}
