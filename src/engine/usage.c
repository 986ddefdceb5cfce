// SPDX-License-Identifier: Apache-2.0
// usage: the books of past use. For each pool and project, and for what the pool had to give, the
// amounts held are integrated over time, exactly: a book is brought up to date before anything
// changes what it integrates, and between changes that is constant. Books are kept always, whatever
// the plan says of windows; those are a way of looking at them, so no change of a plan touches
// history. Departments have no books: theirs are their projects'.
//
// A window could be evaluated exactly only with every change since it began. Instead use is summed
// in buckets: quarters of an hour for two days, hours for eight, days for 92, all in UTC. So a book
// that is never idle has at most some 520 rows (30 KB); a window begins with the bucket its first
// moment is in, which lengthens a window of a week by at most an hour and one of three months by at
// most a day, for use and capacity alike, so that the part used stays that of a stretch of real
// history; and windows that begin at full hours (midnights, beyond eight days) are exact. When a
// book is folded is of no consequence: a row is looked at as part of the bucket it will be in.
//
// The scheduler looks at whole quarters. What is before the last one cannot change any more, so
// that the same figures come out of a state however it was reached, they are computed once in a
// quarter, and fair shares do not wander with every second.
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/num.h"
#include "engine/machine.h"
#include "model/cron.h"
#include "model/limits.h"

__extension__ typedef __int128 wide;

#define MINUTE_MS INT64_C(60000)
#define DAY_MS    (INT64_C(24) * 60 * MINUTE_MS)

static const struct {
    int64_t size_ms, age_ms; /* for what began less than age_ms before the present day */
} tiers[] = {
    {USAGE_QUARTER_MS,        2 * DAY_MS         },
    {INT64_C(60) * MINUTE_MS, 8 * DAY_MS         },
    {DAY_MS,                  USAGE_WINDOW_MAX_MS},
};

struct bucket {
    int64_t start_ms, end_ms;
};

// The bucket that at_ms is in, as seen at now_ms.
static struct bucket bucket_of(int64_t at_ms, int64_t now_ms)
{
    int64_t today_ms = num_div_floor(now_ms, DAY_MS) * DAY_MS;
    uint32_t t = 0;
    while (t + 1 < COUNT_OF(tiers) && at_ms < today_ms - tiers[t].age_ms) {
        t++;
    }
    int64_t start_ms = num_div_floor(at_ms, tiers[t].size_ms) * tiers[t].size_ms;
    return (struct bucket){start_ms, start_ms + tiers[t].size_ms};
}

// Before this nothing is known.
static int64_t horizon(int64_t now_ms)
{
    return num_div_floor(now_ms, DAY_MS) * DAY_MS - USAGE_WINDOW_MAX_MS;
}

/* ---- what is integrated ---- */

enum { MIB_SHIFT = 20 };

static struct use rate_of(const struct held *h)
{
    return (struct use){
        .all = {{h->gpu_share, h->cpu_milli, h->memory_bytes >> MIB_SHIFT}},
        .low = {{h->gpu_share_low, h->cpu_milli_low, h->memory_bytes_low >> MIB_SHIFT}},
    };
}

// At which rate the use of a book grows now.
static struct use book_rate(const struct engine *e, uint32_t pool, uint32_t project)
{
    return rate_of(project == IX_NONE
                       ? &e->t.pool_has[pool]
                       : &e->t.project_held[pool * e->s.plan.projects_count + project]);
}

static void add_rate(struct use *into, const struct use *rate, int64_t ms)
{
    for (int r = 0; r < RES_COUNT; r++) {
        into->all.v[r] = num_sat_add_i64(into->all.v[r], num_sat_mul_i64(rate->all.v[r], ms));
        into->low.v[r] = num_sat_add_i64(into->low.v[r], num_sat_mul_i64(rate->low.v[r], ms));
    }
}

/* ---- keeping books ---- */

static void fold(struct book *b, int64_t now_ms)
{
    uint32_t kept = 0;
    int64_t first_ms = horizon(now_ms);
    for (uint32_t i = 0; i < b->uses_count; i++) {
        struct use u = b->uses[i];
        u.start_ms = bucket_of(u.start_ms, now_ms).start_ms;
        if (u.start_ms < first_ms) {
            continue;
        }
        if (kept > 0 && b->uses[kept - 1].start_ms == u.start_ms) {
            for (int r = 0; r < RES_COUNT; r++) {
                struct use *into = &b->uses[kept - 1];
                into->all.v[r] = num_sat_add_i64(into->all.v[r], u.all.v[r]);
                into->low.v[r] = num_sat_add_i64(into->low.v[r], u.low.v[r]);
            }
        } else {
            b->uses[kept++] = u;
        }
    }
    b->uses_count = kept;
}

