// SPDX-License-Identifier: Apache-2.0
// check: assertions for our own bugs. A user's, a peer's or the disk's mistake is a status, never
// a CHECK. CHECK stays on in release builds and costs O(1); DCHECK runs in tests, sim and fuzzing
// (WEIR_DCHECK=1); NEVER marks a branch that only defends, so that coverage can tell.
#pragma once

#include "base/attr.h"

#define CHECK(cond) (LIKELY(cond) ? (void)0 : check_fail(__FILE__, __LINE__, #cond))
#if defined(WEIR_DCHECK) && WEIR_DCHECK
#define DCHECK(cond) CHECK(cond)
#define NEVER(cond)  (UNLIKELY(cond) ? (check_fail(__FILE__, __LINE__, "never: " #cond), 1) : 0)
#else
#define DCHECK(cond) ((void)sizeof(!(cond)))
#define NEVER(cond)  UNLIKELY(cond)
#endif

/* The hook receives file, line and the failed text and must not return; the main sets it (pure
 * code cannot print). Without one, a trap ends the process. */
typedef void panic_hook(const char *file, int line, const char *what);
void check_set_hook(panic_hook *hook);
NORETURN void check_fail(const char *file, int line, const char *what);
