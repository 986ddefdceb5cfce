// SPDX-License-Identifier: Apache-2.0
// status: the kinds of failure, and what each means on every face (HTTP, exit code, retry).
#pragma once

#include <stdbool.h>

enum status {
    STATUS_OK = 0,
    STATUS_INVALID,     /* the input is wrong: value, type, syntax                 400, exit 1 */
    STATUS_UNKNOWN,     /* the thing named does not exist (or may not be seen)     404, exit 1 */
    STATUS_DENIED,      /* known who you are, not allowed                          403, exit 1 */
    STATUS_UNAUTHENTIC, /* not known who you are                                   401, exit 1 */
    STATUS_CONFLICT,    /* exists already, or changed since you looked             409, exit 1 */
    STATUS_IN_USE,      /* refused while something holds it                        409, exit 1 */
    STATUS_TOO_LARGE,   /* beyond a limit of limits.h                              413, exit 1 */
    STATUS_UNSUPPORTED, /* not implemented, or not possible on this machine        501, exit 1 */
    STATUS_BUSY,        /* try again later                                         503, exit 1 */
    STATUS_UNREACHABLE, /* no answer from the other side                           503, exit 1 */
    STATUS_TIMEOUT,     /* took longer than allowed                                504, exit 1 */
    STATUS_CORRUPT,     /* stored data fails its check                             500, exit 1 */
    STATUS_IO,          /* the operating system refused: disk full, no permission  500, exit 1 */
    STATUS_NO_MEMORY,   /* an arena or buffer limit was reached                    500, exit 1 */
    STATUS_INTERNAL,    /* our own fault                                           500, exit 1 */
    STATUS_NO_METHOD,   /* the thing is there, and this cannot be done with it     405, exit 1 */
    STATUS_COUNT
};

struct status_info {
    const char *name; /* "invalid": stable, machine readable */
    int http;         /* HTTP status code */
    int exit;         /* exit status of the CLI */
    bool retry;       /* the same request may succeed later, unchanged */
};

/* status_info returns the row of s; s must be in [0, STATUS_COUNT). */
const struct status_info *status_info(enum status s);
