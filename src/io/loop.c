// SPDX-License-Identifier: Apache-2.0
// Watches are a table by descriptor. The kernel hands back descriptor and generation, so an event
// that was already fetched when its watch was removed (or its descriptor reused) is let go.
// Timers are few (one a subsystem): an unsorted list, walked once a round.
#include "io/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "io/clock.h"

enum { EVENTS_A_ROUND = 64 };

struct watch {
    loop_fd_fn *fn; /* NULL: not watched */
    void *arg;
    uint32_t generation;
};

struct loop {
    int epoll_fd, signal_fd;
    struct watch *watches; /* [watch_cap], by descriptor */
    int watch_cap;
    uint32_t generation;
    struct loop_timer *timers;
    struct before {
        loop_fn *fn;
        void *arg;
    } before[LOOP_BEFORE_MAX];
    uint32_t before_count;
    loop_fd_fn *signal_fn;
    void *signal_arg;
    bool stop;
};

enum status loop_new(struct loop **out, struct err *err)
{
    struct loop *l = mem_alloc(sizeof *l);
    l->signal_fd = -1;
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll_fd < 0) {
        mem_free(l);
        return err_set(err, STATUS_IO, "epoll: %s", strerror(errno));
    }
    *out = l;
    return STATUS_OK;
}

void loop_free(struct loop *l)
{
    if (l == NULL) {
        return;
    }
    if (l->signal_fd >= 0) {
        close(l->signal_fd);
    }
    close(l->epoll_fd);
    mem_free(l->watches);
    mem_free(l);
}

static struct watch *watch_at(struct loop *l, int fd)
{
    CHECK(fd >= 0);
    if (fd >= l->watch_cap) {
        int cap = fd + 64;
        l->watches = mem_resize(l->watches, sizeof *l->watches * (size_t)l->watch_cap,
                                sizeof *l->watches * (size_t)cap);
        l->watch_cap = cap;
    }
    return &l->watches[fd];
}

static int control(struct loop *l, int op, int fd, uint32_t events)
{
    struct epoll_event e = {
        .events = events,
        .data.u64 = (uint64_t)watch_at(l, fd)->generation << 32 | (uint32_t)fd,
    };
    return epoll_ctl(l->epoll_fd, op, fd, &e);
}

enum status loop_add(struct loop *l, int fd, uint32_t events, loop_fd_fn *fn, void *arg,
                     struct err *err)
{
    struct watch *w = watch_at(l, fd);
    CHECK(w->fn == NULL);
    l->generation = l->generation == UINT32_MAX ? 1 : l->generation + 1;
    w->generation = l->generation;
    if (control(l, EPOLL_CTL_ADD, fd, events) != 0) {
        return err_set(err, STATUS_IO, "cannot wait for descriptor %d: %s", fd, strerror(errno));
    }
    w->fn = fn;
    w->arg = arg;
    return STATUS_OK;
}

void loop_mod(struct loop *l, int fd, uint32_t events)
{
    CHECK(watch_at(l, fd)->fn != NULL);
    CHECK(control(l, EPOLL_CTL_MOD, fd, events) == 0);
}

void loop_del(struct loop *l, int fd)
{
    struct watch *w = watch_at(l, fd);
    CHECK(w->fn != NULL);
    CHECK(control(l, EPOLL_CTL_DEL, fd, 0) == 0);
    w->fn = NULL;
}

void loop_at(struct loop *l, struct loop_timer *t, int64_t at_ms, loop_fn *fn, void *arg)
{
    t->at_ms = at_ms;
    t->fn = fn;
    t->arg = arg;
    if (!t->set) {
        t->set = true;
        t->next = l->timers;
        l->timers = t;
    }
}

void loop_cancel(struct loop *l, struct loop_timer *t)
{
    if (!t->set) {
        return;
    }
    struct loop_timer **at = &l->timers;
    while (*at != t) {
        at = &(*at)->next;
    }
    *at = t->next;
    t->next = NULL;
    t->set = false;
}

