// SPDX-License-Identifier: Apache-2.0
#include "io/loop.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/test.h"
#include "io/clock.h"

struct world {
    struct loop *loop;
    struct loop_timer timers[3];
    int fds[4];
    uint32_t calls;
    char order[8];
    uint32_t order_len;
};

static void note(struct world *w, char c)
{
    if (w->order_len < sizeof w->order) {
        w->order[w->order_len++] = c;
    }
}

static void on_a(void *arg)
{
    struct world *w = arg;
    note(w, 'a');
    loop_cancel(w->loop, &w->timers[1]);
    loop_at(w->loop, &w->timers[0], 0, on_a, w); /* again, already past: not in this round */
}

static void on_b(void *arg)
{
    note(arg, 'b');
}

TEST(a_timer_may_cancel_another_and_set_itself)
{
    struct world w = {0};
    struct err err = {0};
    REQUIRE_OK(loop_new(&w.loop, &err), &err);
    loop_at(w.loop, &w.timers[1], 0, on_b, &w);
    loop_at(w.loop, &w.timers[2], clock_mono_ms() + 1000000, on_b, &w);
    loop_at(w.loop, &w.timers[0], 0, on_a, &w);
    loop_step(w.loop, 0);
    EXPECT(w.order_len >= 1 && w.order_len <= 2 && w.order[0] == 'a');
    loop_cancel(w.loop, &w.timers[0]);
    loop_cancel(w.loop, &w.timers[1]);
    uint32_t before = w.order_len;
    loop_step(w.loop, 0);
    EXPECT_I64(w.order_len, before);
    loop_free(w.loop);
}

static void on_fd(void *arg, int fd, uint32_t events)
{
    struct world *w = arg;
    (void)events;
    w->calls++;
    int other = fd == w->fds[0] ? w->fds[2] : w->fds[0];
    loop_del(w->loop, other); /* its event was fetched in the same round */
}

TEST(an_event_of_a_watch_removed_in_the_same_round_is_let_go)
{
    struct world w = {0};
    struct err err = {0};
    REQUIRE_OK(loop_new(&w.loop, &err), &err);
    REQUIRE(pipe(w.fds) == 0 && pipe(w.fds + 2) == 0);
    REQUIRE(write(w.fds[1], "x", 1) == 1 && write(w.fds[3], "x", 1) == 1);
    REQUIRE_OK(loop_add(w.loop, w.fds[0], EPOLLIN, on_fd, &w, &err), &err);
    REQUIRE_OK(loop_add(w.loop, w.fds[2], EPOLLIN, on_fd, &w, &err), &err);
    loop_step(w.loop, 0);
    EXPECT_I64(w.calls, 1);
    loop_free(w.loop);
    for (int i = 0; i < 4; i++) {
        close(w.fds[i]);
    }
}

static void on_signal(void *arg, int number, uint32_t events)
{
    (void)events;
    struct world *w = arg;
    w->calls = (uint32_t)number;
    loop_stop(w->loop);
}

TEST(a_signal_comes_as_a_call)
{
    struct world w = {0};
    struct err err = {0};
    REQUIRE_OK(loop_new(&w.loop, &err), &err);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    REQUIRE_OK(loop_signals(w.loop, &mask, on_signal, &w, &err), &err);
    REQUIRE(raise(SIGUSR1) == 0);
    loop_run(w.loop);
    EXPECT_I64(w.calls, SIGUSR1);
    loop_free(w.loop);
}

TEST(a_plain_file_is_refused)
{
    struct loop *loop;
    struct err err = {0};
    REQUIRE_OK(loop_new(&loop, &err), &err);
    FILE *f = tmpfile();
    EXPECT_STATUS(loop_add(loop, fileno(f), EPOLLIN, on_fd, NULL, &err), STATUS_IO);
    fclose(f);
    loop_free(loop);
}

TEST_MAIN()
