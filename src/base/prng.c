// SPDX-License-Identifier: Apache-2.0
// prng: xoshiro256** by Blackman and Vigna (2018), its state filled by splitmix64 from the seed.
#include "base/prng.h"

#include "base/attr.h"
#include "base/check.h"

static WRAPS uint64_t rotate(uint64_t v, unsigned by)
{
    return (v << by) | (v >> (64 - by));
}

WRAPS void prng_init(struct prng *p, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15u;
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        p->s[i] = z ^ (z >> 31);
    }
}

WRAPS uint64_t prng_next(struct prng *p)
{
    uint64_t *s = p->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

// A number below bound without bias: those past the last whole multiple are drawn again.
static uint64_t below(struct prng *p, uint64_t bound)
{
    uint64_t usable = UINT64_MAX - UINT64_MAX % bound;
    uint64_t v = prng_next(p);
    while (v >= usable) {
        v = prng_next(p);
    }
    return v % bound;
}

uint32_t prng_below(struct prng *p, uint32_t bound)
{
    CHECK(bound > 0);
    return (uint32_t)below(p, bound);
}

WRAPS int64_t prng_range(struct prng *p, int64_t first, int64_t last)
{
    CHECK(first <= last);
    uint64_t count = (uint64_t)last - (uint64_t)first + 1;
    uint64_t offset = count == 0 ? prng_next(p) : below(p, count);
    return (int64_t)((uint64_t)first + offset);
}

bool prng_chance(struct prng *p, uint32_t permille)
{
    return prng_below(p, 1000) < permille;
}
