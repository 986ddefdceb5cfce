// SPDX-License-Identifier: Apache-2.0
// value: documents as the files of this folder read, compare and put them together.
#pragma once

#include "policy/policy.h"

#define PARTS_PER_UNIT 1000000 /* of numbers: six digits behind the point are told apart */

/* value_get: a member that is there and not null, NULL: none (also of NULL). */
const struct doc *value_get(const struct doc *map, const char *key);
const struct doc *value_get_str(const struct doc *map, struct str key);
bool value_is_true(const struct doc *map, const char *key);
bool value_is_false(const struct doc *map, const char *key);
/* value_of_field gives the value of a field in a spec, NULL: none. */
const struct doc *value_of_field(const struct doc *spec, const struct policy_field *f);

/* doc_copy: with the members of d itself; doc_copy_members: with copies of them, which may be changed
 * (d NULL: empty). doc_put takes d in place of the member of its key, or adds it. */
struct doc *doc_copy(const struct doc *d, struct str key, struct arena *arena);
struct doc *doc_copy_members(const struct doc *d, struct str key, enum doc_kind kind,
                             struct arena *arena);
void doc_append(struct doc *to, struct doc *d);
void doc_put(struct doc *map, struct doc *d);

/* value_number reads a number in parts of a unit, a quantity in units; false: it is none. */
bool value_number(enum policy_type type, const struct doc *d, int64_t *out);
bool value_same(enum policy_type type, const struct doc *a, const struct doc *b);
struct str value_word(const struct doc *d); /* for messages */

/* value_item gives the item of a list with the same key as like, NULL: none. */
const struct doc *value_item(const struct doc *list, const char *key, const struct doc *like);

/* policy_said_of gives what is said of a field, NULL: nothing. */
const struct policy_said *policy_said_of(const struct policy_said *said, uint32_t count,
                                         const struct policy_field *f);
/* policy_computed gives the default that a rule computes from another field of spec, NULL: none. */
struct doc *policy_computed(const struct policy_said *rule, const struct doc *spec,
                            struct arena *arena);
