// SPDX-License-Identifier: Apache-2.0
// Many effects at once.
#include <dirent.h>
#include <unistd.h>

#include "agent/pods.h"
#include "agent/world_test.h"
#include "base/num.h"
#include "base/test.h"

enum { MANY = 100 };

static uint32_t directories(void)
{
    uint32_t count = 0;
    DIR *dir = opendir(arena_printf(&w.arena, "%s/pods", w.dir).ptr);
    REQUIRE(dir != NULL);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        count += e->d_name[0] != '.' ? 1 : 0;
    }
    (void)closedir(dir);
    return count;
}

static uint32_t seen_of(enum input_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w.seen_count; i++) {
        count += w.seen[i].kind == kind ? 1 : 0;
    }
    return count;
}

/* Of those that are not known to be gone. */
static uint32_t told_to_stop(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w.agent->pods_count; i++) {
        count += w.agent->pods[i]->stop_sent ? 1 : 0;
    }
    return count;
}

static bool all_started(const void *count)
{
    return seen_of(INPUT_POD_STARTED) == *(const uint32_t *)count;
}

static bool all_exited(const void *count)
{
    return seen_of(INPUT_POD_EXITED) == *(const uint32_t *)count;
}

TEST(a_gang_is_started_in_slices)
{
    world_open();
    const char *argv[] = {"sleep", "60", NULL};
    struct request *pods[MANY];
    struct effect effects[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        pods[i] = request(argv);
        effects[i] = pods[i]->effect;
    }
    // Handed over, and one round of the loop later: what is borrowed is not needed any more, most
    // still waits, and only few are starting.
    w.cluster.do_effects(w.cluster.ctx, effects, MANY);
    EXPECT_I64(directories(), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        pods[i]->args[1].value = STR("0");
        pods[i]->workload.spec.pod.args_count = 0;
    }
    w.cluster.poll(w.cluster.ctx, note, &w);
    uint32_t begun = directories();
    const uint32_t at_once = (uint32_t)num_max_i64(8, 2 * sysconf(_SC_NPROCESSORS_ONLN));
    EXPECT(begun >= 1 && begun <= at_once);

    // An end overtakes: what waits is not started any more, also when it is forgotten at once.
    const struct request *stopped = pods[MANY - 1], *forgotten = pods[MANY - 2];
    stop(stopped, 0);
    tell(EFFECT_FORGET, forgotten, 0);
    EXPECT_STR(str_from_c(await(INPUT_POD_EXITED, stopped->effect.pod)->reason), STR("Stopped"));
    uint32_t rest = MANY - 2;
    EXPECT(until(all_started, &rest));
    EXPECT_I64(seen_times(INPUT_POD_STARTED, stopped->effect.pod), 0);
    EXPECT_I64(seen_times(INPUT_POD_STARTED, forgotten->effect.pod), 0);
    EXPECT(access(pod_path(stopped, "/started"), F_OK) != 0);
    EXPECT(access(pod_path(forgotten, ""), F_OK) != 0);

    w.seen_count = 0;
    for (uint32_t i = 0; i < rest; i++) {
        effects[i].kind = EFFECT_STOP;
        effects[i].grace_ms = 20000;
    }
    w.cluster.do_effects(w.cluster.ctx, effects, rest);
    EXPECT_I64(told_to_stop(), 0);
    w.cluster.poll(w.cluster.ctx, note, &w);
    uint32_t told = told_to_stop();
    EXPECT(told >= 1 && told <= at_once); // a thousand that end at once would leave no processor
    EXPECT(until(all_exited, &rest));
    for (uint32_t i = 0; i < rest; i++) {
        EXPECT_I64(await(INPUT_POD_EXITED, pods[i]->effect.pod)->exit_code, 128 + 15);
    }
    world_close();
}

static bool all_told_to_stop(const void *count)
{
    return told_to_stop() == *(const uint32_t *)count;
}

TEST(those_who_take_their_time_to_end_hold_up_nobody)
{
    enum { SLOW = 40 };
    world_open();
    struct effect effects[SLOW];
    for (uint32_t i = 0; i < SLOW; i++) {
        effects[i] = shell("trap '' TERM; while :; do sleep 60; done")->effect;
    }
    w.cluster.do_effects(w.cluster.ctx, effects, SLOW);
    uint32_t all = SLOW;
    EXPECT(until(all_started, &all));
    for (uint32_t i = 0; i < SLOW; i++) {
        effects[i].kind = EFFECT_STOP;
        effects[i].grace_ms = 3600 * 1000;
    }
    w.cluster.do_effects(w.cluster.ctx, effects, SLOW);
    EXPECT(until(all_told_to_stop, &all));
    for (uint32_t i = 0; i < SLOW; i++) {
        effects[i].grace_ms = 0; // thought better of
    }
    w.cluster.do_effects(w.cluster.ctx, effects, SLOW);
    EXPECT(until(all_exited, &all));
    world_close();
}

TEST(what_waits_at_the_end_is_let_go)
{
    world_open();
    struct request *r = shell("true");
    (void)start(r);
    world_reopen(); // it was never begun
    EXPECT_I64(directories(), 0);
    (void)start(r); // the engine asks again
    EXPECT_I64(await(INPUT_POD_EXITED, r->effect.pod)->exit_code, 0);
    world_close();
}

TEST(a_start_has_all_that_it_needs_of_its_workload)
{
    world_open();
    struct request *r = shell("echo $WORLD_SIZE $RANK $MASTER_PORT $RUNAI_JOB_NAME");
    struct workload *l = &r->workload;
    struct event event = {.text = STR("of its history")};
    struct pod pods[3] = {{0}};
    l->spec.framework = FRAMEWORK_PYTORCH;
    l->port = 20007;
    l->pods = pods;
    l->pods_count = COUNT_OF(pods);
    l->events = &event;
    l->events_count = 1;
    (void)start(r);
    *l = (struct workload){0};
    (void)await(INPUT_POD_EXITED, r->effect.pod);
    EXPECT_STR(log_of(r), STR("3 2 20007 job-1\n"));
    world_close();
}
