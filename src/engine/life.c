// SPDX-License-Identifier: Apache-2.0
// life: suspend, resume and delete; and the name of the cluster. Each may be said again; what is so already stays so.
#include "base/check.h"
#include "engine/machine.h"
#include "model/limits.h"

static const char *verb(enum input_kind kind)
{
    return kind == INPUT_SUSPEND ? "suspend" : kind == INPUT_RESUME ? "resume" : "delete";
}

void life_check(const struct engine *e, const struct input *in, struct outcome *out)
{
    const struct workload *w = engine_find(e, in->target);
    if (!w) {
        char id[UUID_TEXT_LEN + 1];
        uuid_format(in->target, id);
        out->status = err_set(&out->err, STATUS_UNKNOWN, "there is no workload %s", id);
        err_hint(&out->err, "weir workload list shows those there are");
        return;
    }
    out->id = w->id;
    if (in->kind != INPUT_DELETE && w->desired == WANT_DELETED) {
        out->status = err_set(&out->err, STATUS_UNKNOWN, "workload \"%.*s\" is being deleted",
                              STR_ARG(w->name));
        return;
    }
    if (in->kind != INPUT_DELETE && w->end_ms != TIME_NEVER) {
        struct str phase = workload_phase(w);
        out->status = err_set(&out->err, STATUS_CONFLICT,
                              "workload \"%.*s\" has ended (%.*s), there is nothing to %s",
                              STR_ARG(w->name), STR_ARG(phase), verb(in->kind));
        err_hint(&out->err, "submit it again to run it once more");
    }
}

void name_cluster_check(const struct input *in, struct outcome *out)
{
    struct str name = in->name_cluster.name;
    bool ok = name.len > 0 && name.len <= NAME_LEN_MAX && !uuid_is_zero(in->name_cluster.id);
    for (uint32_t i = 0; ok && i < name.len; i++) {
        ok = name.ptr[i] > ' ' && name.ptr[i] != 0x7f;
    }
    if (!ok) {
        out->status = err_set(&out->err, STATUS_INVALID,
                              "\"%.*s\" is no name of a cluster: no spaces, at most %u bytes",
                              STR_ARG(str_sub(name, 0, 100)), NAME_LEN_MAX);
        err_field(&out->err, "name");
    }
}

void name_cluster_apply(struct step *st)
{
    struct state *s = &st->e->s;
    if (uuid_is_zero(s->cluster_id)) {
        s->cluster_id = st->in->name_cluster.id;
        s->cluster_ms = st->now_ms;
    }
    s->cluster_name = arena_str(engine_memory(st->e), st->in->name_cluster.name);
}

static void note(struct step *st, uint32_t row, enum event_kind kind)
{
    struct event *ev = workload_event(st, row, kind);
    ev->author = arena_str(engine_memory(st->e), st->in->author);
}

static void stop_all(struct step *st, uint32_t row, bool move)
{
    struct workload *w = &st->e->s.workloads[row];
    for (uint32_t i = 0; i < w->pods_count; i++) {
        if (pod_holds(&w->pods[i])) {
            pod_stop(st, row, i, move);
        }
    }
}

static void resume(struct step *st, uint32_t row)
{
    struct workload *w = &st->e->s.workloads[row];
    w->tried_count = 0;
    w->run_before_ms = w->run_ms;
    w->noticed_ms = 0;
    for (uint32_t i = 0; i < w->pods_count; i++) {
        w->pods[i].failures = 0; // a person has looked at it
        w->pods[i].retry_at_ms = 0;
    }
}

void life_apply(struct step *st)
{
    uint32_t row;
    bool found = map_get(&st->e->t.workloads, uuid_bytes(&st->in->target), &row);
    CHECK(found);
    struct workload *w = &st->e->s.workloads[row];
    if (st->in->kind == INPUT_SUSPEND && w->desired == WANT_RUN) {
        w->desired = WANT_STOPPED;
        note(st, row, EVENT_SUSPENDED);
        stop_all(st, row, true);
    } else if (st->in->kind == INPUT_RESUME && w->desired == WANT_STOPPED) {
        w->desired = WANT_RUN;
        note(st, row, EVENT_RESUMED);
        resume(st, row);
    } else if (st->in->kind == INPUT_DELETE && w->desired != WANT_DELETED) {
        w->desired = WANT_DELETED;
        note(st, row, EVENT_DELETED);
        stop_all(st, row, false);
    }
    workload_settle(st, row);
}
