// SPDX-License-Identifier: Apache-2.0
// engine: the deterministic state machine. Inputs in, state and effects out; the same inputs give
// the same state and the same effects, on any machine. Pure: no I/O, no clock.
//
// The loop of a server: gather inputs, number them, journal them, engine_apply each, hand the
// effects to the cluster. When a tick is due: engine_decide on the state, put the tick (with its
// decisions) first in the next batch. At start: engine_restore from the checkpoint, engine_apply
// the journal's tail, then engine_outstanding gives the effects that may not have been done.
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "model/effect.h"
#include "model/input.h"
#include "model/remedy.h"

struct engine;

struct effects {
    struct arena *arena;
    struct effect *items;
    uint32_t count, cap;
};

/* What a command led to: kept under its idempotency key, and returned again for the same key. */
struct outcome {
    enum status status;
    struct err err;   /* where, field, hint when refused */
    struct uuid id;   /* of what the command made or was about */
    int64_t revision; /* of the plan, after a plan apply; id of the role or rule that was made */
    bool repeated;    /* the answer of an earlier command with the same key */
};

struct engine *engine_new(void); /* empty: pool `default`, department `default`, revision 1 */
void engine_free(struct engine *e);
const struct state *engine_state(const struct engine *e); /* good until the next apply */

/* engine_apply applies one input with seq = state.seq + 1 (CHECK) and now_ms >= state.now_ms.
 * Never fails: a refused command changes nothing but the audit, and *outcome says why. Effects are
 * appended; their pointers are good until the next apply. */
void engine_apply(struct engine *e, const struct input *in, struct effects *effects,
                  struct outcome *outcome);
/* engine_check says what engine_apply would answer to the command now, changing nothing. */
void engine_check(const struct engine *e, const struct input *in, struct outcome *outcome);

/* engine_decide runs the scheduler over every pool at time now_ms and returns the tick, in arena.
 * Pure on the state. *changed is false when the tick would change nothing (it need not be journalled). */
void engine_decide(const struct engine *e, int64_t now_ms, struct arena *arena, struct tick *tick,
                   bool *changed);
/* engine_answered gives the workload that author's earlier command with this idempotency key was
 * about; false when there was none. A command that is repeated names its workload by this: the name
 * it used may stand for nothing now, or for another workload. */
bool engine_answered(const struct engine *e, struct str author, struct str key, struct uuid *id);

/* engine_next_ms: when time alone may change a decision (minimum run time over, grace over,
 * auto-deletion, back-off, the deadline of a drain), INT64_MAX if never. */
int64_t engine_next_ms(const struct engine *e);

/* engine_outstanding lists effects asked for and not confirmed: to be done again after a restart. */
void engine_outstanding(const struct engine *e, struct effects *effects);

void engine_checkpoint(const struct engine *e, struct buf *out);
MUST_USE enum status engine_restore(struct engine *e, struct str bytes, struct err *err);
uint64_t engine_hash(const struct engine *e); /* of the checkpoint's bytes */

/* Books, kept up to date: what each queue holds. A parent's sum is its children's sum. */
struct held {
    int64_t gpu_share, cpu_milli, memory_bytes;
    /* of those */
    int64_t gpu_share_nonpreemptible, cpu_milli_nonpreemptible, memory_bytes_nonpreemptible;
    int64_t gpu_share_low, cpu_milli_low, memory_bytes_low; /* by work of priority very-low */
};
/* engine_held: of project or department `queue` in `pool` (or in all pools with an empty name),
 * binding, running and releasing pods. Zero for unknown names. */
struct held engine_held(const struct engine *e, struct str pool, struct str queue, bool department);
/* Past use of a pool by a queue in the pool's window (struct pool), whether it counts there or not. */
struct usage {
    int64_t from_ms; /* since when: the window, from the beginning of the stretch that is booked
                           together with its first moment */
    struct amounts
        used;           /* by the queue: device shares, millicores, mebibytes, times milliseconds */
    struct amounts had; /* the same, of what the pool had */
    struct amounts part; /* used / had in USAGE_DENOMINATOR_MAXths, older use counting less and use
                            by work of priority very-low counting as the pool's settings say */
};
/* engine_usage: of project or department `queue` in `pool` up to now_ms (not before state.now_ms).
 * A department's is the sum of its projects'. Zero for unknown names. */
struct usage engine_usage(const struct engine *e, struct str pool, struct str queue,
                          bool department, int64_t now_ms);
/* engine_used: what project or department `queue` held of a pool, or (queue empty) what the pool had,
 * added up over [from_ms, to_ms): shares, millicores, mebibytes, times milliseconds. An empty pool:
 * of all. Quarters of an hour, further back hours and days, that are in it in part count by that
 * part. Zero for unknown names. */
struct amounts engine_used(const struct engine *e, struct str pool, struct str queue,
                           bool department, int64_t from_ms, int64_t to_ms);
/* Place in the queue of a waiting workload: how many are ahead of it in its project and pool (0: next). */
uint32_t engine_place(const struct engine *e, const struct workload *w);
/* engine_remedy: the smallest change that would start a workload that waits, in the pool it is tried
 * in, at now_ms or state.now_ms if that is later (sched/remedy.h). On demand only: it runs up to 200
 * cycles of that pool, in large pools fewer, so that it ends within a second or two. Names live in arena or
 * in the state. */
void engine_remedy(const struct engine *e, const struct workload *w, int64_t now_ms,
                   struct arena *arena, struct remedy_told *out);
/* Fair share of a queue of a pool, in device shares, as the last decision saw it: for display. */
int64_t engine_fair_share(const struct engine *e, struct str pool, struct str queue,
                          bool department);
/* engine_drain: whether a node, or a device of it ("": the node itself), is closed for new work; NULL:
 * it is not. drain_covers: whether the place that the pod holds is what was closed. */
const struct drain *engine_drain(const struct engine *e, struct str node, struct str device);
bool drain_covers(const struct drain *d, const struct pod *p);
/* Node pool a node belongs to. */
struct str engine_pool_of(const struct engine *e, const struct node *n);
const struct workload *engine_find(const struct engine *e, struct uuid id);
/* engine_project_row: where the project of one of the state's workloads is in the plan's projects;
 * IX_NONE (model/ids.h): it is gone. */
uint32_t engine_project_row(const struct engine *e, const struct workload *w);
/* By project and name among the live ones, else the newest ended one; NULL when there is none. */
const struct workload *engine_find_name(const struct engine *e, struct str project,
                                        struct str name);
/* engine_invariants checks R1 to R9's standing parts and the books; returns the first breach as text, or empty. */
struct str engine_invariants(const struct engine *e, struct arena *arena);
