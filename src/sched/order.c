// SPDX-License-Identifier: Apache-2.0
// order: two comparisons. Workloads of one queue: priority; then a gang that has started but lacks
// members, one that has not started, one exactly at its minimum, one above (R5); then age.
// Queues under one parent, each with its best workload: the eight steps of queue_before.
//
// best[q] is the leaf whose workload is first below q. It changes only along the path of a leaf
// that was popped, pushed to or charged; that path is recomputed at once, a tournament of siblings
// at each level. What waits in a leaf is sorted once; an order of victims is used again for every
// claimant of an action, which only decides anew who is a victim for it.
//
// Below a queue at the top the turn of victims is the same for all claimants but those of that queue
// itself. So it is recorded, as far as one has asked, with the share that the queue had at each; the
// next claimant plays the tournament at the top alone. What has changed below is recorded anew. One
// record of all queues together was tried: it is passed over faster, but what is merged into it
// after each claimant cost as much, and on small clusters more.
#include "sched/order.h"

#include "base/check.h"
#include "base/num.h"
#include "base/sort.h"
#include "sched/gang.h"
#include "sched/quota.h"
#include "sched/waiting.h"

static bool comes_before(struct sched *s, uint32_t a, uint32_t b, const uint32_t *taken)
{
    const struct snap_workload *x = workload_of(s, a);
    const struct snap_workload *y = workload_of(s, b);
    if (x->priority != y->priority) {
        return x->priority > y->priority;
    }
    enum gang_stage stage_x = gang_stage(s, a, taken);
    enum gang_stage stage_y = gang_stage(s, b, taken);
    if (stage_x != stage_y) {
        return stage_x < stage_y;
    }
    return a < b;
}

// Since when the work of a victim would be lost.
static int64_t loses_from(const struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    int64_t start_ms = w->last_start_ms == TIME_NEVER ? w->created_ms : w->last_start_ms;
    return w->checkpoint_ms > start_ms ? w->checkpoint_ms : start_ms;
}

// A victim comes first that would come last if it waited; of equal ones the one that loses least
// for each of its devices, where losses are known, else the newest.
static bool victim_before(const struct order *o, uint32_t a, uint32_t b)
{
    struct sched *s = o->s;
    int64_t from_a = loses_from(s, a);
    int64_t from_b = loses_from(s, b);
    bool equal = s->queues[queue_of(s, a)].by_loss && from_a != from_b &&
                 workload_of(s, a)->priority == workload_of(s, b)->priority &&
                 gang_stage(s, a, o->group_taken) == gang_stage(s, b, o->group_taken);
    return equal ? from_a > from_b : comes_before(s, b, a, o->group_taken);
}

static bool is_before(uint32_t a, uint32_t b, void *ctx)
{
    const struct order *o = ctx;
    return o->victims ? victim_before(o, a, b) : comes_before(o->s, a, b, NULL);
}

bool workload_before(struct sched *s, uint32_t a, uint32_t b)
{
    return comes_before(s, a, b, NULL);
}
// Steps over workloads that are no victims for this claimant.
static void skip(struct order *o, struct order_leaf *leaf)
{
    while (o->allows && leaf->next < leaf->count &&
           !(leaf->asks ? o->allows(o->s, leaf->sorted[leaf->next], o->ctx)
                        : leaf->cards[leaf->next].allowed)) {
        leaf->next++;
    }
}

static bool leaf_has(const struct order_leaf *leaf)
{
    return leaf->next < leaf->count || leaf->back.count > 0;
}

// Whether the next one comes from those pushed back.
static bool from_back(struct order *o, const struct order_leaf *leaf)
{
    return leaf->next == leaf->count ||
           (leaf->back.count > 0 && is_before(heap_top(&leaf->back), leaf->sorted[leaf->next], o));
}

static uint32_t top_of(struct order *o, uint32_t queue)
{
    const struct order_leaf *leaf = &o->leaves[queue];
    return from_back(o, leaf) ? heap_top(&leaf->back) : leaf->sorted[leaf->next];
}

