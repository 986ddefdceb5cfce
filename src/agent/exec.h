// SPDX-License-Identifier: Apache-2.0
// exec: asking a supervisor to run a command (the other side is agent/session.c).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct exec_request {
    const struct str *argv, *env; /* env: "NAME=value" */
    uint32_t argc, env_count;
    bool terminal;
};

/* exec_send asks over a connected socket. STATUS_INVALID: no command; STATUS_TOO_LARGE;
 * STATUS_UNREACHABLE: not taken within seconds. */
MUST_USE enum status exec_send(int fd, const struct exec_request *r, struct err *err);
