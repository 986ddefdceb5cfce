// SPDX-License-Identifier: Apache-2.0
// weir replay: applies a journal from its beginning, has the scheduler decide again at each tick,
// and says where it decides otherwise than was recorded. Changes nothing: not for a server that
// runs, whose directory it would have to share.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adapters/sqlite/sqlite.h"
#include "base/array.h"
#include "base/rfc3339.h"
#include "cmd/cmd.h"
#include "engine/replay.h"
#include "io/file.h"
#include "io/lock.h"
#include "io/places.h"
#include "model/reason.h"

static const char usage[] =
    "usage: weir replay [--data DIR | DIR]\n"
    "\n"
    "Applies the journal of a server that is stopped, or of a copy of its data directory, from "
    "the\n"
    "beginning, decides again at each recorded tick, and prints the first difference. The exit\n"
    "status is 0 when there is none, and 1 otherwise.\n";

struct replaying {
    struct arena arena; /* as long as the program runs */
    struct engine *engine;
    struct replay replay;
    struct store store;
    int64_t checkpoint_seq; /* the newest one that is stored, and its hash */
    uint64_t checkpoint_hash;
    bool state_differs;
};

/* ---- a tick in words: a line for each thing it does ---- */

struct lines {
    struct arena *arena;
    ARRAY(struct str) list;
};

static const struct workload *workload_of(const struct engine *e, struct uuid pod, uint32_t *index)
{
    const struct state *s = engine_state(e);
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        for (uint32_t k = 0; k < s->workloads[i].pods_count; k++) {
            if (uuid_eq(s->workloads[i].pods[k].id, pod)) {
                *index = k;
                return &s->workloads[i];
            }
        }
    }
    return NULL;
}

static struct str pod_name(struct lines *l, const struct engine *e, struct uuid pod)
{
    uint32_t index = 0;
    const struct workload *w = workload_of(e, pod, &index);
    return w == NULL ? uuid_str(pod, l->arena)
                     : arena_printf(l->arena, STR_FMT "/" STR_FMT " pod %u", STR_ARG(w->project),
                                    STR_ARG(w->name), index);
}

static struct str workload_name(struct lines *l, const struct engine *e, struct uuid id)
{
    const struct workload *w = engine_find(e, id);
    return w == NULL
               ? uuid_str(id, l->arena)
               : arena_printf(l->arena, STR_FMT "/" STR_FMT, STR_ARG(w->project), STR_ARG(w->name));
}

static struct str device_list(struct lines *l, const struct held_device *devices, uint32_t count)
{
    struct str text = STR("");
    for (uint32_t i = 0; i < count; i++) {
        text = arena_printf(l->arena, STR_FMT " " STR_FMT " (%lld/7000)", STR_ARG(text),
                            STR_ARG(devices[i].uuid), (long long)devices[i].share);
    }
    return text;
}

static struct str code_name(uint32_t code)
{
    return code == REASON_NONE   ? STR("no reason")
           : code < REASON_COUNT ? reason_name((enum reason_code)code)
                                 : STR("a newer reason");
}

static void tell_tick(struct lines *l, const struct engine *e, const struct tick *t)
{
    for (uint32_t i = 0; i < t->evicts_count; i++) {
        const struct evict *ev = &t->evicts[i];
        *ARRAY_PUSH(l->arena, &l->list) = arena_printf(
            l->arena, "%s " STR_FMT ": " STR_FMT "%s" STR_FMT, ev->move ? "move" : "stop",
            STR_ARG(pod_name(l, e, ev->pod)), STR_ARG(code_name(ev->why.code)),
            ev->why.other_name.len > 0 ? " for " : "", STR_ARG(ev->why.other_name));
    }
    for (uint32_t i = 0; i < t->binds_count; i++) {
        const struct bind *b = &t->binds[i];
        *ARRAY_PUSH(l->arena, &l->list) = arena_printf(
            l->arena, "start " STR_FMT " on " STR_FMT STR_FMT, STR_ARG(pod_name(l, e, b->pod)),
            STR_ARG(b->node), STR_ARG(device_list(l, b->devices, b->devices_count)));
    }
    for (uint32_t i = 0; i < t->claims_count; i++) {
        const struct claim *c = &t->claims[i];
        *ARRAY_PUSH(l->arena, &l->list) = arena_printf(
            l->arena, "keep for " STR_FMT " on " STR_FMT STR_FMT,
            STR_ARG(workload_name(l, e, c->workload)), STR_ARG(c->node),
            STR_ARG(device_list(l, c->devices, c->devices_count)));
    }
    for (uint32_t i = 0; i < t->waiting_count; i++) {
        const struct waiting *w = &t->waiting[i];
        *ARRAY_PUSH(l->arena, &l->list) = arena_printf(
            l->arena, "wait " STR_FMT ": " STR_FMT " in " STR_FMT "%s",
            STR_ARG(workload_name(l, e, w->workload)), STR_ARG(code_name(w->why.code)),
            STR_ARG(w->why.pool), w->next_pool ? ", on to the next node pool" : "");
    }
}

static bool has_line(const struct lines *l, struct str line)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        if (str_eq(l->list.items[i], line)) {
            return true;
        }
    }
    return false;
}