static struct amounts weight_of_top(struct order *o, uint32_t queue)
{
    const struct order_leaf *leaf = &o->leaves[queue];
    return o->victims && !from_back(o, leaf) ? leaf->cards[leaf->next].weight
                                             : o->weigh(o->s, top_of(o, queue));
}

/* ---- between queues ---- */

// What decides between two siblings, worked out for one of them with its best workload.
struct standing {
    bool known; /* all but `with`, which victims that were popped change */
    bool uses_none;
    uint8_t stage; /* the over-utilised behind, the starved in front */
    int64_t priority;
    struct order_share with; /* with what is asked, or without the victims */
    struct dominant now;     /* as it is */
};

static bool over_utilised(const struct queue_state *q)
{
    for (int r = 0; r < RES_COUNT; r++) {
        if (q->fair.v[r] >= q->held.v[r]) {
            return false;
        }
    }
    return true;
}

static bool uses_what_it_has_none_of(const struct queue_state *q, const struct amounts *asks)
{
    for (int r = 0; r < RES_COUNT; r++) {
        if (q->allocatable.v[r] == 0 && q->held.v[r] + asks->v[r] > 0) {
            return true;
        }
    }
    return false;
}

static void find_standing(struct order *o, uint32_t queue)
{
    struct sched *s = o->s;
    uint32_t leaf = o->best[queue];
    struct amounts asks = weight_of_top(o, leaf);
    struct amounts without = {{0}};
    if (o->victims) {
        without = o->taken[leaf];
        amounts_add(&without, &asks);
        asks = (struct amounts){{0}};
    }
    struct standing *x = &o->standings[queue];
    x->with.part = quota_dominant(s, queue, &asks, &without);
    x->with.rank = num_frac_rank(x->with.part.num, x->with.part.den);
    if (!x->known) {
        x->known = o->victims;
        x->stage = (uint8_t)(over_utilised(&s->queues[queue]) * 2 +
                             !quota_within_guarantee(s, queue, &asks));
        x->uses_none = uses_what_it_has_none_of(&s->queues[queue], &asks);
        x->priority = s->snap->queues.items[queue].priority;
        x->now = quota_dominant(s, queue, NULL, NULL);
    }
}

static int cmp_dominant(struct dominant a, struct dominant b)
{
    return a.num == b.num && a.den == b.den ? 0 : num_cmp_frac(a.num, a.den, b.num, b.den);
}

static int cmp_allocatable(const struct amounts *a, const struct amounts *b)
{
    bool a_le = true;
    bool b_le = true;
    for (int r = 0; r < RES_COUNT; r++) {
        a_le = a_le && amount_le(a->v[r], b->v[r]);
        b_le = b_le && amount_le(b->v[r], a->v[r]);
    }
    return a_le == b_le ? 0 : (a_le ? -1 : 1);
}

// The queue that comes first has the lesser result (kai.md 3.5).
static int cmp_queues(const struct order *o, uint32_t a, uint32_t b)
{
    const struct standing *x = &o->standings[a];
    const struct standing *y = &o->standings[b];
    if (x->stage != y->stage) {
        return x->stage < y->stage ? -1 : 1;
    }
    if (x->priority != y->priority) {
        return x->priority > y->priority ? -1 : 1;
    }
    if (x->uses_none != y->uses_none) {
        return x->uses_none ? 1 : -1;
    }
    if (x->with.rank != y->with.rank) {
        return x->with.rank < y->with.rank ? -1 : 1;
    }
    int d = cmp_dominant(x->with.part, y->with.part);
    d = d != 0 ? d : cmp_dominant(x->now, y->now);
    d = d != 0 ? d : cmp_allocatable(&o->s->queues[a].allocatable, &o->s->queues[b].allocatable);
    return d != 0 ? d : (a < b ? -1 : 1);
}

/* ---- the best child of every queue ---- */

// Whether what is next below the queue, one at the top, is known from a claimant before.
static bool is_recorded(const struct order *o, uint32_t queue)
{
    return o->records && o->records[queue].at < o->records[queue].count;
}

static bool is_out(const struct order *o, uint32_t queue)
{
    return queue == IX_NONE || o->shut[queue] ||
           (o->best[queue] == IX_NONE && !is_recorded(o, queue));
}

