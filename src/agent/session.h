// SPDX-License-Identifier: Apache-2.0
// session: one peer of a supervisor's socket, and what it asked for: the status as it changes, a
// stop, or a command inside the pod with its input and output (exec).
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "agent/job.h"
#include "base/buf.h"

enum { SESSION_FDS = 4, SESSION_ARGS_MAX = 4096 };

struct session {
    int fd; /* -1: free */
    bool watching;
    bool closing; /* closed once all is sent */
    struct buf in, out, to_command;
    bool input_over; /* the peer has no more input for the command */
    /* the command; pid 0: none */
    pid_t pid;
    bool terminal, exited;
    int code;
    int command_in, command_out, command_err; /* one and the same for a terminal */
    struct pollfd *polled[SESSION_FDS]; /* socket, in, out, err in the current poll; NULL: not */
};

/* What a message asks of the supervisor. */
enum session_wish { WISH_NONE, WISH_STATUS, WISH_STOP, WISH_EXEC };
struct session_request {
    enum session_wish wish;
    int64_t grace_ms;
    bool terminal;
    char **argv, **env; /* in the arena given */
};

void session_init(struct session *s, int fd);
void session_done(struct session *s); /* closes all; a command still running gets SIGHUP */
/* session_poll adds what it waits for; at most SESSION_FDS entries. */
nfds_t session_poll(struct session *s, struct pollfd *fds);
/* session_serve moves bytes after poll. False: the peer is gone or talks nonsense; call
 * session_done. Complete requests are then taken with session_request. */
bool session_serve(struct session *s);
/* session_take takes the next request that is not input for a command. */
bool session_take(struct session *s, struct session_request *out, struct arena *arena);
/* session_send queues one message. */
void session_send(struct session *s, uint8_t kind, struct str bytes);
/* session_flush sends what the socket takes now. */
void session_flush(struct session *s);

/* session_run starts a command for the peer; with a failure told as output and exit code. `job` has
 * all but the input and output, which are made here. */
void session_run(struct session *s, struct job *job, bool terminal);
/* session_reaped: the command ended. */
void session_reaped(struct session *s, int wait_status);
