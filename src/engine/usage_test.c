// SPDX-License-Identifier: Apache-2.0
// The books of past use, and what they do to fair shares. Tests named B… show a row of
// docs/scenarios.md.
#include "base/array.h"
#include "base/num.h"
#include "base/prng.h"
#include "base/rfc3339.h"
#include "base/test.h"
#include "engine/machine.h"
#include "model/limits.h"
#include "model/priority.h"
#include "model/reason.h"
#include "model/units.h"

#define MINUTE (INT64_C(60) * 1000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
/* Midnight between Sunday and Monday, 5 January 2026. */
#define MONDAY INT64_C(1767571200000)

/* ---- a rig: one node of many devices, projects a, b and c of department d ---- */

enum { DEVICES = 16, PROJECTS = 3 };

struct rig {
    struct engine *e;
    struct arena arena;
    struct effects effects;
    struct outcome out;
    int64_t now_ms;
    uint32_t ids;
    struct pool pool;
    int64_t guaranteed[PROJECTS]; /* devices */
};

static void say(struct rig *r, struct input in)
{
    in.now_ms = r->now_ms;
    in.version = INPUT_VERSION;
    in.seq = engine_state(r->e)->seq + 1;
    r->effects.count = 0;
    engine_apply(r->e, &in, &r->effects, &r->out);
    EXPECT_STATUS(r->out.status, STATUS_OK);
}

static const struct str project_names[PROJECTS] = {STRS("a"), STRS("b"), STRS("c")};

static void apply_plan(struct rig *r)
{
    struct quota quotas[PROJECTS];
    struct project projects[PROJECTS];
    struct quota sum = plan_quota(NULL, 0, STR("default"));
    for (int i = 0; i < PROJECTS; i++) {
        quotas[i] = plan_quota(NULL, 0, STR("default"));
        quotas[i].gpu_share = r->guaranteed[i] * DEVICE_SHARE;
        sum.gpu_share += quotas[i].gpu_share;
        projects[i] = (struct project){.name = project_names[i],
                                       .department = STR("d"),
                                       .quotas = &quotas[i],
                                       .quotas_count = 1};
    }
    struct department d = {.name = STR("d"), .quotas = &sum, .quotas_count = 1};
    struct input in = {.kind = INPUT_PLAN_APPLY, .author = STR("root")};
    in.plan_apply.plan = (struct plan){.pools = &r->pool,
                                       .pools_count = 1,
                                       .departments = &d,
                                       .departments_count = 1,
                                       .projects = projects,
                                       .projects_count = PROJECTS};
    say(r, in);
}

static void see_node(struct rig *r, uint32_t devices)
{
    struct device list[DEVICES];
    for (uint32_t i = 0; i < devices; i++) {
        list[i] = (struct device){.uuid = arena_printf(&r->arena, "GPU-%02u", i),
                                  .memory_bytes = INT64_C(80) << 30,
                                  .healthy = true};
    }
    struct input in = {.kind = INPUT_NODE_SEEN};
    in.node = (struct node){.name = STR("n1"),
                            .devices = list,
                            .devices_count = devices,
                            .cpu_milli = 64000,
                            .memory_bytes = INT64_C(1) << 38,
                            .pods_max = 110,
                            .ready = true};
    say(r, in);
}

static void rig_init(struct rig *r, uint32_t devices)
{
    *r = (struct rig){.e = engine_new(), .now_ms = MONDAY};
    arena_init(&r->arena, 0);
    r->effects.arena = &r->arena;
    r->pool = (struct pool){.name = STR("default"), .time_based_fair_share = true};
    apply_plan(r);
    see_node(r, devices);
}

static void rig_done(struct rig *r)
{
    struct arena a;
    arena_init(&a, 0);
    EXPECT_STR(engine_invariants(r->e, &a), STR(""));
    arena_done(&a);
    engine_free(r->e);
    arena_done(&r->arena);
}

static struct uuid id_of(uint32_t n)
{
    struct uuid u = {{0}};
    u.b[0] = (uint8_t)(n >> 16);
    u.b[1] = (uint8_t)(n >> 8);
    u.b[2] = (uint8_t)(n & 0xff);
    u.b[15] = 1;
    return u;
}