// The better of two siblings that may have nothing (IX_NONE, or no open leaf below them).
static uint32_t better(const struct order *o, uint32_t a, uint32_t b)
{
    if (is_out(o, a)) {
        return b;
    }
    if (is_out(o, b)) {
        return a;
    }
    return (cmp_queues(o, a, b) < 0) == !o->victims ? a : b;
}

// The siblings of a parent (queues.count: those at the top) are one run. Their tournament is a heap
// shaped array of twice their number: cell 1 has the winner, cells [count, 2 count) the siblings.
struct siblings {
    uint32_t first, count;
    uint32_t *cells;
};

static struct siblings siblings_below(const struct order *o, uint32_t parent)
{
    const struct sched *s = o->s;
    struct siblings x = {s->top_first, s->top_count, NULL};
    if (parent < s->snap->queues.count) {
        x.first = s->snap->queues.items[parent].child_first;
        x.count = s->snap->queues.items[parent].child_count;
    }
    x.cells = o->cells + 2 * (size_t)x.first;
    return x;
}

static void set_winner(struct order *o, uint32_t parent, const struct siblings *x)
{
    uint32_t winner = x->cells[1];
    o->best[parent] = is_out(o, winner) ? IX_NONE : o->best[winner];
}

static void stand(struct order *o, uint32_t queue)
{
    if (is_recorded(o, queue)) {
        o->standings[queue].with = o->records[queue].items[o->records[queue].at].with;
    } else if (o->best[queue] != IX_NONE) {
        find_standing(o, queue);
    }
    if (o->records) {
        const struct standing *x = &o->standings[queue];
        struct order_record *r = &o->records[queue];
        r->class = is_out(o, queue) ? 0
                                    : (uint64_t)x->stage << 40 | (uint64_t)r->calm << 2 |
                                          (uint64_t)x->uses_none << 1 | 1;
        r->rank = x->with.rank;
    }
}

// Plays again what a queue at the top takes part in, where there are records.
static void play_recorded(struct order *o, struct siblings *x, uint32_t queue)
{
    const struct order_record *records = o->records;
    uint32_t winner = queue;
    uint32_t i = x->count + queue - x->first;
    for (x->cells[i] = winner; i > 1; i /= 2) {
        uint32_t other = x->cells[i ^ 1];
        const struct order_record *a = &records[winner];
        const struct order_record *b = &records[other];
        bool loses = a->class != b->class ? a->class < b->class
                     : a->rank != b->rank ? a->rank < b->rank
                                          : a->class > 0 && cmp_queues(o, winner, other) < 0;
        winner = loses ? other : winner;
        x->cells[i / 2] = winner;
    }
}

// Plays the whole tournament below the parent with the standings that are known.
static void play_again(struct order *o, uint32_t parent)
{
    struct siblings x = siblings_below(o, parent);
    for (uint32_t i = x.count - 1; i > 0; i--) {
        x.cells[i] = better(o, x.cells[2 * i], x.cells[2 * i + 1]);
    }
    set_winner(o, parent, &x);
}

// The same with all standings worked out.
static void play_all(struct order *o, uint32_t parent)
{
    struct siblings x = siblings_below(o, parent);
    if (x.count == 0) {
        return;
    }
    for (uint32_t i = 0; i < x.count; i++) {
        uint32_t q = x.first + i;
        x.cells[x.count + i] = q;
        stand(o, q);
    }
    play_again(o, parent);
}

// Plays again what queue takes part in.
static void play(struct order *o, uint32_t parent, uint32_t queue)
{
    struct siblings x = siblings_below(o, parent);
    stand(o, queue);
    if (o->records && parent == o->s->snap->queues.count) {
        play_recorded(o, &x, queue);
        set_winner(o, parent, &x);
        return;
    }
    uint32_t winner = queue;
    uint32_t i = x.count + queue - x.first;
    for (x.cells[i] = winner; i > 1; i /= 2) {
        winner = better(o, winner, x.cells[i ^ 1]);
        x.cells[i / 2] = winner;
    }
    set_winner(o, parent, &x);
}