static void book_up_to(struct engine *e, uint32_t at, const struct use *rate, int64_t now_ms)
{
    struct book *b = &e->s.books[at];
    if (num_div_floor(b->until_ms, DAY_MS) != num_div_floor(now_ms, DAY_MS)) {
        fold(b, now_ms);
    }
    bool idle = amounts_are_zero(&rate->all);
    int64_t from_ms = num_max_i64(b->until_ms, horizon(now_ms));
    while (!idle && from_ms < now_ms) {
        struct bucket k = bucket_of(from_ms, now_ms);
        int64_t end_ms = num_min_i64(k.end_ms, now_ms);
        if (b->uses_count == 0 || b->uses[b->uses_count - 1].start_ms != k.start_ms) {
            b->uses = array_grow(engine_memory(e), b->uses, sizeof(*b->uses), b->uses_count,
                                 &e->t.uses_caps[at]);
            b->uses[b->uses_count++].start_ms = k.start_ms;
        }
        add_rate(&b->uses[b->uses_count - 1], rate, end_ms - from_ms);
        from_ms = end_ms;
    }
    b->until_ms = now_ms;
}

static uint32_t *book_slot(struct engine *e, uint32_t pool, uint32_t project)
{
    return project == IX_NONE ? &e->t.pool_books[pool]
                              : &e->t.project_books[pool * e->s.plan.projects_count + project];
}

static uint32_t new_book(struct engine *e, uint32_t pool, uint32_t project)
{
    struct state *s = &e->s;
    s->books = array_grow(engine_memory(e), s->books, sizeof(*s->books), s->books_count,
                          &e->books_cap);
    uint32_t at = s->books_count++;
    if (at >= e->t.uses_caps_cap) {
        CHECK(at == e->t.uses_caps_cap);
        e->t.uses_caps = array_grow(&e->t.arena, e->t.uses_caps, sizeof(*e->t.uses_caps), at,
                                    &e->t.uses_caps_cap);
    }
    e->t.uses_caps[at] = 0;
    s->books[at] = (struct book){
        .pool = arena_str(engine_memory(e), s->plan.pools[pool].name),
        .project = project == IX_NONE ? 0 : s->plan.projects[project].id,
        .until_ms = s->now_ms,
    };
    *book_slot(e, pool, project) = at;
    return at;
}

void usage_book(struct engine *e, uint32_t pool, uint32_t project)
{
    uint32_t at = *book_slot(e, pool, project);
    if (at == IX_NONE) {
        new_book(e, pool, project);
        return;
    }
    struct use rate = book_rate(e, pool, project);
    book_up_to(e, at, &rate, e->s.now_ms);
}

void usage_book_all(struct engine *e)
{
    const struct plan *p = &e->s.plan;
    for (uint32_t pool = 0; pool < p->pools_count; pool++) {
        for (uint32_t i = 0; i < p->projects_count; i++) {
            if (*book_slot(e, pool, i) != IX_NONE) {
                usage_book(e, pool, i);
            }
        }
        if (*book_slot(e, pool, IX_NONE) != IX_NONE) {
            usage_book(e, pool, IX_NONE);
        }
    }
}

static struct held node_has(const struct engine *e, const struct node *n)
{
    struct held h = {0};
    if (node_is_open(e, n)) {
        h = (struct held){.cpu_milli = n->cpu_milli, .memory_bytes = n->memory_bytes};
        for (uint32_t d = 0; d < n->devices_count; d++) {
            h.gpu_share += device_is_open(e, n, d) ? DEVICE_SHARE : 0;
        }
    }
    return h;
}

void usage_node(struct engine *e, uint32_t node, bool gone)
{
    uint32_t pool = e->t.node_rows[node].pool;
    struct held h = node_has(e, &e->s.nodes[node]);
    usage_book(e, pool, IX_NONE);
    held_add(&e->t.pool_has[pool], &h, gone);
}

/* ---- indexes ---- */

