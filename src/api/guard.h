// SPDX-License-Identifier: Apache-2.0
// guard: slows down who guesses passwords and secrets. What fails is counted in a table of fixed size,
// under whatever keys the caller finds telling (a name, an address, both); beyond so many failures
// each next one has to wait, longer every time.
#pragma once

#include <stdint.h>

#include "base/str.h"

enum {
    GUARD_SLOTS = 8192,
    GUARD_WAIT_MS = 15 * 1000, /* the first time; then twice as long each time */
    GUARD_WAIT_MAX_MS = 15 * 60 * 1000,
    GUARD_FORGET_MS = 60 * 60 * 1000, /* without another failure */
};

struct guard;
struct guard *guard_new(void);
void guard_free(struct guard *g);
/* guard_wait_ms: how long until key may be tried again; 0: now. free_tries: failures before the first
 * wait. */
int64_t guard_wait_ms(const struct guard *g, struct str key, uint32_t free_tries, int64_t now_ms);
void guard_failed(struct guard *g, struct str key, int64_t now_ms);
void guard_clear(struct guard *g, struct str key); /* it was the right one */
