// SPDX-License-Identifier: Apache-2.0
// map: open addressing from a key (a string, 16 bytes of a uuid, or a number) to a uint32_t, usually
// an index into a table. Arena backed: growing leaves the old slots in the arena, putting and
// deleting for ever does not. Iteration is not offered: order comes from the table of the values.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct map_slot;
struct map {
    struct arena *arena;
    struct map_slot *slots;
    uint32_t cap, count;
    bool has_number_keys;
};

void map_init(struct map *m, struct arena *a);
/* Keys are not copied: their bytes must live as long as the map. */
void map_put(struct map *m, struct str key, uint32_t value); /* replaces */
bool map_get(const struct map *m, struct str key, uint32_t *value);
bool map_del(struct map *m, struct str key);
void map_put_u64(struct map *m, uint64_t key, uint32_t value);
bool map_get_u64(const struct map *m, uint64_t key, uint32_t *value);
bool map_del_u64(struct map *m, uint64_t key);
/* A map is used with string keys or with number keys, never both (DCHECK). */