void usage_build(struct engine *e)
{
    struct tables *t = &e->t;
    const struct plan *p = &e->s.plan;
    size_t places = (size_t)p->pools_count * p->projects_count;
    struct map by_id;
    plan_projects_by_id(p, &by_id, &t->arena);
    t->pool_has = ARENA_ARRAY(&t->arena, struct held, p->pools_count);
    t->pool_books = ARENA_ARRAY(&t->arena, uint32_t, p->pools_count);
    t->project_books = ARENA_ARRAY(&t->arena, uint32_t, places);
    t->uses_caps = ARENA_ARRAY(&t->arena, uint32_t, e->s.books_count);
    t->uses_caps_cap = e->s.books_count;
    for (uint32_t i = 0; i < p->pools_count; i++) {
        t->pool_books[i] = IX_NONE;
    }
    for (size_t i = 0; i < places; i++) {
        t->project_books[i] = IX_NONE;
    }
    for (uint32_t i = 0; i < e->s.nodes_count; i++) {
        struct held h = node_has(e, &e->s.nodes[i]);
        held_add(&t->pool_has[t->node_rows[i].pool], &h, false);
    }
    for (uint32_t i = 0; i < e->s.books_count; i++) {
        const struct book *b = &e->s.books[i];
        uint32_t project = IX_NONE;
        bool found = b->project == 0 || map_get(&by_id, id_key(&b->project), &project);
        CHECK(found);
        t->uses_caps[i] = b->uses_count;
        *book_slot(e, tables_pool(p, b->pool), project) = i;
    }
    t->fair_shares = (int64_t **)arena_alloc(&t->arena, sizeof(int64_t *) * p->pools_count);
    for (int look = 0; look < USAGE_LOOKS; look++) {
        t->usage[look] = ARENA_ARRAY(&t->arena, struct pool_usage, p->pools_count);
    }
}

void usage_forget(struct engine *e)
{
    struct state *s = &e->s;
    struct map by_id;
    uint32_t kept = 0;
    uint32_t project;
    plan_projects_by_id(&s->plan, &by_id, &e->scratch);
    for (uint32_t i = 0; i < s->books_count; i++) {
        const struct book *b = &s->books[i];
        if (tables_pool(&s->plan, b->pool) != IX_NONE &&
            (b->project == 0 || map_get(&by_id, id_key(&b->project), &project))) {
            s->books[kept++] = *b;
        }
    }
    s->books_count = kept;
}

/* ---- looking at them ---- */

// 2^(-i/32) in 2^24ths; between two of these the curve is straight to five digits.
enum { CURVE_STEPS = 32, CURVE_SHIFT = 24 };
static const int64_t curve[CURVE_STEPS + 1] = {
    16777216, 16417715, 16065917, 15721658, 15384775, 15055111, 14732511, 14416824, 14107901,
    13805598, 13509772, 13220286, 12937002, 12659789, 12388516, 12123055, 11863283, 11609078,
    11360319, 11116891, 10878679, 10645571, 10417458, 10194234, 9975792,  9762032,  9552851,
    9348154,  9147842,  8951823,  8760003,  8572295,  8388608,
};

int64_t usage_weight(int64_t age_ms, int64_t half_life_ms)
{
    if (half_life_ms == 0 || age_ms <= 0) {
        return curve[0];
    }
    int64_t halvings = age_ms / half_life_ms;
    if (halvings > CURVE_SHIFT) {
        return 0;
    }
    int64_t rest_ms = age_ms % half_life_ms;
    int64_t step = rest_ms * CURVE_STEPS / half_life_ms;
    int64_t beyond_ms = rest_ms - num_div_ceil(step * half_life_ms, CURVE_STEPS);
    int64_t drop = (curve[step] - curve[step + 1]) * num_max_i64(beyond_ms, 0) * CURVE_STEPS /
                   half_life_ms;
    return (curve[step] - drop) >> halvings;
}

struct look {
    int64_t from_ms, to_ms, half_life_ms, low_less_one;
};

// Sums of one book: plain, and weighed by age and by what low work counts.
struct tally {
    wide plain[RES_COUNT], weighed[RES_COUNT];
};

