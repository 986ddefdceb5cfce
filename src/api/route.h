// SPDX-License-Identifier: Apache-2.0
// route: the one table of everything the API answers. A row says which request it is, what arguments
// and body it takes and what it answers; routing, checks and the OpenAPI document come from it.
#pragma once

#include "api/permit.h"
#include "api/schema.h"

enum { SEGMENTS_MAX = 8 };

struct call;

enum route_flag {
    ROUTE_FORM = 1u << 0,     /* with RAW_BODY: the body is a form */
    ROUTE_RAW_BODY = 1u << 1, /* the body is text that the handler reads and checks itself; without
                               * a schema it is YAML (a plan) */
    ROUTE_STREAM = 1u << 2,   /* the answer is not one JSON value */
    ROUTE_ANY_ARGS = 1u << 3, /* the query may have more than the row names */
};

struct route {
    const char *method;
    /* Parameters in braces: {x}; {x:uuid}, {x:int}: only such; {workload}: an id or PROJECT/NAME. */
    const char *path;
    const char *id;                 /* operationId */
    void (*handle)(struct call *c); /* NULL: answered with 501 */
    const char *args;               /* of the query: members of a schema, NULL: none */
    const char *body;               /* a schema, NULL: none */
    int code;                       /* of success */
    const char *answer;             /* a schema, NULL: empty */
    const char *summary;
    unsigned flags;
    const char *permit; /* who may: api/permit.h; there must be one where there is a handler */
};
/* Rows of one subject: a tag of the OpenAPI document. */
struct route_group {
    const char *tag;
    const struct route *routes;
    uint32_t routes_count;
    const struct schema_row *schemas;
    uint32_t schemas_count;
};
#define ROUTE_GROUP(tag, routes, schemas) \
    {tag, routes, COUNT_OF(routes), schemas, COUNT_OF(schemas)}

/* All groups: routes.c. */
extern const struct route_group *const route_groups[];
extern const uint32_t route_groups_count;

/* A row with its texts read. */
struct route_entry {
    const struct route *route;
    const struct route_group *group;
    struct str prefix; /* of the path, up to its first parameter */
    struct permit permit;
    const struct schema *args, *body, *answer;
};
struct route_table {
    struct arena arena;
    struct schemas schemas;
    struct route_entry *entries; /* by path, a literal segment before a parameter; then method */
    uint32_t count;
    struct buf openapi; /* the document, made when first asked for */
};

void route_table_init(struct route_table *t, const struct route_group *const *groups,
                      uint32_t groups_count);
void route_table_done(struct route_table *t);

/* What the parameters of a path stand for, in order; {workload} may be two. */
struct route_segments {
    struct str items[SEGMENTS_MAX];
    uint32_t count;
};
/* route_find gives the row for a request, NULL when there is none; other_method then says that
 * there would be one for another method. HEAD is as GET. */
const struct route_entry *route_find(const struct route_table *t, struct str method,
                                     struct str path, struct route_segments *segments,
                                     bool *other_method);
/* route_part takes the next part of a path: its text, and for a parameter its name and kind.
 * false at the end. */
struct route_part {
    bool parameter;
    struct str text, kind;
};
bool route_part(struct str *path, struct route_part *out);

/* openapi.c: the OpenAPI 3.1 document of the whole table. */
void openapi_write(const struct route_table *t, struct buf *out);