void order_init(struct order *o, struct sched *s, struct arena *arena, bool victims)
{
    uint32_t queues = s->snap->queues.count;
    *o = (struct order){
        .s = s,
        .arena = arena,
        .victims = victims,
        .leaves = ARENA_ARRAY(arena, struct order_leaf, queues),
        .best = ARENA_ARRAY(arena, uint32_t, queues + 1),
        .cells = ARENA_ARRAY(arena, uint32_t, 2 * (size_t)queues + 2),
        .standings = ARENA_ARRAY(arena, struct standing, queues),
        .taken = ARENA_ARRAY(arena, struct amounts, queues),
        .shut = ARENA_ARRAY(arena, bool, queues),
        .asked = victims ? ARENA_ARRAY(arena, uint32_t, queues) : NULL,
        .weigh = gang_request,
        .touched = IX_NONE,
        .claimant_queue = IX_NONE,
        .spared = IX_NONE,
    };
    for (uint32_t q = 0; q < queues; q++) {
        heap_init(&o->leaves[q].back, arena, is_before, o);
        o->best[q] = IX_NONE;
    }
    o->best[queues] = IX_NONE;
    for (uint32_t i = 0; i < 2 * queues; i++) {
        o->cells[i] = IX_NONE;
    }
}

void order_add(struct order *o, uint32_t workload)
{
    struct order_leaf *leaf = &o->leaves[queue_of(o->s, workload)];
    if (leaf->count == 0) {
        *ARRAY_PUSH(o->arena, &o->used) = queue_of(o->s, workload);
    }
    if (leaf->count == leaf->cap) {
        leaf->sorted = array_grow(o->arena, leaf->sorted, sizeof(*leaf->sorted), leaf->count,
                                  &leaf->cap);
    }
    leaf->sorted[leaf->count++] = workload;
}

static int by_turn(const void *a, const void *b, void *ctx)
{
    return is_before(*(const uint32_t *)a, *(const uint32_t *)b, ctx) ? -1 : 1;
}

static void clear_path(struct order *o, uint32_t queue)
{
    for (uint32_t q = queue; q != IX_NONE; q = o->s->queues[q].parent) {
        o->best[q] = IX_NONE;
    }
    o->best[o->s->snap->queues.count] = IX_NONE;
}

// All but what the queue at the top plays; gives that one.
static uint32_t refresh_below_top(struct order *o, uint32_t queue)
{
    o->best[queue] = leaf_has(&o->leaves[queue]) ? queue : IX_NONE;
    uint32_t q = queue;
    for (uint32_t parent = o->s->queues[q].parent; parent != IX_NONE;) {
        play(o, parent, q);
        q = parent;
        parent = o->s->queues[q].parent;
    }
    return q;
}

static void refresh_path(struct order *o, uint32_t queue)
{
    uint32_t top = refresh_below_top(o, queue);
    play(o, o->s->snap->queues.count, top);
}

void order_clear(struct order *o)
{
    for (uint32_t i = 0; i < o->used.count; i++) {
        struct order_leaf *leaf = &o->leaves[o->used.items[i]];
        leaf->count = leaf->next = leaf->gone = leaf->back.count = 0;
        clear_path(o, o->used.items[i]);
    }
    o->used.count = 0;
    o->touched = IX_NONE;
}

// Puts the leaf back to its beginning.
static void rewind_leaf(struct order *o, uint32_t queue)
{
    struct order_leaf *leaf = &o->leaves[queue];
    while (o->is_gone && leaf->gone < leaf->count &&
           o->is_gone(o->s, leaf->sorted[leaf->gone], o->ctx)) {
        leaf->gone++;
    }
    leaf->next = leaf->gone;
    leaf->back.count = 0;
    leaf->asks = leaf->read = false;
    o->taken[queue] = (struct amounts){{0}};
}