static void print_missing(const char *title, const struct lines *these, const struct lines *those)
{
    printf("  %s:\n", title);
    uint32_t printed = 0;
    for (uint32_t i = 0; i < these->list.count; i++) {
        if (!has_line(those, these->list.items[i])) {
            printf("    " STR_FMT "\n", STR_ARG(these->list.items[i]));
            printed++;
        }
    }
    if (printed == 0) {
        printf("    nothing else\n");
    }
}

static void print_difference(struct replaying *r)
{
    const struct replay_difference *d = &r->replay.difference;
    char at[RFC3339_TEXT_SIZE];
    struct lines recorded = {.arena = &r->arena};
    struct lines again = {.arena = &r->arena};
    tell_tick(&recorded, r->engine, &d->recorded);
    tell_tick(&again, r->engine, &d->again);
    printf("record %lld, %.*s: the scheduler decides otherwise now (first in " STR_FMT ")\n",
           (long long)d->seq, STR_ARG(rfc3339_format(d->now_ms, at)), STR_ARG(d->field));
    print_missing("recorded", &recorded, &again);
    print_missing("decided again", &again, &recorded);
}

/* ---- replaying ---- */

static enum status on_record(void *arg, int64_t seq, struct str bytes, struct err *err)
{
    struct replaying *r = arg;
    enum status status = replay_record(&r->replay, seq, bytes, err);
    if (status == STATUS_OK && seq == r->checkpoint_seq &&
        engine_hash(r->engine) != r->checkpoint_hash) {
        r->state_differs = true;
        return err_set(err, STATUS_CONFLICT, "another state");
    }
    return status;
}

static int finish(struct replaying *r, enum status status, const struct err *err)
{
    if (r->replay.difference.found) {
        print_difference(r);
        return 1;
    }
    if (r->state_differs) {
        printf("record %lld: the journal does not lead to the state that was stored there as a "
               "checkpoint\n  a record was changed, or another version of weir applied it\n",
               (long long)r->checkpoint_seq);
        return 1;
    }
    if (status != STATUS_OK) {
        fprintf(stderr, "weir replay: %s\n", err->text);
        if (err->hint[0] != '\0') {
            fprintf(stderr, "  %s\n", err->hint);
        }
        return 1;
    }
    printf("%lld records, %lld ticks decided again: no difference\n", (long long)r->replay.inputs,
           (long long)r->replay.ticks);
    if (r->replay.foreign > 0) {
        printf("%lld ticks were decided by another version of the scheduler and not compared\n",
               (long long)r->replay.foreign);
    }
    return 0;
}

static enum status open_journal(struct replaying *r, struct str dir, int *lock, struct err *err)
{
    const char *path = arena_printf(&r->arena, STR_FMT "/weir.db", STR_ARG(dir)).ptr;
    struct sqlite_report report;
    struct str bytes;
    if (access(path, F_OK) != 0) {
        err_set(err, STATUS_UNKNOWN, "there is no journal %s", path);
        return err_hint(err, "name the data directory of a server: weir replay DIR");
    }
    enum status status = lock_take(arena_cstr(&r->arena, dir), lock, err);
    if (status != STATUS_OK) {
        return err_hint(err, "stop the server, or copy its data directory while it is stopped to "
                             "where you may write, and replay the copy");
    }
    status = sqlite_open_reader(path, &r->store, &report, err);
    return status != STATUS_OK ? status
                               : r->store.latest(r->store.ctx, &r->arena, &r->checkpoint_seq,
                                                 &r->checkpoint_hash, &bytes, err);
}

static int replay_directory(struct replaying *r, struct str dir)
{
    struct err err = {0};
    CLEANUP(file_close) int lock = -1;
    r->engine = engine_new();
    replay_init(&r->replay, r->engine, true);
    enum status status = open_journal(r, dir, &lock, &err);
    if (status == STATUS_OK) {
        status = r->store.read(r->store.ctx, 0, on_record, r, &err);
    }
    int exit_status = finish(r, status, &err);
    sqlite_close(&r->store);
    replay_done(&r->replay);
    engine_free(r->engine);
    return exit_status;
}

int cmd_replay(int argc, char **argv)
{
    struct replaying r = {0};
    struct err err = {0};
    struct str dir = STR("");
    bool help = false;
    bool wrong = false;
    for (int i = 1; i < argc; i++) {
        struct str word = str_from_c(argv[i]);
        help = help || str_eq(word, STR("--help")) || str_eq(word, STR("-h"));
        if (str_starts(word, STR("--data="))) {
            word = str_sub(word, sizeof("--data=") - 1, word.len);
        } else if (str_eq(word, STR("--data")) && i + 1 < argc) {
            word = str_from_c(argv[++i]);
        } else if (str_starts(word, STR("-"))) {
            wrong = true;
        }
        wrong = wrong || dir.len > 0 || word.len == 0;
        dir = word;
    }
    if (help || wrong) {
        fputs(usage, help ? stdout : stderr);
        return help ? 0 : 1;
    }
    arena_init(&r.arena, 0);
    int exit_status = 1;
    if (dir.len == 0 && places_data(&r.arena, &dir, &err) != STATUS_OK) {
        fprintf(stderr, "weir replay: %s\n", err.text);
    } else {
        exit_status = replay_directory(&r, dir);
    }
    arena_done(&r.arena);
    return exit_status;
}
