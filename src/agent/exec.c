// SPDX-License-Identifier: Apache-2.0
#include "agent/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "agent/frame.h"
#include "base/buf.h"

enum { EXEC_SEND_MS = 5000 };

static void exec_body(const struct exec_request *r, struct buf *out)
{
    buf_char(out, r->terminal ? 1 : 0);
    buf_printf(out, "%u", r->argc);
    buf_char(out, '\0');
    for (uint32_t i = 0; i < r->argc; i++) {
        buf_str(out, r->argv[i]);
        buf_char(out, '\0');
    }
    for (uint32_t i = 0; i < r->env_count; i++) {
        buf_str(out, r->env[i]);
        buf_char(out, '\0');
    }
}

/* Sends all of it, waiting for a supervisor that is busy; the socket does not block otherwise. */
static enum status frame_send(int fd, struct str body, struct err *err)
{
    struct buf out;
    buf_init(&out, FRAME_MAX + FRAME_HEAD_LEN);
    frame_add(&out, FRAME_EXEC, body);
    enum status s = STATUS_OK;
    struct timeval patience = {.tv_sec = EXEC_SEND_MS / 1000};
    int flags = fcntl(fd, F_GETFL);
    (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    for (size_t done = 0; done < out.len && s == STATUS_OK;) {
        ssize_t n = send(fd, out.ptr + done, out.len - done, MSG_NOSIGNAL);
        if (n > 0) {
            done += (size_t)n;
        } else if (errno != EINTR) {
            s = err_set(err, STATUS_UNREACHABLE, "the pod's supervisor does not answer: %s",
                        strerror(errno));
        }
    }
    (void)fcntl(fd, F_SETFL, flags);
    buf_done(&out);
    return s;
}

enum status exec_send(int fd, const struct exec_request *r, struct err *err)
{
    if (r->argc == 0) {
        return err_set(err, STATUS_INVALID, "no command to run");
    }
    struct buf body;
    buf_init(&body, FRAME_MAX);
    exec_body(r, &body);
    enum status s = body.full ? err_set(err, STATUS_TOO_LARGE,
                                        "the command is longer than %d bytes", FRAME_MAX)
                              : frame_send(fd, buf_view(&body), err);
    buf_done(&body);
    return s;
}