// Looks at all victims of the leaf, as far as they are the same for all claimants.
static void deal_cards(struct order *o, uint32_t queue)
{
    struct order_leaf *leaf = &o->leaves[queue];
    if (!leaf->cards) {
        leaf->cards = ARENA_ARRAY(o->arena, struct order_card, leaf->count);
    }
    for (uint32_t i = leaf->gone; i < leaf->count; i++) {
        leaf->cards[i] = (struct order_card){.task = IX_NONE};
        o->look(o->s, leaf->sorted[i], o->ctx, &leaf->cards[i]);
    }
    leaf->stale = false;
}

// Whether the claimant decides about the workloads of the leaf, and not the cards.
static bool decides(const struct order *o, uint32_t queue)
{
    return queue == o->claimant_queue || o->leaves[queue].varying ||
           (o->spared != IX_NONE && queue == queue_of(o->s, o->spared));
}

// Begins these leaves again, and with them the queues above.
static void begin(struct order *o, const uint32_t *leaves, uint32_t count)
{
    // No queue above may name a leaf that is used up while its siblings are compared.
    for (uint32_t i = 0; i < count; i++) {
        clear_path(o, leaves[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t q = leaves[i];
        rewind_leaf(o, q);
        if (o->leaves[q].stale) {
            deal_cards(o, q);
        }
        if (!decides(o, q)) {
            skip(o, &o->leaves[q]);
        }
        o->best[q] = leaf_has(&o->leaves[q]) ? q : IX_NONE;
    }
    // Parents after their children: by falling index. Where there are few leaves, path by path, which
    // looks at about two queues for each level and not at all there are.
    uint32_t queues = o->s->snap->queues.count;
    if (count * 4 < queues) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t top = refresh_below_top(o, leaves[i]);
            if (!o->records) { /* else each of those that are listed plays once */
                play(o, queues, top);
            }
        }
        return;
    }
    for (uint32_t q = queues; q > 0;) {
        q--;
        if (o->s->snap->queues.items[q].child_count > 0) {
            play_all(o, q);
        }
    }
    play_all(o, queues);
}

/* ---- one claimant after the other ---- */

// Whether the sibling, one of those along the claimant's path, is open to it.
static void ask(struct order *o, uint32_t queue)
{
    if (o->allows_queue && !o->allows_queue(o->s, queue, o->ctx)) {
        o->shut[queue] = true;
        *ARRAY_PUSH(o->arena, &o->shut_list) = queue;
    }
}

// The same of one at the top, whose siblings do not depend on it: when first needed.
static bool is_shut_top(struct order *o, uint32_t queue)
{
    if (o->asked[queue] != o->turn) {
        o->asked[queue] = o->turn;
        ask(o, queue);
        if (o->shut[queue]) {
            play(o, o->s->snap->queues.count, queue);
        }
    }
    return o->shut[queue];
}

static bool is_shut(struct order *o, uint32_t queue)
{
    uint32_t q = queue;
    while (o->s->queues[q].parent != IX_NONE && !o->shut[q]) {
        q = o->s->queues[q].parent;
    }
    return o->s->queues[q].parent == IX_NONE ? is_shut_top(o, q) : true;
}

// Plays again what the queue and those above it take part in.
static void play_up(struct order *o, uint32_t queue)
{
    uint32_t top = o->s->snap->queues.count;
    for (uint32_t q = queue; q != IX_NONE; q = o->s->queues[q].parent) {
        uint32_t parent = o->s->queues[q].parent;
        play(o, parent == IX_NONE ? top : parent, q);
    }
}

// Asks about the siblings along the path of the claimant's queue, but for those at the top.
static void shut_siblings(struct order *o)
{
    uint32_t own = o->claimant_queue;
    uint32_t q = own;
    for (uint32_t parent = o->s->queues[q].parent; parent != IX_NONE;) {
        struct siblings x = siblings_below(o, parent);
        for (uint32_t c = x.first; c < x.first + x.count; c++) {
            if (c != q || c == own) {
                ask(o, c);
            }
        }
        if (q != own && o->best[q] != IX_NONE) {
            find_standing(o, q);
        }
        play_again(o, parent);
        q = parent;
        parent = o->s->queues[q].parent;
    }
    if (q != own) {
        o->asked[q] = o->turn; /* it is on the path */
        play(o, o->s->snap->queues.count, q);
    }
}