/* Submits a workload of one pod; gives its number, that of its pod is one more. */
static uint32_t submit(struct rig *r, uint32_t project, int64_t devices, int64_t priority)
{
    uint32_t n = r->ids += 2;
    struct pod_id pod = {id_of(n + 1)};
    struct input in = {.kind = INPUT_SUBMIT, .author = STR("ann")};
    in.submit = (struct submit){.id = id_of(n),
                                .name = arena_printf(&r->arena, "w%u", n),
                                .project = project_names[project],
                                .pod_ids = &pod,
                                .pod_ids_count = 1};
    in.submit.spec = (struct workload_spec){.pods = 1,
                                            .pods_min = 1,
                                            .priority = priority,
                                            .preemptibility = PREEMPTIBLE,
                                            .auto_delete_ms = 0};
    in.submit.spec.pod = (struct pod_spec){.gpu_devices = devices,
                                           .cpu_milli = 1000,
                                           .memory_bytes = INT64_C(1) << 30,
                                           .cpu_limit_milli = -1,
                                           .memory_limit_bytes = -1,
                                           .run_as_uid = -1,
                                           .run_as_gid = -1,
                                           .grace_ms = 5000};
    say(r, in);
    return n;
}

static const struct pod *pod_of(const struct rig *r, uint32_t n)
{
    const struct workload *w = engine_find(r->e, id_of(n));
    REQUIRE(w != NULL);
    return &w->pods[0];
}

/* Gives workload n the devices from first on. */
static void bind(struct rig *r, uint32_t n, uint32_t first, uint32_t count)
{
    struct held_device devices[DEVICES];
    for (uint32_t i = 0; i < count; i++) {
        devices[i].uuid = arena_printf(&r->arena, "GPU-%02u", first + i);
        devices[i].share = DEVICE_SHARE;
    }
    struct bind bind = {id_of(n + 1), STR("n1"), devices, count, 0};
    struct input in = {.kind = INPUT_TICK};
    in.tick.binds = &bind;
    in.tick.binds_count = 1;
    say(r, in);
    EXPECT_I64(pod_of(r, n)->phase, POD_BINDING);
}

static uint32_t run(struct rig *r, uint32_t project, uint32_t first, uint32_t count,
                    int64_t priority)
{
    uint32_t n = submit(r, project, count, priority);
    bind(r, n, first, count);
    return n;
}

static void end(struct rig *r, uint32_t n)
{
    struct input in = {.kind = INPUT_POD_EXITED};
    in.pod = (struct pod_report){.pod = id_of(n + 1),
                                 .attempt = 1,
                                 .node = STR("n1"),
                                 .at_ms = r->now_ms,
                                 .reason = STR("Completed")};
    say(r, in);
}

/* Decides, and applies what was decided. */
static void decide(struct rig *r, struct tick *out)
{
    struct input in = {.kind = INPUT_TICK};
    bool changed;
    engine_decide(r->e, r->now_ms, &r->arena, &in.tick, &changed);
    *out = in.tick;
    if (changed) {
        say(r, in);
    }
}

static void restart(struct rig *r)
{
    struct buf bytes;
    struct err err;
    buf_init(&bytes, UINT32_MAX);
    engine_checkpoint(r->e, &bytes);
    engine_free(r->e);
    r->e = engine_new();
    REQUIRE_OK(engine_restore(r->e, buf_view(&bytes), &err), &err);
    buf_done(&bytes);
}

static struct usage usage(const struct rig *r, uint32_t project)
{
    return engine_usage(r->e, STR("default"), project_names[project], false, r->now_ms);
}

static int64_t gpu_minutes(const struct rig *r, uint32_t project)
{
    return usage(r, project).used.v[RES_GPU] / DEVICE_SHARE / MINUTE;
}

static int64_t fair_share(const struct rig *r, uint32_t project)
{
    return engine_fair_share(r->e, STR("default"), project_names[project], false) / DEVICE_SHARE;
}

/* ---- books ---- */

TEST(B009_a_reload_changes_no_figure_of_past_use)
{
    struct rig r;
    rig_init(&r, 8);
    r.now_ms += 7 * MINUTE;
    run(&r, 0, 0, 4, 40);
    r.now_ms += HOUR;
    apply_plan(&r); /* what is so already */
    r.guaranteed[1] = 1;
    apply_plan(&r); /* something else */
    r.pool.usage_window_ms = DAY;
    apply_plan(&r); /* the window, to and fro */
    r.pool.usage_window_ms = 0;
    apply_plan(&r);
    r.now_ms += HOUR;
    EXPECT_I64(gpu_minutes(&r, 0), 8 * 60);
    restart(&r);
    EXPECT_I64(gpu_minutes(&r, 0), 8 * 60);
    struct usage d = engine_usage(r.e, STR("default"), STR("d"), true, r.now_ms);
    EXPECT_I64(d.used.v[RES_GPU], 8 * HOUR * DEVICE_SHARE);
    EXPECT_I64(d.used.v[RES_CPU], 2 * HOUR * 1000);
    EXPECT_I64(d.used.v[RES_MEMORY], 2 * HOUR * 1024);
    EXPECT_I64(d.had.v[RES_GPU], 8 * (2 * HOUR + 7 * MINUTE) * DEVICE_SHARE);
    rig_done(&r);
}

