// SPDX-License-Identifier: Apache-2.0
// client: the server's REST API, over its local socket or over HTTP(S) with a token. A command carries
// one idempotency key; when the connection is lost the request is sent again with the same key, so
// that it happens once.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "base/uuid.h"

/* Where the server is: one of the two. */
struct client_at {
    struct str socket;  /* path */
    struct str url;     /* http://…, https://… without a path; "": over the socket */
    struct str ca_file; /* certificates to trust (PEM) instead of the system's; "" */
};

struct client {
    struct arena *arena;
    struct client_at at;
    struct str bearer; /* the token to show; "": none */
    /* Called when the server knows the token no more: true when there is a new bearer. NULL: no. */
    bool (*renew)(struct client *c, void *ctx);
    void *renew_ctx;
    char key[UUID_TEXT_LEN + 1]; /* of this command; one POST or DELETE may end in several tries */
    bool debug;                  /* each request on stderr */
    bool terminal;               /* a person is there, to be told what is waited for */
    bool met;                    /* the server has answered: one that is not there comes back */
    int64_t limit_ms;            /* for the server to answer, or to begin a stream */
    int64_t began_ms;            /* when the call of now began */
    bool told;                   /* that the server is waited for */
    void *handle;                /* the library's, made at the first call */
};

struct answer {
    int code;               /* HTTP status, 0 when there was none */
    const struct doc *body; /* when it is JSON, also of an error; else NULL */
    struct str text;        /* as it came */
};

/* client_init connects to nothing yet. limit_ms 0: two minutes. STATUS_INVALID: a URL that is none, or
 * one that would show a token to the network in clear text. */
MUST_USE enum status client_init(struct client *c, struct arena *arena, const struct client_at *at,
                                 int64_t limit_ms, struct err *err);
void client_done(struct client *c);
/* client_where says where the server is, for people. */
struct str client_where(const struct client *c);

/* client_path makes "/projects/team%20a" of words: each is escaped, "/" stands between them. */
struct str client_path(struct client *c, uint32_t count, const struct str *words);
/* client_query adds "?name=value" or "&name=value", value escaped. */
struct str client_query(struct client *c, struct str path, const char *name, struct str value);

struct request {
    const char *method; /* GET, POST, PUT, PATCH, DELETE */
    struct str path;    /* below /api/weir/v1, or with all of it: /api/v1/users */
    const char *type;   /* of the body, NULL: none */
    struct str body;
};
/* client_call sends it and waits for the answer. STATUS_UNREACHABLE: nobody answers at the socket,
 * err says what to do. STATUS_TIMEOUT: it does not answer. An error of the server: its status, message, field and hint in err, its body
 * in out. */
MUST_USE enum status client_call(struct client *c, const struct request *r, struct answer *out,
                                 struct err *err);
MUST_USE enum status client_get(struct client *c, struct str path, struct answer *out,
                                struct err *err);
/* client_next_key begins another command (one more workload of a list …). */
void client_next_key(struct client *c);

/* client_stream gets path and hands its pieces to sink as they come. idle (NULL: none) is called some
 * ten times a second. When one of them returns false the stream ends with STATUS_OK. A lost
 * connection, or a stream cut off by a server that stops, is STATUS_UNREACHABLE. */
struct client_stream_hooks {
    bool (*sink)(void *ctx, struct str piece);
    bool (*idle)(void *ctx);
    void *ctx;
};
MUST_USE enum status client_stream(struct client *c, struct str path,
                                   const struct client_stream_hooks *hooks, struct answer *out,
                                   struct err *err);

/* A connection of its own, for who speaks something else than HTTP on it after a handshake. */
struct client_wire {
    void *handle;
    int fd; /* to be polled; it does not block */
};
MUST_USE enum status client_wire_open(struct client *c, struct client_wire *w, struct err *err);
void client_wire_close(struct client_wire *w);
/* As send and recv: -1 with errno, which is EAGAIN when there is nothing to be had now. More may be
 * there than the descriptor shows: read until EAGAIN. */
ssize_t client_wire_send(struct client_wire *w, const void *bytes, size_t len);
ssize_t client_wire_recv(struct client_wire *w, void *bytes, size_t size);
/* client_host gives what stands in the Host header. */
struct str client_host(const struct client *c);

/* client_header gives a header of the answer that the last call or stream got, "" when it got none. */
struct str client_header(struct client *c, const char *name);

/* client_waits, called now and then while nothing comes, tells a person of it; false: it has been too
 * long since c->began_ms. client_no_answer is the error for that. */
bool client_waits(struct client *c);
enum status client_no_answer(struct client *c, struct err *err);

/* client_read makes *out, and of an error (code 400 and above) err, from an answer that came by another
 * way (the handshake of a WebSocket). */
MUST_USE enum status client_read(struct client *c, int code, bool is_json, struct str text,
                                 struct answer *out, struct err *err);