static void note_read(struct order *o, uint32_t queue)
{
    if (!o->leaves[queue].read) {
        o->leaves[queue].read = true;
        *ARRAY_PUSH(o->arena, &o->read) = queue;
    }
}

// Begins the leaf again, with what the claimant decides about each of its workloads.
static void settle_leaf(struct order *o, uint32_t queue)
{
    rewind_leaf(o, queue);
    if (o->leaves[queue].stale) {
        deal_cards(o, queue);
    }
    o->leaves[queue].asks = true;
    skip(o, &o->leaves[queue]);
    note_read(o, queue);
}

static void settle_open_leaf(struct order *o, uint32_t queue)
{
    if (o->leaves[queue].count == 0 || is_shut(o, queue)) {
        note_read(o, queue); /* it was begun without its cards */
        return;
    }
    settle_leaf(o, queue);
    refresh_path(o, queue);
}

// Puts back what the claimants before have changed.
static void put_back(struct order *o)
{
    for (uint32_t i = 0; i < o->shut_list.count; i++) {
        o->shut[o->shut_list.items[i]] = false;
    }
    begin(o, o->read.items, o->read.count);
    for (uint32_t i = 0; i < o->shut_list.count; i++) {
        play_up(o, o->shut_list.items[i]);
    }
    o->read.count = o->shut_list.count = 0;
}

/* ---- what claimants before have found out ---- */

static uint32_t top_of_queue(const struct order *o, uint32_t queue)
{
    while (o->s->queues[queue].parent != IX_NONE) {
        queue = o->s->queues[queue].parent;
    }
    return queue;
}

static void list_record(struct order *o, uint32_t top)
{
    if (!o->records[top].listed) {
        o->records[top].listed = true;
        *ARRAY_PUSH(o->arena, &o->listed) = top;
    }
}

// The leaves below are put back at the next restart.
static void note_all_read(struct order *o, uint32_t top)
{
    for (uint32_t q = o->records[top].first_leaf; q != IX_NONE; q = o->leaves[q].next_of_top) {
        note_read(o, q);
    }
}

static void drop_record(struct order *o, uint32_t queue)
{
    uint32_t top = top_of_queue(o, queue);
    o->records[top].count = o->records[top].at = 0;
    note_all_read(o, top);
    list_record(o, top);
}

// The claimant decides about some of what is below.
static void go_live(struct order *o, uint32_t queue)
{
    uint32_t top = top_of_queue(o, queue);
    o->records[top].live = true;
    list_record(o, top);
}

// Puts the victim that is next below the queue, which is at the top, at the end of its record.
// False: that is more than one pod, and what follows depends on what was taken before.
static bool record_next(struct order *o, uint32_t top)
{
    struct order_record *x = &o->records[top];
    uint32_t queue = o->best[top];
    struct order_leaf *leaf = &o->leaves[queue];
    const struct order_card *card = &leaf->cards[leaf->next];
    if (card->task == IX_NONE) {
        note_all_read(o, top);
        return false;
    }
    if (!x->items) {
        for (uint32_t q = x->first_leaf; q != IX_NONE; q = o->leaves[q].next_of_top) {
            x->cap += o->leaves[q].count;
        }
        x->items = arena_alloc(o->arena, sizeof(*x->items) * x->cap);
    }
    CHECK(x->count < x->cap);
    x->items[x->count++] = (struct recorded_victim){
        .card = card,
        .workload = leaf->sorted[leaf->next],
        .with = o->standings[top].with,
    };
    amounts_add(&o->taken[queue], &card->weight);
    leaf->next++;
    skip(o, leaf);
    (void)refresh_below_top(o, queue);
    return true;
}

// The next victim below the queue, if there is a record of it, or can be; else NULL.
static const struct recorded_victim *take_recorded(struct order *o, uint32_t top)
{
    struct order_record *x = &o->records[top];
    if (x->at == x->count && (x->live || !record_next(o, top))) {
        go_live(o, top);
        return NULL;
    }
    list_record(o, top);
    const struct recorded_victim *victim = &x->items[x->at++];
    play(o, o->s->snap->queues.count, top);
    return victim;
}

