// SPDX-License-Identifier: Apache-2.0
// packing: each arrival is a workload of one pod. All of them are in the snapshot from the start, as
// pods that are not to be scheduled yet; an arrival opens one. So the scheduler knows of a task not
// before it arrives.
#include "sim/packing.h"

#include <string.h>

#include "base/check.h"
#include "base/num.h"

enum { COLUMNS_MAX = 16, NUMBER_MAX = 1000000000, DEVICES_MAX = 64, MILLI = 1000, LAST_MARK = 130 };

const int64_t packing_marks[PACKING_MARKS] = {80, 90, 95, 100, 110, LAST_MARK};

/* ---- reading ---- */

/* A table that is being read. */
struct table {
    struct str rest; /* lines to come */
    const char *name;
    uint32_t line;
    const struct str *columns; /* wanted, the first `needed` must be there */
    uint32_t count, needed;
    uint32_t at[COLUMNS_MAX]; /* place of each in a line; IX_NONE: not there */
    struct str cells[COLUMNS_MAX];
};

static enum status fail(const struct table *t, struct err *err, const char *what, struct str text)
{
    enum status status = err_set(err, STATUS_INVALID, "%s \"" STR_FMT "\"", what,
                                 STR_ARG(str_clip(text, 64)));
    (void)str_format(err->file, sizeof err->file, "%s", t->name);
    err->line = t->line;
    return status;
}

static bool next_line(struct table *t, struct str *line)
{
    while (str_split(&t->rest, '\n', line)) {
        t->line++;
        *line = str_trim(*line);
        if (line->len > 0) {
            return true;
        }
    }
    return false;
}

static enum status open_table(struct table *t, struct err *err)
{
    struct str line = STR("");
    struct str cell;
    (void)next_line(t, &line);
    for (uint32_t c = 0; c < t->count; c++) {
        struct str rest = line;
        t->at[c] = IX_NONE;
        for (uint32_t i = 0; str_split(&rest, ',', &cell); i++) {
            t->at[c] = str_eq(cell, t->columns[c]) ? i : t->at[c];
        }
        if (t->at[c] == IX_NONE && c < t->needed) {
            return fail(t, err, "the first line names no column", t->columns[c]);
        }
    }
    return STATUS_OK;
}

static bool next_row(struct table *t)
{
    struct str line;
    struct str cell;
    if (!next_line(t, &line)) {
        return false;
    }
    for (uint32_t c = 0; c < t->count; c++) {
        struct str rest = line;
        t->cells[c] = STR("");
        for (uint32_t i = 0; t->at[c] != IX_NONE && str_split(&rest, ',', &cell); i++) {
            t->cells[c] = i == t->at[c] ? cell : t->cells[c];
        }
    }
    return true;
}

static enum status number(const struct table *t, uint32_t column, int64_t most, int64_t *out,
                          struct err *err)
{
    if (!num_parse_i64(t->cells[column], out) || *out < 0 || *out > most) {
        char what[96];
        (void)str_format(what, sizeof what, STR_FMT " must be a number from 0 to %lld, not",
                         STR_ARG(t->columns[column]), (long long)most);
        return fail(t, err, what, t->cells[column]);
    }
    return STATUS_OK;
}

static enum status read_nodes(struct str text, struct arena *arena, struct packing_trace *out,
                              struct err *err)
{
    enum { NAME, CPU, MEMORY, GPU, MODEL, COUNT };
    static const struct str columns[] = {STRS("sn"), STRS("cpu_milli"), STRS("memory_mib"),
                                         STRS("gpu"), STRS("model")};
    struct table t = {text, "nodes", 0, columns, COUNT, MODEL, {0}, {{0}}};
    ARRAY(struct packing_node) nodes = {0};
    enum status status = open_table(&t, err);
    while (status == STATUS_OK && next_row(&t)) {
        struct packing_node *n = ARRAY_PUSH(arena, &nodes);
        n->name = t.cells[NAME];
        n->model = t.cells[MODEL];
        status = number(&t, CPU, NUMBER_MAX, &n->cpu_milli, err);
        status = status ? status : number(&t, MEMORY, NUMBER_MAX, &n->memory_mib, err);
        status = status ? status : number(&t, GPU, DEVICES_MAX, &n->devices, err);
        out->capacity_milli += status ? 0 : n->devices * MILLI;
    }
    out->nodes = nodes.items;
    out->node_count = nodes.count;
    if (status == STATUS_OK && out->capacity_milli == 0) {
        t.line = 1;
        return fail(&t, err, "there are no devices: the column is", columns[GPU]);
    }
    return status;
}

