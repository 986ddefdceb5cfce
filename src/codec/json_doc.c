// SPDX-License-Identifier: Apache-2.0
// json_doc: the reader driven over a whole text. Open containers are a stack of fixed size.
#include "codec/json.h"

#include "base/check.h"

struct level {
    struct doc *container;
    struct doc **link; /* where the next child goes */
};

static void read_scalar(struct jr *r, struct doc *d)
{
    switch (d->kind) {
    case DOC_STRING:
        jr_string(r, &d->text);
        break;
    case DOC_NUMBER:
        jr_number(r, &d->text);
        break;
    case DOC_BOOL:
        jr_bool(r, &d->boolean);
        break;
    case DOC_NULL:
        if (!jr_null(r)) {
            jr_skip(r); // no value at all: says so
        }
        break;
    case DOC_LIST:
    case DOC_MAP:
        CHECK(d->child == NULL);
        break;
    }
}

// Steps to the next member or item, leaving containers that have no more, and gives the node for it
// with its key; NULL when none is left.
static struct doc *next_child(struct jr *r, struct level *levels, uint32_t *depth)
{
    while (*depth > 0) {
        struct level *l = &levels[*depth - 1];
        struct str key = {0};
        bool is_map = l->container->kind == DOC_MAP;
        if (is_map ? jr_member(r, &key) : jr_item(r)) {
            struct doc *d = ARENA_NEW(r->arena, struct doc);
            if (is_map) {
                d->key = key;
                jr_where_last(r, &d->key_line, &d->key_col);
            }
            *l->link = d;
            l->link = &d->next;
            l->container->child_count++;
            return d;
        }
        --*depth;
    }
    return NULL;
}

enum status json_doc(struct str text, struct arena *arena, struct doc **out, struct err *err)
{
    struct jr r;
    jr_init(&r, text, arena, err);
    struct level levels[JSON_DEPTH_MAX];
    uint32_t depth = 0;
    struct doc *root = ARENA_NEW(arena, struct doc);
    for (struct doc *d = root; d && r.status == STATUS_OK; d = next_child(&r, levels, &depth)) {
        d->kind = jr_kind(&r);
        jr_where(&r, &d->line, &d->col);
        if (d->kind != DOC_MAP && d->kind != DOC_LIST) {
            read_scalar(&r, d);
        } else if (d->kind == DOC_MAP ? jr_object(&r) : jr_array(&r)) {
            levels[depth++] = (struct level){d, &d->child};
        }
    }
    enum status status = jr_finish(&r);
    if (status == STATUS_OK) {
        *out = root;
    }
    return status;
}
