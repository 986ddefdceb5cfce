// SPDX-License-Identifier: Apache-2.0
// hash: 16 bytes at a time are mixed by one 64x64 to 128-bit multiplication, high and low halves
// folded together (the idea of wyhash, with our own constants from the digits of pi and e). Words
// are read little-endian, so the same bytes hash the same on every machine.
#include "base/hash.h"

#include <string.h>

#include "base/attr.h"

__extension__ typedef unsigned __int128 wide;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they lie in memory");

static const uint64_t PI = 0x243f6a8885a308d3u;
static const uint64_t PI_NEXT = 0x13198a2e03707345u;
static const uint64_t E = 0xb7e151628aed2a6bu;

static WRAPS uint64_t mix(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word(const unsigned char *p, size_t len)
{
    uint64_t v = 0;
    memcpy(&v, p, len);
    return v;
}

WRAPS uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = mix(seed ^ PI, E ^ len);
    size_t left = len;
    for (; left > 16; left -= 16, p += 16) {
        h = mix(word(p, 8) ^ PI, word(p + 8, 8) ^ h);
    }
    uint64_t a = 0;
    uint64_t b = 0;
    if (left > 8) {
        a = word(p, 8);
        b = word(p + 8, left - 8);
    } else if (left > 0) {
        a = word(p, left);
    }
    return mix(mix(a ^ PI_NEXT, b ^ h) ^ E, len ^ PI);
}

WRAPS uint64_t hash_u64(uint64_t v, uint64_t seed)
{
    return mix(mix(v ^ PI, seed ^ E) ^ PI_NEXT, v ^ E);
}