static enum status read_tasks(struct str text, struct arena *arena, struct packing_trace *out,
                              struct err *err)
{
    enum { NAME, CPU, MEMORY, GPU, PART, MODELS, COUNT };
    static const struct str columns[] = {STRS("name"),    STRS("cpu_milli"), STRS("memory_mib"),
                                         STRS("num_gpu"), STRS("gpu_milli"), STRS("gpu_spec")};
    struct table t = {text, "tasks", 0, columns, COUNT, MODELS, {0}, {{0}}};
    ARRAY(struct packing_task) tasks = {0};
    int64_t asked = 0;
    enum status status = open_table(&t, err);
    while (status == STATUS_OK && next_row(&t)) {
        struct packing_task *k = ARRAY_PUSH(arena, &tasks);
        k->name = t.cells[NAME];
        k->models = t.cells[MODELS];
        status = number(&t, CPU, NUMBER_MAX, &k->cpu_milli, err);
        status = status ? status : number(&t, MEMORY, NUMBER_MAX, &k->memory_mib, err);
        status = status ? status : number(&t, GPU, DEVICES_MAX, &k->devices, err);
        status = status ? status : number(&t, PART, MILLI, &k->milli, err);
        if (k->devices != 1) {
            k->milli = k->devices == 0 ? 0 : MILLI; // parts are of single devices
        }
        if (status == STATUS_OK && k->devices == 1 && k->milli == 0) {
            status = fail(&t, err, "a task that asks for a device needs a part of it, not",
                          t.cells[PART]);
        }
        asked += k->devices * k->milli;
    }
    out->tasks = tasks.items;
    out->task_count = tasks.count;
    if (status == STATUS_OK && asked == 0) {
        t.line = 1;
        return fail(&t, err, "no task asks for devices: the column is", columns[GPU]);
    }
    return status;
}

enum status packing_read(struct str nodes, struct str tasks, struct arena *arena,
                         struct packing_trace *out, struct err *err)
{
    *out = (struct packing_trace){0};
    enum status status = read_nodes(nodes, arena, out, err);
    return status ? status : read_tasks(tasks, arena, out, err);
}

/* ---- the pool ---- */

