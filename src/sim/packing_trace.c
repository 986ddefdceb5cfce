// SPDX-License-Identifier: Apache-2.0
// packing_trace: the columns are found by name, so that traces with more of them will do.
#include "sim/packing_trace.h"

#include "base/array.h"
#include "base/num.h"
#include "model/ids.h"

enum { COLUMNS_MAX = 16, NUMBER_MAX = 1000000000, DEVICES_MAX = 64 };

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
        out->capacity_milli += status ? 0 : n->devices * PACKING_MILLI;
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
        status = status ? status : number(&t, PART, PACKING_MILLI, &k->milli, err);
        if (k->devices != 1) {
            k->milli = k->devices == 0 ? 0 : PACKING_MILLI; // parts are of single devices
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

static bool ask_alike(const struct packing_task *a, const struct packing_task *b)
{
    return a->cpu_milli == b->cpu_milli && a->memory_mib == b->memory_mib &&
           a->devices == b->devices && a->milli == b->milli && str_eq(a->models, b->models);
}

// Production traces have some hundred shapes.
static void find_shapes(struct packing_trace *t, struct arena *arena)
{
    t->shape_of = ARENA_ARRAY(arena, uint32_t, t->task_count);
    t->shapes = ARENA_ARRAY(arena, uint32_t, t->task_count);
    for (uint32_t i = 0; i < t->task_count; i++) {
        uint32_t shape = 0;
        while (shape < t->shape_count && !ask_alike(&t->tasks[t->shapes[shape]], &t->tasks[i])) {
            shape++;
        }
        t->shapes[shape] = shape == t->shape_count ? i : t->shapes[shape];
        t->shape_count += shape == t->shape_count;
        t->shape_of[i] = shape;
    }
}

enum status packing_read(struct str nodes, struct str tasks, struct arena *arena,
                         struct packing_trace *out, struct err *err)
{
    *out = (struct packing_trace){0};
    enum status status = read_nodes(nodes, arena, out, err);
    status = status ? status : read_tasks(tasks, arena, out, err);
    if (status == STATUS_OK) {
        find_shapes(out, arena);
    }
    return status;
}
