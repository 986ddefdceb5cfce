// SPDX-License-Identifier: Apache-2.0
// check: where a failed assertion goes. The hook is the only state of src/base: a process sets it
// once, before its first thread, because pure code cannot print.
#include "base/check.h"

static panic_hook *check_hook;

void check_set_hook(panic_hook *hook)
{
    check_hook = hook;
}

void check_fail(const char *file, int line, const char *what)
{
    if (check_hook) {
        check_hook(file, line, what);
    }
    __builtin_trap();
}