TEST(use_of_what_is_gone_and_of_nobody)
{
    struct rig r;
    rig_init(&r, 8);
    EXPECT_I64(gpu_minutes(&r, 0), 0);
    EXPECT_I64(engine_usage(r.e, STR("x"), STR("a"), false, r.now_ms).had.v[RES_GPU], 0);
    EXPECT_I64(engine_usage(r.e, STR("default"), STR("x"), true, r.now_ms).had.v[RES_GPU], 0);
    uint32_t n = run(&r, 0, 0, 4, 40);
    r.now_ms += HOUR;
    end(&r, n);
    r.now_ms += 8 * DAY;
    EXPECT_I64(gpu_minutes(&r, 0), 0); /* a week is over */
    r.pool.usage_window_ms = 30 * DAY;
    apply_plan(&r);
    EXPECT_I64(gpu_minutes(&r, 0), 4 * 60); /* not forgotten */
    r.now_ms += 100 * DAY;
    run(&r, 0, 0, 1, 40);
    r.pool.usage_window_ms = USAGE_WINDOW_MAX_MS;
    apply_plan(&r);
    EXPECT_I64(gpu_minutes(&r, 0), 0); /* now it is */
    EXPECT_I64(usage(&r, 0).part.v[RES_GPU], 0);
    rig_done(&r);
}

TEST(a_node_that_is_lost_is_no_capacity)
{
    struct rig r;
    rig_init(&r, 8);
    r.now_ms += HOUR;
    say(&r, (struct input){.kind = INPUT_NODE_LOST, .node_name = STR("n1")});
    r.now_ms += 5 * HOUR;
    EXPECT_I64(usage(&r, 0).had.v[RES_GPU], 8 * HOUR * DEVICE_SHARE);
    see_node(&r, 4);
    r.now_ms += HOUR;
    EXPECT_I64(usage(&r, 0).had.v[RES_GPU], 12 * HOUR * DEVICE_SHARE);
    rig_done(&r);
}

/* ---- against the list of events ---- */

struct stay {
    uint32_t project, n;
    bool low;
    int64_t devices, from_ms, to_ms; /* to_ms 0: it still runs */
};
struct history {
    ARRAY(struct stay) stays;
    uint32_t free_first; /* devices from here on are free */
};

static int64_t overlap(int64_t from, int64_t to, int64_t first, int64_t last)
{
    return num_max_i64(0, num_min_i64(to, last) - num_max_i64(from, first));
}

/* The first moment of a window, by what the manual says of its type. */
static int64_t first_moment(const struct pool *p, int64_t now_ms)
{
    int64_t length = p->usage_window_ms > 0 ? p->usage_window_ms : 7 * DAY;
    if (p->usage_window == USAGE_TUMBLING) {
        int64_t at = p->usage_start_ms;
        while (at > now_ms) {
            at -= length;
        }
        while (at + length <= now_ms) {
            at += length;
        }
        return at;
    }
    if (p->usage_window == USAGE_CRON) { /* Mondays at six */
        int64_t at = MONDAY - 700 * DAY + 6 * HOUR;
        while (at + 7 * DAY <= now_ms) {
            at += 7 * DAY;
        }
        return at;
    }
    return now_ms - length;
}

