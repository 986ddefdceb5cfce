// SPDX-License-Identifier: Apache-2.0
// types: which types of workloads there are beside weir's own kinds, and what is usual for each. A
// priority that is usual counts for work that is submitted from then on and names none.
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/limits.h"
#include "model/priority.h"

static uint32_t find(const struct state *s, struct uuid id)
{
    for (uint32_t i = 0; i < s->types_count; i++) {
        if (uuid_eq(s->types[i].id, id)) {
            return i;
        }
    }
    return IX_NONE;
}

static bool refuse(struct outcome *out, enum status status, const char *field)
{
    out->status = status;
    err_field(&out->err, "%s", field);
    return false;
}

static bool values_ok(const struct workload_type *t, struct outcome *out)
{
    if (t->category >= CATEGORY_COUNT) {
        err_set(&out->err, STATUS_INVALID, "there is no such category");
        return refuse(out, STATUS_INVALID, "category");
    }
    if (t->priority < 1 || t->priority > 1000) {
        err_set(&out->err, STATUS_INVALID, "a priority is a number from 1 to 1000");
        return refuse(out, STATUS_INVALID, "priority");
    }
    if (t->interfaces.len > TYPE_INTERFACES_MAX) {
        err_set(&out->err, STATUS_TOO_LARGE, "interfaces have at most %u bytes",
                TYPE_INTERFACES_MAX);
        return refuse(out, STATUS_TOO_LARGE, "interfaces");
    }
    return true;
}

static bool word_ok(struct str word, const char *field, struct outcome *out)
{
    if (word.len > 0 && word.len <= NODE_NAME_LEN_MAX && str_is_utf8(word)) {
        return true;
    }
    err_set(&out->err, STATUS_INVALID, "a %s has 1 to %u bytes of UTF-8", field, NODE_NAME_LEN_MAX);
    return refuse(out, STATUS_INVALID, field);
}

static bool room(const struct state *s, struct outcome *out)
{
    if (s->types_count < WORKLOAD_TYPES_MAX) {
        return true;
    }
    err_set(&out->err, STATUS_TOO_LARGE, "there are %u types, as many as there may be",
            s->types_count);
    return refuse(out, STATUS_TOO_LARGE, "");
}

static bool add_ok(const struct state *s, const struct workload_type *t, struct outcome *out)
{
    if (!word_ok(t->name, "name", out) || !word_ok(t->group, "group", out) || !values_ok(t, out) ||
        !room(s, out)) {
        return false;
    }
    for (uint32_t i = 0; i < s->types_count; i++) {
        if (str_eq(s->types[i].name, t->name) && str_eq(s->types[i].group, t->group)) {
            err_set(&out->err, STATUS_CONFLICT,
                    "there is a type \"%.*s\" of group \"%.*s\" already", STR_ARG(t->name),
                    STR_ARG(t->group));
            return refuse(out, STATUS_CONFLICT, "name");
        }
    }
    if (t->kind_plus_one != 0 || uuid_is_zero(t->id) || find(s, t->id) != IX_NONE) {
        err_set(&out->err, STATUS_INVALID, "the identifier must be a new one");
        return refuse(out, STATUS_INVALID, "id");
    }
    return true;
}

static bool there_is(const struct state *s, const struct workload_type *t, struct outcome *out)
{
    char id[UUID_TEXT_LEN + 1];
    bool own = t->kind_plus_one > 0 && t->kind_plus_one <= WORKLOAD_DISTRIBUTED + 1 &&
               !uuid_is_zero(t->id);
    uint32_t at = find(s, t->id);
    for (uint32_t i = 0; i < s->types_count && own; i++) {
        own = s->types[i].kind_plus_one != t->kind_plus_one; /* then that row is the one */
    }
    if (at != IX_NONE ? s->types[at].kind_plus_one == t->kind_plus_one : own) {
        return true;
    }
    uuid_format(t->id, id);
    err_set(&out->err, STATUS_UNKNOWN, "there is no workload type %s", id);
    return refuse(out, STATUS_UNKNOWN, "");
}

void types_check(const struct engine *e, const struct input *in, struct outcome *out)
{
    const struct state *s = &e->s;
    const struct workload_type *t = &in->type_change.type;
    out->id = t->id;
    if (in->type_change.op > TYPE_REMOVE) {
        err_set(&out->err, STATUS_INVALID, "a type is added, set or removed");
        refuse(out, STATUS_INVALID, "op");
    } else if (in->type_change.op == TYPE_ADD) {
        (void)add_ok(s, t, out);
    } else if (there_is(s, t, out)) {
        bool is_new = find(s, t->id) == IX_NONE;
        if (in->type_change.op == TYPE_SET) {
            (void)(values_ok(t, out) && (!is_new || room(s, out)));
        } else if (t->kind_plus_one > 0) {
            err_set(&out->err, STATUS_IN_USE, "this type is weir's own, and stays");
            refuse(out, STATUS_IN_USE, "");
        }
    }
}

void types_apply(struct step *st)
{
    struct engine *e = st->e;
    struct state *s = &e->s;
    struct arena *a = engine_memory(e);
    const struct workload_type *t = &st->in->type_change.type;
    uint32_t at = find(s, t->id);
    if (st->in->type_change.op == TYPE_REMOVE) {
        CHECK(at != IX_NONE);
        s->types_count--;
        memmove(s->types + at, s->types + at + 1, sizeof(*s->types) * (s->types_count - at));
        return;
    }
    if (at == IX_NONE) {
        s->types = array_grow(a, s->types, sizeof(*s->types), s->types_count, &e->types_cap);
        at = s->types_count++;
        record_copy(&record_workload_type, t, &s->types[at], a);
        s->types[at].stamp = (struct stamp){0};
    }
    s->types[at].category = t->category;
    s->types[at].priority = t->priority;
    s->types[at].interfaces = arena_str(a, t->interfaces);
    identity_stamp(st, &s->types[at].stamp);
}

bool types_sound(const struct state *s)
{
    for (uint32_t i = 0; i < s->types_count; i++) {
        const struct workload_type *t = &s->types[i];
        if (t->category >= CATEGORY_COUNT || t->priority < 1 || t->priority > 1000 ||
            t->kind_plus_one > WORKLOAD_DISTRIBUTED + 1 || uuid_is_zero(t->id) ||
            find(s, t->id) != i) {
            return false;
        }
    }
    return s->types_count <= WORKLOAD_TYPES_MAX;
}