static void tally_add(struct tally *t, const struct look *l, const struct use *u, struct bucket k)
{
    // Use is taken to be in the middle of its bucket.
    int64_t middle_ms = k.start_ms + (k.end_ms - k.start_ms) / 2;
    int64_t weight = usage_weight(l->to_ms - middle_ms, l->half_life_ms);
    for (int r = 0; r < RES_COUNT; r++) {
        t->plain[r] += u->all.v[r];
        t->weighed[r] += ((wide)u->all.v[r] * 1000 + (wide)u->low.v[r] * l->low_less_one) * weight;
    }
}

static struct tally tally_book(const struct engine *e, uint32_t at, const struct use *rate,
                               const struct look *l)
{
    struct tally t = {{0}, {0}};
    if (at == IX_NONE) {
        return t;
    }
    const struct book *b = &e->s.books[at];
    for (uint32_t i = 0; i < b->uses_count; i++) {
        const struct use *u = &b->uses[i];
        if (u->start_ms >= l->from_ms && u->start_ms < l->to_ms) {
            tally_add(&t, l, u, bucket_of(u->start_ms, l->to_ms));
        }
    }
    bool idle = amounts_are_zero(&rate->all);
    int64_t from_ms = num_max_i64(b->until_ms, l->from_ms);
    while (!idle && from_ms < l->to_ms) {
        struct bucket k = bucket_of(from_ms, l->to_ms);
        int64_t end_ms = num_min_i64(k.end_ms, l->to_ms);
        struct use u = {0};
        add_rate(&u, rate, end_ms - from_ms);
        tally_add(&t, l, &u, k);
        from_ms = end_ms;
    }
    return t;
}

static void tally_sum(struct tally *into, const struct tally *t)
{
    for (int r = 0; r < RES_COUNT; r++) {
        into->plain[r] += t->plain[r];
        into->weighed[r] += t->weighed[r];
    }
}

static int64_t window_begin(const struct pool *pool, int64_t to_ms)
{
    int64_t length_ms = pool_usage_window_ms(pool);
    int64_t from_ms = to_ms - length_ms;
    struct cron cron;
    if (pool->usage_window == USAGE_TUMBLING) {
        int64_t nth = num_div_floor(to_ms - pool->usage_start_ms, length_ms);
        from_ms = pool->usage_start_ms + nth * length_ms;
    } else if (pool->usage_window == USAGE_CRON && cron_parse(pool->usage_cron, &cron)) {
        from_ms = cron_previous(&cron, to_ms, horizon(to_ms));
    }
    return bucket_of(num_max_i64(from_ms, horizon(to_ms)), to_ms).start_ms;
}