static void compare(const struct rig *r, const struct history *h)
{
    int64_t wanted_ms = first_moment(&r->pool, r->now_ms);
    for (uint32_t p = 0; p < PROJECTS; p++) {
        struct usage u = usage(r, p);
        int64_t age_ms = r->now_ms - wanted_ms;
        int64_t coarse_ms = age_ms <= 2 * DAY ? 15 * MINUTE : age_ms <= 8 * DAY ? HOUR : DAY;
        EXPECT(u.from_ms <= wanted_ms);
        EXPECT(wanted_ms - u.from_ms < coarse_ms);
        int64_t sum = 0;
        int64_t low = 0;
        for (uint32_t i = 0; i < h->stays.count; i++) {
            const struct stay *s = &h->stays.items[i];
            int64_t to_ms = s->to_ms == 0 ? r->now_ms : s->to_ms;
            int64_t ms = s->project == p ? overlap(s->from_ms, to_ms, u.from_ms, r->now_ms) : 0;
            sum += ms * s->devices;
            low += s->low ? ms * s->devices : 0;
        }
        EXPECT_I64(u.used.v[RES_GPU], sum * DEVICE_SHARE);
        int64_t had = overlap(MONDAY, r->now_ms, u.from_ms, r->now_ms) * DEVICES;
        EXPECT_I64(u.had.v[RES_GPU], had * DEVICE_SHARE);
        if (had > 0 && r->pool.usage_half_life_ms == 0) {
            int64_t counted = sum * 1000 + low * r->pool.usage_low_less_one;
            EXPECT_I64(u.part.v[RES_GPU],
                       num_muldiv_floor(counted, USAGE_DENOMINATOR_MAX, had * 1000));
        }
    }
}

static void random_settings(struct rig *r, struct prng *p)
{
    struct pool *pool = &r->pool;
    *pool = (struct pool){.name = STR("default"), .time_based_fair_share = prng_chance(p, 500)};
    pool->usage_window = prng_below(p, 3);
    if (pool->usage_window != USAGE_CRON) {
        pool->usage_window_ms = prng_range(p, 1, 30 * 24) * HOUR;
    }
    if (pool->usage_window == USAGE_TUMBLING) {
        pool->usage_start_ms = MONDAY + prng_range(p, -1000, 1000) * HOUR;
    } else if (pool->usage_window == USAGE_CRON) {
        pool->usage_cron = STR("0 6 * * mon");
    }
    pool->usage_half_life_ms = prng_chance(p, 300) ? prng_range(p, 1, 100) * HOUR : 0;
    pool->usage_low_less_one = prng_chance(p, 300) ? prng_range(p, -1000, 0) : 0;
    apply_plan(r);
}

static void random_step(struct rig *r, struct prng *p, struct history *h)
{
    uint32_t running = 0;
    for (uint32_t i = 0; i < h->stays.count; i++) {
        running += h->stays.items[i].to_ms == 0;
    }
    if (running > 0 && (h->free_first == DEVICES || prng_chance(p, 300))) {
        for (uint32_t i = 0; i < h->stays.count; i++) { /* all end, so that devices are one run */
            struct stay *s = &h->stays.items[i];
            if (s->to_ms == 0) {
                end(r, s->n);
                s->to_ms = r->now_ms;
            }
        }
        h->free_first = 0;
        return;
    }
    uint32_t count = 1 + prng_below(p, (DEVICES - h->free_first < 4 ? DEVICES - h->free_first : 4));
    struct stay s = {.project = prng_below(p, PROJECTS),
                     .low = prng_chance(p, 500),
                     .devices = count,
                     .from_ms = r->now_ms};
    s.n = run(r, s.project, h->free_first, count, s.low ? PRIORITY_VERY_LOW : 40);
    h->free_first += count;
    *ARRAY_PUSH(&r->arena, &h->stays) = s;
}

TEST(books_equal_the_sum_over_all_events)
{
    enum { HISTORIES = 12, STEPS = 120 };
    struct prng p;
    prng_init(&p, test_seed());
    for (int k = 0; k < HISTORIES; k++) {
        struct rig r;
        struct history h = {.free_first = 0};
        rig_init(&r, DEVICES);
        for (int i = 0; i < STEPS; i++) {
            uint32_t dice = prng_below(&p, 100);
            r.now_ms += dice < 60   ? prng_range(&p, 0, 40 * MINUTE)
                        : dice < 95 ? prng_range(&p, 0, 12 * HOUR)
                                    : prng_range(&p, 0, 9 * DAY);
            if (prng_chance(&p, 150)) {
                random_settings(&r, &p);
            } else if (prng_chance(&p, 50)) {
                restart(&r);
            } else {
                random_step(&r, &p, &h);
            }
            compare(&r, &h);
        }
        rig_done(&r);
    }
}

