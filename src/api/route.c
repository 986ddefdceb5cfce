// SPDX-License-Identifier: Apache-2.0
// The rows are sorted by path: '{' sorts behind letters, digits and hyphens, so a literal segment is
// tried before a parameter, and the first row that fits is the right one.
#include "api/route.h"

#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/uuid.h"

static int entry_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    const struct route *x = ((const struct route_entry *)a)->route;
    const struct route *y = ((const struct route_entry *)b)->route;
    int order = strcmp(x->path, y->path);
    return order != 0 ? order : strcmp(x->method, y->method);
}

static void read_entry(struct route_table *t, const struct route_group *group,
                       const struct route *route, struct route_entry *e)
{
    struct str path = str_from_c(route->path);
    *e = (struct route_entry){.route = route, .group = group};
    e->prefix = str_sub(path, 0, str_find(path, '{'));
    const char *args = route->args != NULL ? route->args : "";
    e->args = schema_read(&t->schemas, arena_printf(&t->arena, "{%s}", args).ptr);
    e->body = route->body != NULL ? schema_read(&t->schemas, route->body) : NULL;
    e->answer = route->answer != NULL ? schema_read(&t->schemas, route->answer) : NULL;
    CHECK(route->handle == NULL || route->permit != NULL);
    e->permit = permit_read(route->permit != NULL ? route->permit : "self");
}

void route_table_init(struct route_table *t, const struct route_group *const *groups,
                      uint32_t groups_count)
{
    *t = (struct route_table){0};
    arena_init(&t->arena, 0);
    struct schema_rows *rows = ARENA_ARRAY(&t->arena, struct schema_rows, groups_count);
    for (uint32_t i = 0; i < groups_count; i++) {
        rows[i] = (struct schema_rows){groups[i]->schemas, groups[i]->schemas_count};
        t->count += groups[i]->routes_count;
    }
    schemas_init(&t->schemas, rows, groups_count, &t->arena);
    t->entries = ARENA_ARRAY(&t->arena, struct route_entry, t->count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < groups_count; i++) {
        for (uint32_t k = 0; k < groups[i]->routes_count; k++) {
            read_entry(t, groups[i], &groups[i]->routes[k], &t->entries[at++]);
        }
    }
    sort_stable(t->entries, t->count, sizeof *t->entries, entry_order, NULL, &t->arena);
    for (uint32_t i = 1; i < t->count; i++) {
        CHECK(entry_order(&t->entries[i - 1], &t->entries[i], NULL) != 0);
    }
    buf_init(&t->openapi, 64 << 20);
}

void route_table_done(struct route_table *t)
{
    buf_done(&t->openapi);
    arena_done(&t->arena);
}

bool route_part(struct str *path, struct route_part *out)
{
    struct str part;
    if (!str_split(path, '/', &part)) {
        return false;
    }
    *out = (struct route_part){.text = part};
    if (part.len > 0 && part.ptr[0] == '{') {
        struct str name = str_sub(part, 1, part.len - 2);
        uint32_t colon = str_find(name, ':');
        out->parameter = true;
        out->text = str_sub(name, 0, colon);
        out->kind = str_sub(name, colon + 1, name.len);
    }
    return true;
}

static bool fits_kind(struct str kind, struct str have)
{
    struct uuid id;
    uint64_t number;
    return have.len > 0 && (!str_eq(kind, STR("uuid")) || uuid_parse(have, &id)) &&
           (!str_eq(kind, STR("int")) || (have.len < 10 && num_parse_u64(have, &number)));
}

static bool matches(struct str pattern, struct str path, struct route_segments *segments)
{
    struct route_part want;
    struct str have;
    segments->count = 0;
    while (route_part(&pattern, &want)) {
        if (!str_split(&path, '/', &have)) {
            return false;
        }
        if (!want.parameter) {
            if (!str_eq(want.text, have)) {
                return false;
            }
            continue;
        }
        if (!fits_kind(want.kind, have)) {
            return false;
        }
        segments->items[segments->count++] = have;
        struct uuid id;
        if (str_eq(want.text, STR("workload")) && !uuid_parse(have, &id)) {
            if (!str_split(&path, '/', &have) || have.len == 0) {
                return false;
            }
            segments->items[segments->count++] = have;
        }
    }
    return path.ptr == NULL;
}

const struct route_entry *route_find(const struct route_table *t, struct str method,
                                     struct str path, struct route_segments *segments,
                                     bool *other_method)
{
    method = str_eq(method, STR("HEAD")) ? STR("GET") : method;
    *other_method = false;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct route_entry *e = &t->entries[i];
        if (str_starts(path, e->prefix) && matches(str_from_c(e->route->path), path, segments)) {
            if (str_eq(method, str_from_c(e->route->method))) {
                return e;
            }
            *other_method = true;
        }
    }
    segments->count = 0;
    return NULL;
}
