// SPDX-License-Identifier: Apache-2.0
// bench_kit: what the benchmarks of a running server share: a server of their own (this executable in
// another process, on a new directory, with simulated devices), requests over some connections at
// once, and how long they took.
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum { BENCH_CONNECTIONS_MAX = 400, BENCH_COUNT_MAX = 1000000 };

struct bench {
    char dir[256];
    char socket[280];
    int server; /* its process, 0: none */
    bool json;
    const char *parent; /* where dir is made */
};

/* bench_prepare makes the directory; bench_clean_up ends what runs and removes it. */
MUST_USE enum status bench_prepare(struct bench *b, struct err *err);
void bench_clean_up(struct bench *b);
/* bench_server starts it and waits until it answers. */
MUST_USE enum status bench_server(struct bench *b, struct err *err);

struct samples {
    int64_t *us;
    uint32_t count, cap;
};
void samples_add(struct samples *s, int64_t us);
/* bench_show prints a line for them, with how many a second where elapsed_us > 0, and frees them. */
void bench_show(const struct bench *b, const char *what, struct samples *s, int64_t elapsed_us);

/* bench_request appends a request; key NULL: none; body "": none. The path is whole. */
void bench_request(struct buf *out, const char *method, const char *path, const char *key,
                   struct str body);
/* bench_ask sends one to the socket fd and waits for the answer; *bytes (NULL: not asked) is how long
 * its body is. An answer of 300 or more is an error. */
MUST_USE enum status bench_ask(int fd, const char *method, const char *path, struct str body,
                               int64_t *bytes, struct err *err);

/* Requests that are sent over some connections at once, each the next when it has its answer. */
struct bench_load {
    const char *socket; /* path; NULL: TCP on this machine at port */
    uint16_t port;
    uint32_t connections;
    int64_t count;
    void (*put)(void *ctx, int64_t number, struct buf *out);
    void *ctx;
};
MUST_USE enum status bench_run(const struct bench_load *load, struct samples *s,
                               int64_t *elapsed_us, struct err *err);
/* bench_connect_tcp connects to a port of this machine. */
MUST_USE enum status bench_connect_tcp(uint16_t port, int *fd, struct err *err);

/* bench_number reads "--NAME N" at argv[*i] when it stands there, and moves *i on: 1; 0: another word
 * stands there; -1: the number is none, or not within the bounds. */
int bench_number(int argc, char **argv, int *i, const char *name, int64_t min, int64_t max,
                 int64_t *out);