TEST(books_do_not_grow_without_end)
{
    struct rig r;
    rig_init(&r, DEVICES);
    r.pool.usage_window_ms = USAGE_WINDOW_MAX_MS;
    apply_plan(&r);
    for (int i = 0; i < 120 * 24; i++) {
        uint32_t n = run(&r, 0, 0, 2, 40);
        r.now_ms += HOUR;
        end(&r, n);
    }
    const struct state *s = engine_state(r.e);
    for (uint32_t i = 0; i < s->books_count; i++) {
        EXPECT(s->books[i].uses_count < 530);
    }
    EXPECT_I64(gpu_minutes(&r, 0), 92 * 24 * 2 * 60);
    EXPECT_I64(usage(&r, 0).part.v[RES_GPU], USAGE_DENOMINATOR_MAX / 8);
    rig_done(&r);
}

/* ---- decay ---- */

TEST(use_counts_half_after_a_half_life)
{
    const int64_t one = INT64_C(1) << 24;
    EXPECT_I64(usage_weight(-5, HOUR), one);
    EXPECT_I64(usage_weight(5 * HOUR, 0), one);
    EXPECT_I64(usage_weight(100 * HOUR, HOUR), 0);
    for (int64_t age = 0; age < 5 * HOUR; age += 37777) {
        int64_t w = usage_weight(age, HOUR);
        int64_t half = usage_weight(age + HOUR, HOUR);
        int64_t root = usage_weight(age / 2, HOUR); /* its square is w */
        EXPECT(w - 2 * half >= 0 && w - 2 * half <= 1);
        EXPECT(w <= usage_weight(age - 1, HOUR));
        int64_t square = num_muldiv_floor(root, root, one);
        EXPECT(square - w < one / 5000 && w - square < one / 5000);
    }
}

TEST(what_was_used_earlier_counts_less)
{
    struct rig r;
    rig_init(&r, 8);
    r.pool.usage_half_life_ms = DAY;
    apply_plan(&r);
    uint32_t n = run(&r, 0, 0, 8, 40);
    r.now_ms += HOUR;
    end(&r, n);
    r.now_ms += DAY - HOUR;
    n = run(&r, 1, 0, 8, 40);
    r.now_ms += HOUR;
    end(&r, n);
    int64_t before = usage(&r, 0).part.v[RES_GPU];
    int64_t after = usage(&r, 1).part.v[RES_GPU];
    EXPECT_I64(usage(&r, 0).used.v[RES_GPU], usage(&r, 1).used.v[RES_GPU]);
    EXPECT(after - 2 * before >= -2 && after - 2 * before <= 2);
    EXPECT(before > 2000);
    rig_done(&r);
}

/* ---- what it does ---- */

/* a has used nine tenths of 16 devices, b one tenth, and both want all; then k moves the shares as
 * KAI has them. */
