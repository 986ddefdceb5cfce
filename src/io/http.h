// SPDX-License-Identifier: Apache-2.0
// http: a server for HTTP/1.1 in the loop's thread. A request reaches the handler whole; it is
// answered then or later, as a stream of pieces, or handed over as a socket (WebSocket). Too large,
// too slow and too many clients are turned away here.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/uuid.h"
#include "io/loop.h"

enum {
    /* Memory for a request without its body, and the head of its answer. Beyond: 414 or 431; at the
     * very edge, where no answer fits any more, the idle connection is closed. */
    HTTP_HEADER_BYTES_MAX = 64 * 1024,     /* of a local one */
    HTTP_TCP_HEADER_BYTES_MAX = 32 * 1024, /* of the others */
    HTTP_ARGS_MAX = 256,                   /* of a query */
    HTTP_ARG_BYTES = 80,                   /* what each takes there besides its text */
    HTTP_ANSWER_HEAD_BYTES = 2048,         /* enough for the head of any answer */
    HTTP_BEYOND_BYTES_MAX =
        16 << 20, /* of a body of unknown length, past its limit, till it is cut off */
    HTTP_CONNECTIONS_MAX = 512,      /* local ones; beyond: they wait to be accepted */
    HTTP_TCP_CONNECTIONS_MAX = 128,  /* the others */
    HTTP_IDLE_SECONDS = 30,          /* nothing sent or taken */
    HTTP_REQUEST_MS_MAX = 60 * 1000, /* from connecting, or the answer before, to a whole request */
    HTTP_STREAM_BYTES_MAX = 8 << 20, /* not taken by a slow client; beyond: it is dropped */
};

struct http;
struct http_pair {
    struct str name, value;
};

struct http_request {
    struct arena arena;           /* until the request is over */
    struct str method, path;      /* "GET"; the path unescaped, without query */
    const struct http_pair *args; /* of the query, in order, unescaped */
    uint32_t args_count;
    struct str body;
    bool local;                 /* came over a local socket */
    struct str address;         /* the client's; "" over a local socket */
    int fd;                     /* the connection's, to ask who is there */
    bool *known;                /* the handler's, kept for the connection; false at first */
    char id[UUID_TEXT_LEN + 1]; /* minted here, for logs and error bodies */
    /* The handler's: called once when the request is over, however it ends. */
    loop_fn *over;
    void *over_arg;
    struct http_private *private;
};

struct http_hooks {
    /* Headers are there: how many bytes of body are accepted (0: none). */
    size_t (*body_max)(void *ctx, const struct http_request *r);
    /* The whole request is there: answer it now or later. */
    void (*handle)(void *ctx, struct http_request *r);
    /* Refused before it reached handle; answers it (http_answer), err says with what. */
    void (*refuse)(void *ctx, struct http_request *r, const struct err *err);
    void *ctx;
};

struct http *http_new(struct loop *loop, const struct http_hooks *hooks);
/* http_listen takes over the listening socket fd. At most two of them. */
MUST_USE enum status http_listen(struct http *h, int fd, bool local, struct err *err);
/* http_listen_tls is http_listen for a socket of TCP whose clients speak TLS 1.2 or 1.3; certificate
 * (with those above it) and key in PEM. STATUS_INVALID: they are none, or do not fit together. */
MUST_USE enum status http_listen_tls(struct http *h, int fd, struct str certificate, struct str key,
                                     struct err *err);
/* http_quiesce closes the listening sockets; connections go on. */
void http_quiesce(struct http *h);
/* http_each calls fn for every request that was handed to the handler and is not over. */
void http_each(struct http *h, void (*fn)(void *arg, struct http_request *r), void *arg);
void http_free(struct http *h); /* answers what is left; streams that have not ended are cut off */

struct str http_header(const struct http_request *r, const char *name); /* empty when missing */
/* http_arg gives the first query argument of that name, or empty. */
struct str http_arg(const struct http_request *r, struct str name);

/* Before the answer. Borrowed for the call. */
void http_set_header(struct http_request *r, const char *name, struct str value);
/* http_answer ends the request; copies body. http_answered tells whether one of the three that
 * follow was used. */
void http_answer(struct http_request *r, int code, const char *content_type, struct str body);
bool http_answered(const struct http_request *r);

/* A stream of pieces until http_stream_end. http_stream_write copies; false: the client is too slow
 * and is being dropped, write no more. */
void http_stream_begin(struct http_request *r, int code, const char *content_type);
bool http_stream_write(struct http_request *r, struct str bytes);
void http_stream_end(struct http_request *r);
/* http_stream_cut ends it so that its reader sees that it is not whole. Write no more. */
void http_stream_cut(struct http_request *r);
size_t http_stream_pending(const struct http_request *r); /* bytes not yet taken */

/* http_upgrade answers 101 with what http_set_header set, then calls fn with the socket (to be used
 * until http_upgrade_close, which ends the request) and the bytes that came too early. */
typedef void http_upgraded(void *arg, int fd, struct str early);
void http_upgrade(struct http_request *r, http_upgraded *fn, void *arg);
void http_upgrade_close(struct http_request *r);
