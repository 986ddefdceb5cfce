// SPDX-License-Identifier: Apache-2.0
// Sets of four slots; a new key takes a free one, else the one with the oldest failure. The hash has a
// random seed, so that nobody can aim at the set of another.
#include "api/guard.h"

#include "base/hash.h"
#include "base/mem.h"
#include "io/random.h"

enum { WAYS = 4 };

struct slot {
    uint64_t key; /* its hash; 0: free */
    uint32_t failures;
    int64_t last_ms;
};
struct guard {
    uint64_t seed;
    struct slot slots[GUARD_SLOTS];
};

struct guard *guard_new(void)
{
    struct guard *g = mem_alloc(sizeof *g);
    random_bytes(&g->seed, sizeof g->seed);
    return g;
}

void guard_free(struct guard *g)
{
    mem_free(g);
}

static uint64_t hash_of(const struct guard *g, struct str key)
{
    uint64_t h = hash_bytes(key.ptr, key.len, g->seed);
    return h != 0 ? h : 1;
}

static uint32_t first_of(uint64_t key)
{
    return (uint32_t)(key % (GUARD_SLOTS / WAYS)) * WAYS;
}

/* IX of the slot that has the key, GUARD_SLOTS: none. */
static uint32_t find(const struct guard *g, uint64_t key)
{
    uint32_t first = first_of(key);
    for (uint32_t i = first; i < first + WAYS; i++) {
        if (g->slots[i].key == key) {
            return i;
        }
    }
    return GUARD_SLOTS;
}

int64_t guard_wait_ms(const struct guard *g, struct str key, uint32_t free_tries, int64_t now_ms)
{
    uint32_t at = find(g, hash_of(g, key));
    if (at == GUARD_SLOTS || g->slots[at].failures < free_tries ||
        now_ms - g->slots[at].last_ms >= GUARD_FORGET_MS) {
        return 0;
    }
    int64_t wait_ms = GUARD_WAIT_MS;
    for (uint32_t i = free_tries; i < g->slots[at].failures && wait_ms < GUARD_WAIT_MAX_MS; i++) {
        wait_ms *= 2;
    }
    wait_ms = wait_ms < GUARD_WAIT_MAX_MS ? wait_ms : GUARD_WAIT_MAX_MS;
    int64_t left_ms = g->slots[at].last_ms + wait_ms - now_ms;
    return left_ms > 0 ? left_ms : 0;
}

void guard_failed(struct guard *g, struct str key, int64_t now_ms)
{
    uint64_t hash = hash_of(g, key);
    uint32_t at = find(g, hash);
    if (at == GUARD_SLOTS) {
        uint32_t first = first_of(hash);
        at = first;
        for (uint32_t i = first; i < first + WAYS; i++) {
            bool better = g->slots[at].key != 0 &&
                          (g->slots[i].key == 0 || g->slots[i].last_ms < g->slots[at].last_ms);
            at = better ? i : at;
        }
        g->slots[at] = (struct slot){.key = hash};
    }
    struct slot *s = &g->slots[at];
    bool forgotten = now_ms - s->last_ms >= GUARD_FORGET_MS;
    s->failures = forgotten ? 1 : s->failures + (s->failures < UINT32_MAX);
    s->last_ms = now_ms;
}

void guard_clear(struct guard *g, struct str key)
{
    uint32_t at = find(g, hash_of(g, key));
    if (at < GUARD_SLOTS) {
        g->slots[at] = (struct slot){0};
    }
}