static int64_t clamp(wide v)
{
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static void queue_usage(struct usage *out, const struct look *l, const struct tally *used,
                        const struct tally *had)
{
    *out = (struct usage){.from_ms = l->from_ms};
    for (int r = 0; r < RES_COUNT; r++) {
        out->used.v[r] = clamp(used->plain[r]);
        out->had.v[r] = clamp(had->plain[r]);
        wide part = had->weighed[r] > 0 ? used->weighed[r] * USAGE_DENOMINATOR_MAX / had->weighed[r]
                                        : 0;
        out->part.v[r] = part > AMOUNT_MAX ? AMOUNT_MAX : (int64_t)part;
    }
}

static void look_at(struct engine *e, uint32_t pool, int64_t to_ms, struct pool_usage *out)
{
    const struct plan *p = &e->s.plan;
    const struct pool *rule = &p->pools[pool];
    struct look l = {.from_ms = window_begin(rule, to_ms),
                     .to_ms = to_ms,
                     .half_life_ms = rule->usage_half_life_ms,
                     .low_less_one = rule->usage_low_less_one};
    struct arena *a = &e->scratch;
    struct arena_mark mark = arena_mark(a);
    struct tally *above = ARENA_ARRAY(a, struct tally, p->departments_count);
    struct use rate = book_rate(e, pool, IX_NONE);
    struct tally had = tally_book(e, *book_slot(e, pool, IX_NONE), &rate, &l);
    if (!out->projects) {
        out->projects = ARENA_ARRAY(&e->t.arena, struct usage, p->projects_count);
        out->departments = ARENA_ARRAY(&e->t.arena, struct usage, p->departments_count);
    }
    for (uint32_t i = 0; i < p->projects_count; i++) {
        rate = book_rate(e, pool, i);
        struct tally used = tally_book(e, *book_slot(e, pool, i), &rate, &l);
        queue_usage(&out->projects[i], &l, &used, &had);
        for (uint32_t d = e->t.project_department[i]; d != IX_NONE; d = e->t.department_parent[d]) {
            tally_sum(&above[d], &used);
        }
    }
    for (uint32_t i = 0; i < p->departments_count; i++) {
        queue_usage(&out->departments[i], &l, &above[i], &had);
    }
    out->to_ms = to_ms;
    out->known = true;
    arena_rewind(a, mark);
}

const struct pool_usage *usage_look(const struct engine *e, uint32_t pool, enum usage_look look,
                                    int64_t now_ms)
{
    struct pool_usage *u = &e->t.usage[look][pool];
    int64_t to_ms = look == USAGE_LOOK_DECIDE
                        ? num_div_floor(now_ms, USAGE_QUARTER_MS) * USAGE_QUARTER_MS
                        : now_ms;
    if (!u->known || u->to_ms != to_ms) {
        look_at(e->self, pool, to_ms, u);
    }
    return u;
}

struct usage engine_usage(const struct engine *e, struct str pool, struct str queue,
                          bool department, int64_t now_ms)
{
    const struct plan *p = &e->s.plan;
    uint32_t at = tables_pool(p, pool);
    uint32_t ix = department ? tables_department(p, queue) : tables_project(p, queue);
    CHECK(now_ms >= e->s.now_ms);
    if (at == IX_NONE || ix == IX_NONE) {
        return (struct usage){0};
    }
    const struct pool_usage *u = usage_look(e, at, USAGE_LOOK_SHOW, now_ms);
    return department ? u->departments[ix] : u->projects[ix];
}

/* ---- any stretch of time ---- */

// What one book says of [from_ms, to_ms): buckets that are in it in part count by that part.
static void add_stretch(const struct engine *e, uint32_t at, const struct use *rate,
                        int64_t from_ms, int64_t to_ms, struct amounts *sum)
{
    if (at == IX_NONE) {
        return;
    }
    const struct book *b = &e->s.books[at];
    for (uint32_t i = 0; i < b->uses_count; i++) {
        struct bucket k = bucket_of(b->uses[i].start_ms, b->until_ms);
        k.end_ms = num_min_i64(k.end_ms, b->until_ms);
        int64_t part_ms = num_min_i64(k.end_ms, to_ms) - num_max_i64(k.start_ms, from_ms);
        for (int r = 0; part_ms > 0 && r < RES_COUNT; r++) {
            sum->v[r] = num_sat_add_i64(
                sum->v[r], num_muldiv_floor(b->uses[i].all.v[r], part_ms, k.end_ms - k.start_ms));
        }
    }
    int64_t open_ms = to_ms - num_max_i64(b->until_ms, from_ms);
    for (int r = 0; open_ms > 0 && r < RES_COUNT; r++) {
        sum->v[r] = num_sat_add_i64(sum->v[r], num_sat_mul_i64(rate->all.v[r], open_ms));
    }
}

// Whether a project is in that department, or in one below it.
static bool is_below(const struct engine *e, uint32_t project, uint32_t department)
{
    uint32_t up = e->t.project_department[project];
    while (up != IX_NONE && up != department) {
        up = e->t.department_parent[up];
    }
    return up == department;
}

struct amounts engine_used(const struct engine *e, struct str pool, struct str queue,
                           bool department, int64_t from_ms, int64_t to_ms)
{
    const struct plan *p = &e->s.plan;
    struct amounts sum = {{0}};
    uint32_t ix = department ? tables_department(p, queue) : tables_project(p, queue);
    for (uint32_t at = 0; at < p->pools_count; at++) {
        if (pool.len > 0 && !str_eq(pool, p->pools[at].name)) {
            continue;
        }
        if (queue.len == 0) {
            struct use rate = book_rate(e, at, IX_NONE);
            add_stretch(e, e->t.pool_books[at], &rate, from_ms, to_ms, &sum);
        }
        for (uint32_t i = 0; queue.len > 0 && ix != IX_NONE && i < p->projects_count; i++) {
            if (department ? is_below(e, i, ix) : i == ix) {
                struct use rate = book_rate(e, at, i);
                add_stretch(e, e->t.project_books[at * p->projects_count + i], &rate, from_ms,
                            to_ms, &sum);
            }
        }
    }
    return sum;
}