TEST(shares_move_with_past_use_and_k)
{
    static const struct {
        const char *name;
        int64_t k_less_one, devices_a, a, b;
        bool on;
    } rows[] = {
        {"k 1",            0,     9, 2, 14, true },
        {"k 0",            -1000, 9, 8, 8,  true },
        {"k 1, .6 to .4",  0,     6, 6, 10, true },
        {"k .5, .6 to .4", -500,  6, 7, 9,  true },
        {"k 10, .6 to .4", 9000,  6, 0, 16, true },
        {"off",            0,     9, 8, 8,  false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rig r;
        struct tick t;
        test_row(rows[i].name);
        rig_init(&r, 10);
        uint32_t a = run(&r, 0, 0, (uint32_t)rows[i].devices_a, 40);
        uint32_t b = run(&r, 1, (uint32_t)rows[i].devices_a, 10 - (uint32_t)rows[i].devices_a, 40);
        r.now_ms += HOUR;
        end(&r, a);
        end(&r, b);
        see_node(&r, DEVICES);
        r.pool.time_based_fair_share = rows[i].on;
        r.pool.usage_k_less_one = rows[i].k_less_one;
        apply_plan(&r);
        for (int w = 0; w < DEVICES; w++) {
            submit(&r, 0, 1, 40);
            submit(&r, 1, 1, 40);
        }
        EXPECT_I64(fair_share(&r, 0), rows[i].a); /* before a decision and after it */
        EXPECT_I64(fair_share(&r, 1), rows[i].b);
        decide(&r, &t);
        EXPECT_I64(t.binds_count, DEVICES);
        EXPECT_I64(fair_share(&r, 0), rows[i].a);
        EXPECT_I64(fair_share(&r, 1), rows[i].b);
        int64_t held_a = engine_held(r.e, STR(""), STR("a"), false).gpu_share / DEVICE_SHARE;
        EXPECT_I64(held_a, rows[i].a);
        rig_done(&r);
    }
    test_row(NULL);
}

TEST(B007_who_used_less_is_served_until_even)
{
    struct rig r;
    struct tick t;
    rig_init(&r, 12);
    uint32_t running[12];
    for (uint32_t i = 0; i < 12; i++) {
        running[i] = run(&r, 0, i, 1, 40);
    }
    for (uint32_t i = 0; i < 24; i++) {
        submit(&r, 0, 1, 40);
    }
    r.now_ms += HOUR;
    for (uint32_t i = 0; i < 12; i++) {
        submit(&r, 1, 1, 40);
    }
    /* One of a's ends every minute: the next eight go to b. By weight alone six would; with what a
     * has used it gets less. */
    for (uint32_t i = 0; i < 8; i++) {
        r.now_ms += MINUTE;
        end(&r, running[i]);
        struct input in = {.kind = INPUT_TICK};
        bool changed;
        engine_decide(r.e, r.now_ms, &r.arena, &in.tick, &changed);
        t = in.tick;
        t.evicts_count = 0; /* what is above its share is not looked at here */
        REQUIRE(t.binds_count >= 1);
        in.tick = (struct tick){.binds = t.binds, .binds_count = t.binds_count};
        say(&r, in);
    }
    EXPECT_I64(engine_held(r.e, STR(""), STR("b"), false).gpu_share / DEVICE_SHARE, 8);
    rig_done(&r);
}

TEST(B011_history_overturns_no_guarantee)
{
    struct rig r;
    struct tick t;
    rig_init(&r, 8);
    r.guaranteed[0] = 8;
    r.pool.usage_k_less_one = 99000;
    apply_plan(&r);
    for (uint32_t i = 0; i < 8; i++) {
        run(&r, 0, i, 1, 90);
    }
    r.now_ms += 7 * DAY;
    EXPECT_I64(usage(&r, 0).part.v[RES_GPU], USAGE_DENOMINATOR_MAX);
    for (uint32_t i = 0; i < 8; i++) {
        submit(&r, 1, 1, 25);
    }
    decide(&r, &t);
    EXPECT_I64(t.evicts_count, 0);
    EXPECT_I64(t.binds_count, 0);
    EXPECT_I64(fair_share(&r, 0), 8);
    EXPECT_I64(fair_share(&r, 1), 0);
    rig_done(&r);
}

TEST(B012_what_scavenging_counts_is_a_factor)
{
    static const struct {
        const char *name;
        int64_t less_one;
        uint32_t first;
    } rows[] = {
        {"nothing: who scavenged is first", -1000, 0},
        {"as any other use: it is last",    0,     1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rig r;
        struct tick t;
        test_row(rows[i].name);
        rig_init(&r, 10);
        r.pool.usage_low_less_one = rows[i].less_one;
        apply_plan(&r);
        uint32_t a = run(&r, 0, 0, 9, PRIORITY_VERY_LOW);
        uint32_t b = run(&r, 1, 9, 1, 40);
        r.now_ms += 20 * HOUR; /* a: 180 hours of scavenging; b: 20 of normal work */
        end(&r, a);
        end(&r, b);
        see_node(&r, 1);
        uint32_t waiting[2] = {submit(&r, 0, 1, 40), submit(&r, 1, 1, 40)};
        decide(&r, &t);
        REQUIRE(t.binds_count == 1);
        EXPECT(uuid_eq(t.binds[0].pod, id_of(waiting[rows[i].first] + 1)));
        rig_done(&r);
    }
    test_row(NULL);
}

TEST(shares_stand_still_within_a_quarter_and_are_looked_at_after_it)
{
    struct rig r;
    struct tick t;
    rig_init(&r, 10);
    run(&r, 0, 0, 10, 40);
    r.now_ms += HOUR;
    r.guaranteed[0] = 10; /* nobody may take it away */
    apply_plan(&r);
    submit(&r, 1, 1, 40);
    decide(&r, &t);
    EXPECT_I64(engine_next_ms(r.e), r.now_ms + 15 * MINUTE);
    r.now_ms += 14 * MINUTE;
    decide(&r, &t);
    EXPECT_I64(t.waiting_count, 0);
    EXPECT_I64(engine_next_ms(r.e), r.now_ms + MINUTE);
    r.now_ms += MINUTE;
    decide(&r, &t); /* nothing changed, so nothing is applied; and the next one is a quarter on */
    EXPECT_I64(engine_next_ms(r.e), r.now_ms + 15 * MINUTE);
    rig_done(&r);
}

TEST_MAIN()
