// SPDX-License-Identifier: Apache-2.0
// The smallest change that would start a workload, asked on the snapshot of the last round: written
// as JSON, and compared with what a case expects of it member by member.
#include "base/num.h"
#include "sched/remedy.h"
#include "sim/case_read.h"

enum { TRIALS_MAX = 200, TEXT_MAX = 1 << 20 };

/* ---- writing ---- */

static void write_amounts(const struct remedy *r, struct jw *w)
{
    bool gpus = r->kind == REMEDY_SHARE ||
                ((r->kind == REMEDY_LIMIT || r->kind == REMEDY_GUARANTEE) &&
                 r->resource == RES_GPU);
    const struct {
        struct str key;
        int64_t value;
    } rows[] = {
        {STR("from"), r->from},
        {STR("to"),   r->to  },
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        jw_key(w, rows[i].key);
        if (gpus) {
            jw_decimal(w, num_muldiv_floor(rows[i].value, 10000000, DEVICE_SHARE), 7);
        } else {
            jw_i64(w, rows[i].value);
        }
    }
}

static void write_queue(const struct case_result *result, const struct remedy *r, struct jw *w)
{
    static const struct str resources[RES_COUNT] = {STRS("gpu"), STRS("cpu"), STRS("memory")};
    if (r->queue.ix != IX_NONE) {
        jw_member_string(w, STR("queue"), result->snap.queues.items[r->queue.ix].name);
        jw_member_string(w, STR("resource"), resources[r->resource]);
        jw_member_bool(w, STR("path"), r->path);
    }
}

static void write_names(const struct case_result *result, const struct remedy *r, struct jw *w)
{
    const struct snapshot *s = &result->snap;
    if (r->group.ix != IX_NONE) {
        jw_member_string(w, STR("group"), s->groups.items[r->group.ix].name);
    }
    if (r->node.ix != IX_NONE) {
        jw_member_string(w, STR("node"), s->nodes.items[r->node.ix].name);
    }
    if (r->other.ix != IX_NONE) {
        jw_member_string(w, STR("other"), s->workloads.items[r->other.ix].name);
    }
    if (r->pods_count > 0) {
        jw_key(w, STR("pods"));
        jw_array_begin(w);
        for (uint32_t i = 0; i < r->pods_count; i++) {
            jw_string(w, s->tasks.items[r->pods[i].ix].name);
        }
        jw_array_end(w);
    }
}

static void write_remedy(const struct case_result *result, uint32_t workload,
                         const struct remedy *r, struct jw *w)
{
    const struct snapshot *s = &result->snap;
    jw_object_begin(w);
    jw_member_string(w, STR("workload"), s->workloads.items[workload].name);
    jw_member_string(w, STR("outcome"), remedy_outcome_name(r->outcome));
    jw_member_string(w, STR("code"), remedy_name(r->kind));
    write_amounts(r, w);
    write_queue(result, r, w);
    write_names(result, r, w);
    if (r->until_ms != TIME_NEVER) {
        jw_key(w, STR("until_s"));
        jw_decimal(w, r->until_ms - s->config.now_ms, 3);
    }
    jw_member_bool(w, STR("at_once"), r->at_once);
    jw_member_i64(w, STR("stopped"), r->stopped);
    jw_member_i64(w, STR("trials"), r->trials);
    jw_member_bool(w, STR("exhausted"), r->exhausted);
    jw_object_end(w);
}

static bool waits(const struct snapshot *s, uint32_t workload)
{
    const struct snap_workload *w = &s->workloads.items[workload];
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (s->tasks.items[t].state == TASK_PENDING || s->tasks.items[t].state == TASK_GATED) {
            return true;
        }
    }
    return false;
}

void case_remedies_to_json(const struct sim_case *c, const struct case_result *result,
                           struct arena *arena, struct jw *w)
{
    jw_array_begin(w);
    for (uint32_t i = 0; i < result->snap.workloads.count; i++) {
        if (waits(&result->snap, i)) {
            struct arena_mark mark = arena_mark(arena);
            struct remedy r;
            remedy_find(arena, &result->snap, i, c->actions_mask, TRIALS_MAX, &r);
            write_remedy(result, i, &r, w);
            arena_rewind(arena, mark);
        }
    }
    jw_array_end(w);
}

/* ---- expecting ---- */

void read_remedy(struct parsing *p, const struct at *up, const struct doc *d)
{
    enum { OUTCOME, COUNT = 14 };
    static const struct keys keys = {
        1,
        COUNT,
        {STRS("outcome"), STRS("code"), STRS("from"), STRS("to"), STRS("queue"), STRS("resource"),
          STRS("path"), STRS("group"), STRS("node"), STRS("other"), STRS("pods"), STRS("until_s"),
          STRS("at_once"), STRS("stopped")}
    };
    const struct at at = {up, STR("remedy"), 0};
    struct str outcomes[REMEDY_OUTCOME_COUNT];
    for (uint32_t i = 0; i < REMEDY_OUTCOME_COUNT; i++) {
        outcomes[i] = remedy_outcome_name((enum remedy_outcome)i);
    }
    const struct doc *m[MEMBERS_MAX];
    open_map(p, &at, d, &keys, m);
    (void)word_of(p, &at, "outcome", m[OUTCOME], outcomes, REMEDY_OUTCOME_COUNT);
}

// Scalars by what they say: 2 is 2.0; lists member by member, in order.
static bool agree(const struct doc *want, const struct doc *got)
{
    int64_t a = 0;
    int64_t b = 0;
    if (got == NULL || want->kind != got->kind) {
        return false;
    }
    if (want->kind == DOC_NUMBER) {
        return num_parse_decimal(want->text, 7, &a) && num_parse_decimal(got->text, 7, &b) &&
               a == b;
    }
    if (want->kind == DOC_BOOL) {
        return want->boolean == got->boolean;
    }
    if (want->kind != DOC_LIST) {
        return str_eq(want->text, got->text);
    }
    const struct doc *g = got->child;
    for (const struct doc *item = want->child; item; item = item->next) {
        if (g == NULL || item->kind != DOC_STRING || !str_eq(item->text, g->text)) {
            return false;
        }
        g = g->next;
    }
    return g == NULL;
}

struct str case_remedy_differs(const struct sim_case *c, const struct case_result *result,
                               uint32_t workload, const struct doc *want, struct arena *arena)
{
    struct buf text;
    struct jw w;
    struct remedy r;
    struct doc *got = NULL;
    struct err err = {0};
    uint32_t ix = 0;
    while (result->snap.workloads.items[ix].tag != workload) {
        ix++;
    }
    remedy_find(arena, &result->snap, ix, c->actions_mask, TRIALS_MAX, &r);
    buf_init(&text, TEXT_MAX);
    jw_init(&w, &text, false);
    write_remedy(result, ix, &r, &w);
    struct str json = arena_str(arena, buf_view(&text));
    buf_done(&text);
    if (json_doc(json, arena, &got, &err) != STATUS_OK) {
        return json;
    }
    for (const struct doc *member = want->child; member; member = member->next) {
        if (!agree(member, doc_get(got, member->key))) {
            return arena_printf(arena, "another \"" STR_FMT "\" than in " STR_FMT,
                                STR_ARG(member->key), STR_ARG(json));
        }
    }
    return STR("");
}
