// SPDX-License-Identifier: Apache-2.0
#include "base/intern.h"

#include "base/array.h"
#include "base/check.h"

void intern_init(struct intern *n, struct arena *a)
{
    *n = (struct intern){0};
    map_init(&n->map, a);
}

uint32_t intern_id(struct intern *n, struct str name)
{
    uint32_t id;
    if (map_get(&n->map, name, &id)) {
        return id;
    }
    id = n->count;
    n->names = array_grow(n->map.arena, n->names, sizeof(*n->names), n->count, &n->cap);
    n->names[n->count++] = arena_str(n->map.arena, name);
    map_put(&n->map, n->names[id], id);
    return id;
}

bool intern_find(const struct intern *n, struct str name, uint32_t *id)
{
    return map_get(&n->map, name, id);
}

struct str intern_name(const struct intern *n, uint32_t id)
{
    CHECK(id < n->count);
    return n->names[id];
}
