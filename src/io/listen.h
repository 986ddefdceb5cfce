// SPDX-License-Identifier: Apache-2.0
// listen: sockets that wait for clients.
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { LISTEN_ADDRESS_SIZE = 80 };

/* listen_tcp listens on text: "HOST:PORT", "[::1]:PORT", ":PORT" (127.0.0.1). Port 0 takes a free
 * one. address receives what was bound, "127.0.0.1:8470". STATUS_INVALID: not an address;
 * STATUS_IO: the system refused (in use, no permission). */
MUST_USE enum status listen_tcp(struct str text, int *fd, char address[LISTEN_ADDRESS_SIZE],
                                struct err *err);
/* listen_unix listens on the socket file `path`; its directory is made, for this user alone, when
 * it is missing. A file left by a process that is gone is replaced; STATUS_IN_USE when someone
 * answers there. */
MUST_USE enum status listen_unix(const char *path, int *fd, struct err *err);
/* connect_unix connects to it. STATUS_UNREACHABLE when nobody answers. */
MUST_USE enum status connect_unix(const char *path, int *fd, struct err *err);
