// SPDX-License-Identifier: Apache-2.0
// fetch: asks servers of others over HTTP and HTTPS from the loop's thread, which it never keeps
// waiting. What they can cost is bounded: so many at a time, so long, so many bytes, no redirects.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

enum {
    FETCH_MAX = 32, /* at a time */
    FETCH_CONNECT_MS = 5 * 1000,
    FETCH_HEADER_BYTES_MAX = 64 * 1024,
};

struct fetch_request {
    struct str url;                      /* http:// or https:// */
    bool post;                           /* a form, body; otherwise GET */
    struct str body;                     /* application/x-www-form-urlencoded */
    struct str basic_name, basic_secret; /* of Basic authentication; "": none */
    struct str bearer;                   /* a token; "": none */
    bool direct;                         /* not through the proxy that the environment may name */
    size_t bytes_max;                    /* of the answer's body */
    int64_t time_ms;                     /* for all of it */
};
struct fetch_answer {
    int code;        /* 200 … 599 */
    struct str body; /* until fetch_done returns */
};
/* Called once, later than fetch_start: with an answer of any code, or with NULL and why there is none:
 * STATUS_UNREACHABLE, STATUS_TIMEOUT, STATUS_TOO_LARGE. */
typedef void fetch_done(void *arg, const struct fetch_answer *answer, const struct err *err);

struct fetch;
/* fetch_new: ca ("": the system's) has the certificates, in PEM, by which servers are trusted. */
MUST_USE enum status fetch_new(struct loop *loop, struct str ca, struct fetch **out,
                               struct err *err);
/* fetch_free ends what is under way without a word. NULL is fine. */
void fetch_free(struct fetch *f);
/* fetch_start copies what it needs. STATUS_BUSY: FETCH_MAX are under way; done is not called then. */
MUST_USE enum status fetch_start(struct fetch *f, const struct fetch_request *r, fetch_done *done,
                                 void *arg, struct err *err);
/* fetch_forget ends what was started with arg, without a word. */
void fetch_forget(struct fetch *f, const void *arg);
