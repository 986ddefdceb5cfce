// SPDX-License-Identifier: Apache-2.0
// body: values out of a document that its schema has let pass. What is not there, and null, is
// `otherwise`.
#pragma once

#include "base/doc.h"
#include "model/state.h"

/* body_get gives a member that is there and not null, else NULL (also of NULL). */
const struct doc *body_get(const struct doc *map, struct str name);
struct str body_str(const struct doc *map, struct str name); /* otherwise "" */
bool body_bool(const struct doc *map, struct str name, bool otherwise);
int64_t body_i64(const struct doc *map, struct str name, int64_t otherwise);
int64_t body_milli(const struct doc *map, struct str name, int64_t otherwise); /* in thousandths */
int64_t body_time(const struct doc *map, struct str name, int64_t otherwise);  /* ms */
/* body_bytes reads a quantity. */
int64_t body_bytes(const struct doc *map, struct str name, int64_t otherwise);
uint32_t body_count(const struct doc *list); /* of a list or map, 0 of NULL */
/* doc_i64, doc_milli: a number by itself. */
int64_t doc_i64(const struct doc *number);
int64_t doc_milli(const struct doc *number);
/* body_word gives the place in words[count] of a member that must be one of them. */
uint32_t body_word(const struct doc *map, struct str name, const struct str *words, uint32_t count,
                   uint32_t otherwise);
/* body_strings, body_pairs: a list of strings, an object of strings sorted by name. */
struct str_item *body_strings(const struct doc *list, struct arena *arena, uint32_t *count);
struct label *body_pairs(const struct doc *map, struct arena *arena, uint32_t *count);
