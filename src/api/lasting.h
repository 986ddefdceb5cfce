// SPDX-License-Identifier: Apache-2.0
// lasting: calls that go on, streams and sockets. Each ends with the session it began with, and with
// the right it began with: looked at whenever who may what has changed, and when the next of the
// sessions is over. Whoever came over the local socket goes on.
#pragma once

#include <stdbool.h>

struct api;
struct call;

struct lasting {
    /* private */
    struct lasting *next;
    struct call *call;
    void (*end)(void *arg);
    void *arg;
    bool listed;
};

/* lasting_begin: the call goes on from now. end is called at most once, when it may no longer; it may
 * call lasting_over. */
void lasting_begin(struct lasting *l, struct call *c, void (*end)(void *arg), void *arg);
/* lasting_over: it has come to its end; also when it never began. */
void lasting_over(struct lasting *l);
/* lasting_changed is called after each batch, before anything is told to those that go on. */
void lasting_changed(struct api *api);
