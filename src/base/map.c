// SPDX-License-Identifier: Apache-2.0
// map: linear probing at a load of at most 3/4. Deleting moves the rest of the run back instead of
// leaving a mark, so lookups never slow down and a map of steady size never grows. The seed of the
// hash is fixed: what a process does must not depend on it, and order never comes from here.
#include "base/map.h"

#include "base/check.h"
#include "base/hash.h"

enum { MAP_CAP_MIN = 16 };

struct map_slot {
    uint64_t key;    /* the number, or the hash of the string */
    const char *ptr; /* NULL: free; number_mark: a number */
    uint32_t len;
    uint32_t value;
};

static const char number_mark[] = "number";
static const char empty_text[] = "";

static uint64_t slot_hash(const struct map_slot *s)
{
    return s->ptr == number_mark ? hash_u64(s->key, 0) : s->key;
}

static bool slot_is(const struct map_slot *s, const struct map_slot *key)
{
    if (s->key != key->key || s->len != key->len) {
        return false;
    }
    return s->ptr == key->ptr ||
           str_eq((struct str){s->ptr, s->len}, (struct str){key->ptr, key->len});
}

static struct map_slot string_key(struct str key)
{
    struct map_slot s = {hash_bytes(key.ptr, key.len, 0), key.ptr, key.len, 0};
    if (!s.ptr) {
        s.ptr = empty_text;
    }
    return s;
}

static struct map_slot number_key(uint64_t key)
{
    return (struct map_slot){key, number_mark, 0, 0};
}

// The slot that holds key, or the free one where it would go; cap > 0.
static uint32_t slot_find(const struct map *m, const struct map_slot *key)
{
    uint32_t mask = m->cap - 1;
    uint32_t i = (uint32_t)(slot_hash(key) & mask);
    while (m->slots[i].ptr && !slot_is(&m->slots[i], key)) {
        i = (i + 1) & mask;
    }
    return i;
}

static void grow(struct map *m)
{
    struct map_slot *old = m->slots;
    uint32_t old_cap = m->cap;
    CHECK(old_cap <= UINT32_MAX / 4);
    m->cap = old_cap == 0 ? MAP_CAP_MIN : old_cap * 2;
    m->slots = ARENA_ARRAY(m->arena, struct map_slot, m->cap);
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old[i].ptr) {
            m->slots[slot_find(m, &old[i])] = old[i];
        }
    }
}

static void put(struct map *m, struct map_slot key, uint32_t value)
{
    if (m->count >= m->cap / 4 * 3) {
        grow(m);
    }
    struct map_slot *s = &m->slots[slot_find(m, &key)];
    if (!s->ptr) {
        *s = key;
        m->count++;
    }
    s->value = value;
}

static bool get(const struct map *m, const struct map_slot *key, uint32_t *value)
{
    if (m->count == 0) {
        return false;
    }
    const struct map_slot *s = &m->slots[slot_find(m, key)];
    if (!s->ptr) {
        return false;
    }
    *value = s->value;
    return true;
}

static bool del(struct map *m, const struct map_slot *key)
{
    if (m->count == 0) {
        return false;
    }
    uint32_t mask = m->cap - 1;
    uint32_t hole = slot_find(m, key);
    if (!m->slots[hole].ptr) {
        return false;
    }
    for (uint32_t i = (hole + 1) & mask; m->slots[i].ptr; i = (i + 1) & mask) {
        // A slot may move back into the hole unless its home lies after the hole.
        uint32_t home = (uint32_t)(slot_hash(&m->slots[i]) & mask);
        uint32_t from_home = (i + m->cap - home) & mask;
        uint32_t from_hole = (i + m->cap - hole) & mask;
        if (from_home >= from_hole) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole] = (struct map_slot){0};
    m->count--;
    return true;
}

void map_init(struct map *m, struct arena *a)
{
    *m = (struct map){.arena = a};
}

void map_put(struct map *m, struct str key, uint32_t value)
{
    DCHECK(m->count == 0 || !m->has_number_keys);
    m->has_number_keys = false;
    put(m, string_key(key), value);
}

bool map_get(const struct map *m, struct str key, uint32_t *value)
{
    DCHECK(m->count == 0 || !m->has_number_keys);
    struct map_slot s = string_key(key);
    return get(m, &s, value);
}

bool map_del(struct map *m, struct str key)
{
    DCHECK(m->count == 0 || !m->has_number_keys);
    struct map_slot s = string_key(key);
    return del(m, &s);
}

void map_put_u64(struct map *m, uint64_t key, uint32_t value)
{
    DCHECK(m->count == 0 || m->has_number_keys);
    m->has_number_keys = true;
    put(m, number_key(key), value);
}

bool map_get_u64(const struct map *m, uint64_t key, uint32_t *value)
{
    DCHECK(m->count == 0 || m->has_number_keys);
    struct map_slot s = number_key(key);
    return get(m, &s, value);
}

bool map_del_u64(struct map *m, uint64_t key)
{
    DCHECK(m->count == 0 || m->has_number_keys);
    struct map_slot s = number_key(key);
    return del(m, &s);
}
