// SPDX-License-Identifier: Apache-2.0
// loop: one thread waits here for everything: file descriptors, points in time, signals. All calls
// from that thread; callbacks may add and remove anything, themselves included.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
/* events: EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP (sys/epoll.h). */
typedef void loop_fd_fn(void *arg, int fd, uint32_t events);
typedef void loop_fn(void *arg);

/* A point in time at which `fn` is called once; set again from there for the next. Lives with its
 * owner; zeroed is unset. */
struct loop_timer {
    int64_t at_ms; /* of clock_mono_ms */
    loop_fn *fn;
    void *arg;
    struct loop_timer *next; /* private */
    bool set;                /* private */
};

MUST_USE enum status loop_new(struct loop **out, struct err *err);
void loop_free(struct loop *l);

/* loop_add watches fd for events until loop_del, which must come before close. One watch a
 * descriptor. STATUS_IO: the descriptor cannot be watched (a plain file), or the kernel refused. */
MUST_USE enum status loop_add(struct loop *l, int fd, uint32_t events, loop_fd_fn *fn, void *arg,
                              struct err *err);
void loop_mod(struct loop *l, int fd, uint32_t events);
void loop_del(struct loop *l, int fd);

/* loop_at sets (or moves) the timer to at_ms; loop_cancel unsets it, also when it is not set. */
void loop_at(struct loop *l, struct loop_timer *t, int64_t at_ms, loop_fn *fn, void *arg);
void loop_cancel(struct loop *l, struct loop_timer *t);

/* loop_before calls fn before every wait, in order of the calls: where the work gathered during a
 * round is done. At most LOOP_BEFORE_MAX; loop_before_del takes one away. */
enum { LOOP_BEFORE_MAX = 8 };
void loop_before(struct loop *l, loop_fn *fn, void *arg);
void loop_before_del(struct loop *l, loop_fn *fn, void *arg);

/* loop_signals: the signals of mask are blocked and come as calls of fn with the number in fd. Threads
 * made before must have them blocked too. */
MUST_USE enum status loop_signals(struct loop *l, const sigset_t *mask, loop_fd_fn *fn, void *arg,
                                  struct err *err);

/* loop_run goes round until loop_stop. loop_step goes round once, waiting at most wait_ms (-1: as
 * long as it takes). */
void loop_run(struct loop *l);
void loop_step(struct loop *l, int64_t wait_ms);
void loop_stop(struct loop *l);