// The generator that the order of arrivals is defined by (Steele, Lea, Flood: SplitMix).
WRAPS static uint64_t draw(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static int64_t asked_milli(const struct packing_task *t)
{
    return t->devices * t->milli;
}

static void draw_arrivals(struct packing *p, uint64_t seed)
{
    ARRAY(uint32_t) drawn = {0};
    int64_t asked = 0;
    while (asked * 100 < p->trace->capacity_milli * LAST_MARK) {
        uint32_t task = (uint32_t)(draw(&seed) % p->trace->task_count);
        *ARRAY_PUSH(p->arena, &drawn) = task;
        asked += asked_milli(&p->trace->tasks[task]);
    }
    p->drawn = drawn.items;
    p->drawn_count = drawn.count;
}

static void add_nodes(struct packing *p)
{
    enum { PODS_MAX = 1 << 20 };
    for (uint32_t i = 0; i < p->trace->node_count; i++) {
        const struct packing_node *n = &p->trace->nodes[i];
        *ARRAY_PUSH(p->arena, &p->snap.nodes) = (struct snap_node){
            .name = arena_printf(p->arena, "%08u", i), // ties go by the order in the file
            .tag = i,
            .device_first = p->snap.devices.count,
            .device_count = (uint32_t)n->devices,
            .cpu_milli = n->cpu_milli,
            .memory_bytes = n->memory_mib << 20,
            .pods = PODS_MAX,
            .ready = true,
            .schedulable = true,
        };
        for (uint32_t d = 0; d < n->devices; d++) {
            *ARRAY_PUSH(p->arena, &p->snap.devices) = (struct snap_device){
                .node = {i}, .ordinal = d, .healthy = true};
        }
    }
}

// The set of nodes whose model is in the list.
static uint32_t add_set(struct packing *p, struct str models)
{
    if (models.len == 0) {
        return IX_NONE;
    }
    uint64_t *words = ARENA_ARRAY(p->arena, uint64_t, (p->trace->node_count + 63) / 64);
    for (uint32_t n = 0; n < p->trace->node_count; n++) {
        struct str rest = models;
        struct str model;
        while (str_split(&rest, '|', &model)) {
            words[n / 64] |= (uint64_t)str_eq(model, p->trace->nodes[n].model) << (n % 64);
        }
    }
    ARRAY_PUSH(p->arena, &p->snap.node_sets)->words = words;
    return p->snap.node_sets.count - 1;
}

static void add_shapes(struct packing *p)
{
    for (uint32_t i = 0; i < p->trace->task_count; i++) {
        const struct packing_task *t = &p->trace->tasks[i];
        bool whole = t->milli == MILLI;
        struct snap_shape *shape = ARRAY_PUSH(p->arena, &p->snap.shapes);
        *shape = (struct snap_shape){
            .gpu = t->devices == 0 ? GPU_NONE
                   : whole         ? GPU_WHOLE
                                   : GPU_SHARE,
            .device_count = (uint32_t)t->devices,
            .share = whole ? 0 : t->milli * (DEVICE_SHARE / MILLI),
            .cpu_milli = t->cpu_milli,
            .memory_bytes = t->memory_mib << 20,
            .selected_set = IX_NONE,
            .tolerated_set = IX_NONE,
        };
        shape->selected_set = add_set(p, t->models);
    }
}

static void add_workloads(struct packing *p)
{
    const struct amounts unlimited = {
        {AMOUNT_UNLIMITED, AMOUNT_UNLIMITED, AMOUNT_UNLIMITED}
    };
    *ARRAY_PUSH(p->arena, &p->snap.queues) = (struct snap_queue){
        .name = STR("all"),
        .parent = {IX_NONE},
        .quota = unlimited,
        .limit = unlimited,
        .reclaim_min_runtime_ms = DURATION_UNSET,
        .preempt_min_runtime_ms = DURATION_UNSET,
    };
    for (uint32_t i = 0; i < p->drawn_count; i++) {
        struct str name = arena_printf(p->arena, "%08u", i);
        *ARRAY_PUSH(p->arena, &p->snap.workloads) = (struct snap_workload){
            .name = name,
            .queue = {0},
            .preemptible = true,
            .created_ms = i,
            .last_start_ms = TIME_NEVER,
            .last_evicted_ms = TIME_NEVER,
            .evicted_for = {IX_NONE},
            .stale_since_ms = TIME_NEVER,
        };
        *ARRAY_PUSH(p->arena, &p->snap.tasks) = (struct snap_task){
            .name = name,
            .workload = {i},
            .group = {IX_NONE},
            .shape = {p->drawn[i]},
            .state = TASK_GATED,
            .created_ms = i,
            .node = {IX_NONE},
            .nominated_node = IX_NONE,
        };
    }
}

void packing_prepare(struct packing *p, const struct packing_trace *trace, uint64_t seed,
                     enum placement placement, struct arena *arena, struct arena *scratch)
{
    *p = (struct packing){.trace = trace, .arena = arena};
    draw_arrivals(p, seed);
    snapshot_init(&p->snap, 0);
    p->snap.config.gpu_placement = placement;
    p->snap.config.cpu_placement = placement == PLACEMENT_SPREAD ? placement : PLACEMENT_BINPACK;
    add_nodes(p);
    add_shapes(p);
    add_workloads(p);
    snapshot_canonicalise(&p->snap, arena);
    live_init(&p->live, &p->snap, arena, scratch);
}

void packing_run(struct packing *p, struct packing_result *out)
{
    *out = (struct packing_result){.drawn = p->drawn_count};
    uint32_t mark = 0;
    for (uint32_t i = 0; i < p->drawn_count; i++) {
        int64_t milli = asked_milli(&p->trace->tasks[p->drawn[i]]);
        bool placed = live_arrive(&p->live, i);
        out->asked_milli += milli;
        out->placed += placed;
        out->allocated_milli += placed ? milli : 0;
        for (; mark < PACKING_MARKS &&
               out->asked_milli * 100 >= p->trace->capacity_milli * packing_marks[mark];
             mark++) {
            out->allocated_at_milli[mark] = out->allocated_milli;
        }
    }
    CHECK(mark == PACKING_MARKS);
}