// Puts back what the claimants before have changed, where there are records.
static void put_back_recorded(struct order *o)
{
    for (uint32_t i = 0; i < o->listed.count; i++) {
        struct order_record *x = &o->records[o->listed.items[i]];
        x->at = 0;
        x->count = x->live ? 0 : x->count;
        x->live = false;
    }
    drop_record(o, o->claimant_queue);
    if (o->spared != IX_NONE) {
        drop_record(o, queue_of(o->s, o->spared));
    }
    put_back(o);
    for (uint32_t i = 0; i < o->listed.count; i++) {
        o->records[o->listed.items[i]].listed = false;
        play(o, o->s->snap->queues.count, o->listed.items[i]);
    }
    o->listed.count = 0;
    go_live(o, o->claimant_queue);
    if (o->spared != IX_NONE) {
        go_live(o, queue_of(o->s, o->spared));
    }
}

static int by_priority(const void *a, const void *b, void *ctx)
{
    const struct order *o = ctx;
    int64_t x = o->s->snap->queues.items[*(const uint32_t *)a].priority;
    int64_t y = o->s->snap->queues.items[*(const uint32_t *)b].priority;
    return x > y ? -1 : x < y;
}

static void rank_priorities(struct order *o)
{
    struct arena_mark mark = arena_mark(o->s->scratch);
    uint32_t count = o->s->top_count;
    uint32_t *tops = ARENA_ARRAY(o->s->scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        tops[i] = o->s->top_first + i;
    }
    sort_stable(tops, count, sizeof(*tops), by_priority, o, o->s->scratch);
    for (uint32_t i = 1; i < count; i++) {
        bool higher = by_priority(&tops[i - 1], &tops[i], o) < 0;
        o->records[tops[i]].calm = o->records[tops[i - 1]].calm + higher;
    }
    arena_rewind(o->s->scratch, mark);
}

static void ready_records(struct order *o)
{
    o->records = ARENA_ARRAY(o->arena, struct order_record, o->s->snap->queues.count);
    struct siblings tops = siblings_below(o, o->s->snap->queues.count);
    for (uint32_t i = 0; i < tops.count; i++) {
        o->records[tops.first + i].first_leaf = IX_NONE;
        tops.cells[tops.count + i] = tops.first + i;
    }
    for (uint32_t i = tops.count; i-- > 1;) {
        tops.cells[i] = tops.cells[2 * i];
    }
    rank_priorities(o);
    for (uint32_t i = 0; i < o->used.count; i++) {
        struct order_record *x = &o->records[top_of_queue(o, o->used.items[i])];
        o->leaves[o->used.items[i]].next_of_top = x->first_leaf;
        x->first_leaf = o->used.items[i];
        list_record(o, top_of_queue(o, o->used.items[i]));
    }
}

/* ---- from the beginning ---- */

void order_restart(struct order *o)
{
    o->touched = IX_NONE;
    if (!o->victims) {
        begin(o, o->used.items, o->used.count);
        return;
    }
    if (o->own_only) {
        settle_leaf(o, o->claimant_queue);
        return;
    }
    if (o->records) {
        put_back_recorded(o);
    } else {
        put_back(o);
    }
    o->turn++;
    shut_siblings(o);
    settle_open_leaf(o, o->claimant_queue);
    for (uint32_t i = 0; i < o->varying.count; i++) {
        settle_open_leaf(o, o->varying.items[i]);
    }
    if (o->spared != IX_NONE) {
        settle_open_leaf(o, queue_of(o->s, o->spared));
    }
}

// Victims: nothing is known of them yet. Whether one varies is known.
static void ready_victims(struct order *o)
{
    for (uint32_t i = 0; i < o->used.count; i++) {
        struct order_leaf *leaf = &o->leaves[o->used.items[i]];
        leaf->stale = true;
        note_read(o, o->used.items[i]);
        for (uint32_t w = 0; o->varies && w < leaf->count && !leaf->varying; w++) {
            leaf->varying = o->varies(o->s, leaf->sorted[w], o->ctx);
        }
        if (leaf->varying) {
            *ARRAY_PUSH(o->arena, &o->varying) = o->used.items[i];
        }
    }
    if (o->records_all) {
        CHECK(!o->varies);
        ready_records(o);
    }
}

