// SPDX-License-Identifier: Apache-2.0
// uuid: 16 bytes, written as 36 characters in lower case. Minted at the edge (io/random), never here.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum { UUID_TEXT_LEN = 36 };
struct uuid {
    uint8_t b[16];
};

bool uuid_eq(struct uuid a, struct uuid b);
int uuid_cmp(struct uuid a, struct uuid b);
bool uuid_is_zero(struct uuid u);
MUST_USE bool uuid_parse(struct str s, struct uuid *out); /* 8-4-4-4-12, either case */
void uuid_format(struct uuid u, char out[UUID_TEXT_LEN + 1]);
struct str uuid_str(struct uuid u, struct arena *a);
struct str uuid_bytes(const struct uuid *u); /* the 16 bytes as a map key; lives as long as *u */
/* uuid_from_random sets the version (4) and variant bits over 16 random bytes. */
struct uuid uuid_from_random(const uint8_t bytes[16]);