void loop_before(struct loop *l, loop_fn *fn, void *arg)
{
    CHECK(l->before_count < LOOP_BEFORE_MAX);
    l->before[l->before_count++] = (struct before){fn, arg};
}

void loop_before_del(struct loop *l, loop_fn *fn, void *arg)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->before_count; i++) {
        if (l->before[i].fn != fn || l->before[i].arg != arg) {
            l->before[kept++] = l->before[i];
        }
    }
    l->before_count = kept;
}

static void on_signal(void *arg, int fd, uint32_t events)
{
    struct loop *l = arg;
    (void)events;
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        l->signal_fn(l->signal_arg, (int)info.ssi_signo, 0);
    }
}

enum status loop_signals(struct loop *l, const sigset_t *mask, loop_fd_fn *fn, void *arg,
                         struct err *err)
{
    CHECK(l->signal_fd < 0);
    l->signal_fn = fn;
    l->signal_arg = arg;
    l->signal_fd = signalfd(-1, mask, SFD_NONBLOCK | SFD_CLOEXEC);
    if (l->signal_fd < 0 || sigprocmask(SIG_BLOCK, mask, NULL) != 0) {
        return err_set(err, STATUS_IO, "signals: %s", strerror(errno));
    }
    return loop_add(l, l->signal_fd, EPOLLIN, on_signal, l, err);
}

static int64_t next_timer_ms(const struct loop *l)
{
    int64_t next = INT64_MAX;
    for (const struct loop_timer *t = l->timers; t != NULL; t = t->next) {
        next = t->at_ms < next ? t->at_ms : next;
    }
    return next;
}

static struct loop_timer *first_due(const struct loop *l, int64_t now_ms)
{
    struct loop_timer *t = l->timers;
    while (t != NULL && t->at_ms > now_ms) {
        t = t->next;
    }
    return t;
}

/* One at a time, searched anew, since a callback may change the list; as many as were due at the
 * start, so that timers set again for a time already past cannot keep the descriptors waiting. */
static void run_timers(struct loop *l, int64_t now_ms)
{
    uint32_t count = 0;
    for (const struct loop_timer *t = l->timers; t != NULL; t = t->next) {
        count += t->at_ms <= now_ms;
    }
    struct loop_timer *t;
    for (; count > 0 && (t = first_due(l, now_ms)) != NULL; count--) {
        loop_cancel(l, t);
        t->fn(t->arg);
    }
}

static int wait_time(const struct loop *l, int64_t wait_ms)
{
    int64_t next_ms = next_timer_ms(l);
    if (next_ms != INT64_MAX) {
        int64_t until_ms = next_ms - clock_mono_ms();
        until_ms = until_ms < 0 ? 0 : until_ms;
        wait_ms = wait_ms < 0 || until_ms < wait_ms ? until_ms : wait_ms;
    }
    return wait_ms > 3600000 ? 3600000 : (int)wait_ms;
}

void loop_step(struct loop *l, int64_t wait_ms)
{
    for (uint32_t i = 0; i < l->before_count; i++) {
        l->before[i].fn(l->before[i].arg);
    }
    struct epoll_event events[EVENTS_A_ROUND];
    int count = epoll_wait(l->epoll_fd, events, EVENTS_A_ROUND,
                           l->stop ? 0 : wait_time(l, wait_ms));
    CHECK(count >= 0 || errno == EINTR);
    for (int i = 0; i < count; i++) {
        int fd = (int)(uint32_t)events[i].data.u64;
        struct watch w = l->watches[fd];
        if (w.fn != NULL && w.generation == (uint32_t)(events[i].data.u64 >> 32)) {
            w.fn(w.arg, fd, events[i].events);
        }
    }
    run_timers(l, clock_mono_ms());
}

void loop_run(struct loop *l)
{
    l->stop = false;
    while (!l->stop) {
        loop_step(l, -1);
    }
}

void loop_stop(struct loop *l)
{
    l->stop = true;
}