void order_ready(struct order *o, int64_t depth_max)
{
    for (uint32_t i = 0; i < o->used.count; i++) {
        struct order_leaf *leaf = &o->leaves[o->used.items[i]];
        if (leaf->count > 1) {
            sort_stable(leaf->sorted, leaf->count, sizeof(*leaf->sorted), by_turn, o, o->arena);
        }
        leaf->added = leaf->count;
        if (depth_max >= 0 && leaf->count > depth_max) {
            leaf->count = (uint32_t)depth_max;
        }
    }
    if (o->victims) {
        ready_victims(o);
    } else {
        order_restart(o);
    }
}

void order_changed(struct order *o, uint32_t queue)
{
    o->leaves[queue].stale = true;
    for (uint32_t q = queue; q != IX_NONE; q = o->s->queues[q].parent) {
        o->standings[q].known = false;
    }
    note_read(o, queue);
    if (o->records) {
        drop_record(o, queue);
    }
}

void order_touch(struct order *o, uint32_t queue)
{
    if (o->victims) {
        note_read(o, queue);
    }
    if (o->touched != IX_NONE && o->touched != queue && !o->own_only) {
        refresh_path(o, o->touched);
    }
    o->touched = queue;
}

// The leaf that has the next workload, IX_NONE when there is none. With records it may be *victim
// instead.
static uint32_t leaf_to_pop(struct order *o, const struct recorded_victim **victim)
{
    uint32_t top = o->s->snap->queues.count;
    if (o->own_only) {
        return leaf_has(&o->leaves[o->claimant_queue]) ? o->claimant_queue : IX_NONE;
    }
    if (o->touched != IX_NONE) {
        refresh_path(o, o->touched);
        o->touched = IX_NONE;
    }
    uint32_t winner = siblings_below(o, top).cells[1];
    while (o->claimant_queue != IX_NONE && !is_out(o, winner) && o->asked[winner] != o->turn &&
           is_shut_top(o, winner)) {
        winner = siblings_below(o, top).cells[1];
    }
    if (o->records && !is_out(o, winner)) {
        *victim = take_recorded(o, winner);
    }
    return o->best[top];
}

uint32_t order_pop(struct order *o)
{
    const struct recorded_victim *victim = NULL;
    uint32_t queue = leaf_to_pop(o, &victim);
    o->counted = victim != NULL;
    if (victim) {
        o->card = victim->card;
        return victim->workload;
    }
    if (queue == IX_NONE) {
        return IX_NONE;
    }
    struct order_leaf *leaf = &o->leaves[queue];
    uint32_t workload;
    if (from_back(o, leaf)) {
        workload = heap_pop(&leaf->back);
        o->card = NULL;
    } else {
        o->card = o->victims ? &leaf->cards[leaf->next] : NULL;
        workload = leaf->sorted[leaf->next++];
        skip(o, leaf);
    }
    order_touch(o, queue);
    return workload;
}

uint32_t order_pop_twin(struct order *o, uint32_t workload)
{
    struct order_leaf *leaf = &o->leaves[queue_of(o->s, workload)];
    if (leaf->next == leaf->count || leaf->back.count > 0 ||
        !waiting_twins(o->s, workload, leaf->sorted[leaf->next])) {
        return IX_NONE;
    }
    return leaf->sorted[leaf->next++];
}

bool order_add_waiting(struct order *o)
{
    struct sched *s = o->s;
    waiting_sort(s);
    for (uint32_t i = 0; i < s->waiting.count; i++) {
        uint32_t w = s->waiting.items[i];
        if (gang_pending(s, w) > 0 && gang_is_ready(s, w)) {
            order_add(o, w);
        }
    }
    return o->used.count > 0;
}

void order_push(struct order *o, uint32_t workload)
{
    uint32_t queue = queue_of(o->s, workload);
    heap_push(&o->leaves[queue].back, workload);
    order_touch(o, queue);
}
