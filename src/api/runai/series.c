// SPDX-License-Identifier: Apache-2.0
#include "api/runai/series.h"

#include "base/num.h"

enum { CSV_BYTES_MAX = 16 << 20 };

static bool wants_csv(const struct call *c)
{
    return str_starts(http_header(c->request, "Accept"), STR("text/csv"));
}

static struct str milli_text(int64_t milli, char *out, size_t size)
{
    struct buf b;
    struct jw w;
    buf_init(&b, size);
    jw_init(&w, &b, false);
    jw_decimal(&w, milli, 3);
    struct str text = str_format(out, size, STR_FMT, STR_ARG(buf_view(&b)));
    buf_done(&b);
    return text;
}

/* ---- over time ---- */

struct span {
    int64_t start_ms, end_ms, now_ms, samples;
};

static bool read_span(struct call *c, struct span *s)
{
    s->start_ms = body_time(c->args, STR("start"), 0);
    s->end_ms = body_time(c->args, STR("end"), 0);
    s->samples = body_i64(c->args, STR("numberOfSamples"), 0);
    s->now_ms = num_max_i64(c->api->config.now_ms(), state_of(c)->now_ms);
    if (s->start_ms <= s->end_ms) {
        return true;
    }
    struct err err;
    err_set(&err, STATUS_INVALID, "the start is after the end");
    err_field(&err, "start");
    c->value = body_str(c->args, STR("start"));
    call_fail(c, &err);
    return false;
}

/* The i-th sample; false: it is in the future. */
static bool nth(const struct span *s, int64_t i, struct sample *out)
{
    int64_t length_ms = s->end_ms - s->start_ms;
    out->from_ms = s->start_ms + num_muldiv_floor(length_ms, i, s->samples);
    out->to_ms = s->start_ms + num_muldiv_floor(length_ms, i + 1, s->samples);
    return out->to_ms <= s->now_ms;
}

static bool take(const struct metrics *m, const struct span *s, int64_t i, struct sample *out,
                 int64_t *milli)
{
    return nth(s, i, out) && m->value(m, out, milli);
}

static void show_measurement(const struct metrics *m, const struct span *s, struct sample *sample,
                             struct jw *w)
{
    char text[64];
    jw_object_begin(w);
    jw_member_string(w, STR("type"), sample->type);
    if (m->show_variant != NULL) {
        m->show_variant(m, sample->type, sample->variant, w);
    } else {
        jw_key(w, STR("labels"));
        jw_object_begin(w);
        jw_object_end(w);
    }
    jw_key(w, STR("values"));
    jw_array_begin(w);
    for (int64_t i = 0; i < s->samples; i++) {
        int64_t milli;
        if (take(m, s, i, sample, &milli)) {
            jw_object_begin(w);
            jw_member_string(w, STR("value"), milli_text(milli, text, sizeof text));
            show_moment(w, STR("timestamp"), sample->to_ms);
            jw_object_end(w);
        }
    }
    jw_array_end(w);
    jw_object_end(w);
}

static void csv_measurement(const struct metrics *m, const struct span *s, struct sample *sample,
                            struct buf *out)
{
    char text[64];
    char at[RFC3339_TEXT_SIZE];
    struct buf variant;
    struct jw w;
    buf_init(&variant, 4096);
    jw_init(&w, &variant, false);
    jw_object_begin(&w);
    if (m->show_variant != NULL) {
        m->show_variant(m, sample->type, sample->variant, &w);
    }
    jw_object_end(&w);
    for (int64_t i = 0; i < s->samples; i++) {
        int64_t milli;
        if (!take(m, s, i, sample, &milli)) {
            continue;
        }
        buf_printf(out, STR_FMT ",\"", STR_ARG(sample->type));
        for (size_t k = 0; k < variant.len; k++) {
            buf_add(out, "\"\"", variant.ptr[k] == '"' ? 1 : 0); /* doubled inside quotes */
            buf_char(out, variant.ptr[k]);
        }
        buf_printf(out, "\"," STR_FMT "," STR_FMT "\n", STR_ARG(rfc3339_format(sample->to_ms, at)),
                   STR_ARG(milli_text(milli, text, sizeof text)));
    }
    buf_done(&variant);
}

void metrics_answer(const struct metrics *m)
{
    struct call *c = m->c;
    struct span span;
    bool csv = wants_csv(c);
    bool partial = false;
    struct buf lines;
    struct jw w;
    if (!read_span(c, &span)) {
        return;
    }
    buf_init(&lines, CSV_BYTES_MAX);
    buf_str(&lines, STR("type,labels,timestamp,value\n"));
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("measurements"));
    jw_array_begin(&w);
    const struct doc *types = body_get(c->args, STR("metricType"));
    for (const struct doc *d = types->child; d != NULL; d = d->next) {
        uint32_t variants = m->variants != NULL ? m->variants(m, d->text) : 1;
        partial = partial || (m->measured != NULL && !m->measured(d->text));
        for (uint32_t v = 0; v < variants; v++) {
            struct sample sample = {.type = d->text, .variant = v};
            if (csv) {
                csv_measurement(m, &span, &sample, &lines);
            } else {
                show_measurement(m, &span, &sample, &w);
            }
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    int code = partial ? 207 : 200;
    if (csv) {
        http_answer(c->request, code, "text/csv", buf_view(&lines));
        buf_done(&c->text);
    } else {
        call_send(c, code);
    }
    buf_done(&lines);
}

/* ---- now ---- */

void telemetry_begin(struct telemetry *t, struct call *c)
{
    *t = (struct telemetry){.c = c, .csv = wants_csv(c)};
    t->type = body_str(c->args, STR("telemetryType"));
    call_begin(c, &t->w);
    if (t->csv) {
        buf_str(&c->text, STR("type,group,value\n"));
        return;
    }
    jw_object_begin(&t->w);
    jw_member_string(&t->w, STR("type"), t->type);
    show_moment(&t->w, STR("timestamp"), c->api->config.now_ms());
    jw_key(&t->w, STR("values"));
    jw_array_begin(&t->w);
}

void telemetry_value(struct telemetry *t, int64_t milli, const struct telemetry_group *groups,
                     uint32_t groups_count)
{
    char text[64];
    struct str value = milli_text(milli, text, sizeof text);
    if (t->csv) {
        buf_printf(&t->c->text, STR_FMT ",", STR_ARG(t->type));
        for (uint32_t i = 0; i < groups_count; i++) {
            buf_printf(&t->c->text, "%s" STR_FMT "=" STR_FMT, i > 0 ? ";" : "",
                       STR_ARG(groups[i].key), STR_ARG(groups[i].value));
        }
        buf_printf(&t->c->text, "," STR_FMT "\n", STR_ARG(value));
        return;
    }
    jw_object_begin(&t->w);
    jw_member_string(&t->w, STR("value"), value);
    jw_key(&t->w, STR("groups"));
    jw_array_begin(&t->w);
    for (uint32_t i = 0; i < groups_count; i++) {
        jw_object_begin(&t->w);
        jw_member_string(&t->w, STR("key"), groups[i].key);
        jw_member_string(&t->w, STR("value"), groups[i].value);
        jw_member_string(&t->w, STR("name"), groups[i].name);
        jw_object_end(&t->w);
    }
    jw_array_end(&t->w);
    jw_object_end(&t->w);
}

void telemetry_end(struct telemetry *t)
{
    if (t->csv) {
        http_answer(t->c->request, 200, "text/csv", buf_view(&t->c->text));
        buf_done(&t->c->text);
        return;
    }
    jw_array_end(&t->w);
    jw_object_end(&t->w);
    call_send(t->c, 200);
}

bool telemetry_by(const struct call *c, struct str word)
{
    const struct doc *by = body_get(c->args, STR("groupBy"));
    for (const struct doc *d = by != NULL ? by->child : NULL; d != NULL; d = d->next) {
        if (str_eq(d->text, word)) {
            return true;
        }
    }
    return false;
}

/* ---- departments and projects ---- */

struct queue {
    struct str name, pool; /* pool empty: all */
    bool department;
    const struct quota *quotas;
    uint32_t quotas_count;
    int64_t since_ms; /* its quotas are these */
};

static struct queue queue_of(const struct call *c, struct str name, bool department)
{
    const struct plan *plan = plan_of(c);
    struct queue q = {.name = name, .department = department};
    for (uint32_t i = 0; department && i < plan->departments_count; i++) {
        const struct department *d = &plan->departments[i];
        if (str_eq(d->name, name)) {
            q.quotas = d->quotas;
            q.quotas_count = d->quotas_count;
            q.since_ms = d->stamp.updated_ms;
        }
    }
    const struct project *p = department ? NULL : show_find_project(plan, name);
    if (p != NULL) {
        q.quotas = p->quotas;
        q.quotas_count = p->quotas_count;
        q.since_ms = p->stamp.updated_ms;
    }
    return q;
}

/* In thousandths of the unit of the wire: devices, millicores, MB; -1: unlimited. */
static int64_t quota_milli(const struct call *c, const struct queue *q, enum resource r)
{
    const struct plan *plan = plan_of(c);
    int64_t sum = 0;
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        struct quota quota = plan_quota(q->quotas, q->quotas_count, plan->pools[i].name);
        int64_t v = r == RES_GPU   ? quota.gpu_share * 1000 / DEVICE_SHARE
                    : r == RES_CPU ? quota.cpu_milli
                                   : quota.memory_bytes / 1000;
        if (q->pool.len == 0 || str_eq(q->pool, plan->pools[i].name)) {
            if ((r == RES_CPU && quota.cpu_milli < 0) ||
                (r == RES_MEMORY && quota.memory_bytes < 0)) {
                return -1000;
            }
            sum += r == RES_CPU ? v * 1000 : v;
        }
    }
    return sum;
}

static bool is_quota(struct str type)
{
    return str_starts(type, STR("GPU_QUOTA")) || str_starts(type, STR("CPU_QUOTA")) ||
           str_starts(type, STR("CPU_MEMORY_QUOTA")) || str_starts(type, STR("MEMORY_QUOTA"));
}

static enum resource resource_of(struct str type)
{
    return str_starts(type, STR("GPU_"))                                              ? RES_GPU
           : str_starts(type, STR("CPU_MEMORY_")) || str_starts(type, STR("MEMORY_")) ? RES_MEMORY
                                                                                      : RES_CPU;
}

static bool queue_measured(struct str type)
{
    return !str_eq(type, STR("GPU_MEMORY_UTILIZATION"));
}

static bool queue_value(const struct metrics *m, const struct sample *s, int64_t *milli)
{
    const struct queue *q = m->ctx;
    enum resource r = resource_of(s->type);
    int64_t length_ms = num_max_i64(s->to_ms - s->from_ms, 1);
    if (!queue_measured(s->type)) {
        return false;
    }
    if (is_quota(s->type)) { /* earlier ones are not kept */
        *milli = quota_milli(m->c, q, r);
        return s->to_ms >= q->since_ms;
    }
    struct amounts used = engine_used(m->c->api->config.engine, q->pool, q->name, q->department,
                                      s->to_ms - length_ms, s->to_ms);
    int64_t average = used.v[r] / length_ms;
    *milli = r == RES_GPU   ? average * 1000 / DEVICE_SHARE
             : r == RES_CPU ? average * 1000
                            : num_muldiv_floor(average, (1 << 20), 1000);
    return true;
}

/* The pool that nodepoolName names; false: answered. */
static bool read_pool(struct call *c, struct str *out)
{
    struct str name = body_str(c->args, STR("nodepoolName"));
    const struct plan *plan = plan_of(c);
    *out = name;
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        if (str_eq(plan->pools[i].name, name)) {
            return true;
        }
    }
    if (name.len > 0) {
        fail_unknown(c, "node pool", name);
    }
    return name.len == 0;
}

void queue_metrics(struct call *c, struct str queue, bool department)
{
    struct queue q = queue_of(c, queue, department);
    struct metrics m = {.c = c, .ctx = &q, .value = queue_value, .measured = queue_measured};
    if (read_pool(c, &q.pool)) {
        metrics_answer(&m);
    }
}

static int64_t held_milli(const struct call *c, const struct queue *q, struct str type)
{
    struct held h = engine_held(c->api->config.engine, q->pool, q->name, q->department);
    bool fixed = str_ends(type, STR("_NON_PREEMPTIBLE"));
    switch (resource_of(type)) {
    case RES_GPU:
        return (fixed ? h.gpu_share_nonpreemptible : h.gpu_share) * 1000 / DEVICE_SHARE;
    case RES_CPU:
        return (fixed ? h.cpu_milli_nonpreemptible : h.cpu_milli) * 1000;
    case RES_MEMORY:
        return (fixed ? h.memory_bytes_nonpreemptible : h.memory_bytes) / 1000;
    case RES_COUNT:
        break;
    }
    return 0;
}

static int64_t now_milli(const struct call *c, const struct queue *q, struct str type)
{
    return is_quota(type) ? quota_milli(c, q, resource_of(type)) : held_milli(c, q, type);
}

static int64_t sum_milli(int64_t sum, int64_t v)
{
    return sum < 0 || v < 0 ? -1000 : sum + v;
}

/* Of all projects (those of one department), told apart as asked: by their department, by pool. */
static void project_telemetry(struct call *c, struct telemetry *t, const struct pool *pool,
                              const struct department *only)
{
    const struct plan *plan = plan_of(c);
    bool by_parent = telemetry_by(c, STR("ParentId"));
    struct telemetry_group groups[3];
    uint32_t common = 0;
    if (telemetry_by(c, STR("ClusterId"))) {
        groups[common++] = (struct telemetry_group){STR("ClusterId"), cluster_id_text(c),
                                                    state_of(c)->cluster_name};
    }
    if (telemetry_by(c, STR("NodepoolId")) && pool != NULL) {
        groups[common++] = (struct telemetry_group){
            STR("NodepoolId"), arena_printf(c->arena, "%u", pool->id), pool->name};
    }
    int64_t total = 0;
    for (uint32_t d = 0; d < plan->departments_count; d++) {
        int64_t sum = 0;
        bool any = false;
        for (uint32_t i = 0; i < plan->projects_count; i++) {
            const struct project *p = &plan->projects[i];
            if (!str_eq(p->department, plan->departments[d].name) ||
                !sight_project(call_sight(c), i) ||
                (only != NULL && only != &plan->departments[d])) {
                continue;
            }
            struct queue q = queue_of(c, p->name, false);
            q.pool = pool != NULL ? pool->name : (struct str){0};
            sum = sum_milli(sum, now_milli(c, &q, t->type));
            any = true;
        }
        total = any ? sum_milli(total, sum) : total;
        if (by_parent && any) {
            groups[common] = (struct telemetry_group){
                STR("ParentId"), arena_printf(c->arena, "%u", plan->departments[d].id),
                plan->departments[d].name};
            telemetry_value(t, sum, groups, common + 1);
        }
    }
    if (!by_parent) {
        telemetry_value(t, total, groups, common);
    }
}

static void department_telemetry(struct call *c, struct telemetry *t, struct str pool,
                                 const struct department *only)
{
    const struct plan *plan = plan_of(c);
    struct telemetry_group group = {STR("CLUSTER_ID"), cluster_id_text(c),
                                    state_of(c)->cluster_name};
    int64_t total = 0;
    for (uint32_t d = 0; d < plan->departments_count; d++) {
        struct queue q = queue_of(c, plan->departments[d].name, true);
        bool inside = plan->departments[d].parent.len > 0; /* its parent counts it */
        q.pool = pool;
        if (sight_department(call_sight(c), d) &&
            (only != NULL ? only == &plan->departments[d] : !inside)) {
            total = sum_milli(total, now_milli(c, &q, t->type));
        }
    }
    telemetry_value(t, total, &group, telemetry_by(c, STR("CLUSTER_ID")) ? 1 : 0);
}

void queue_telemetry(struct call *c, bool departments)
{
    struct str department_id = body_str(c->args, STR("departmentId"));
    struct str pool_id = body_str(c->args, STR("nodepoolId"));
    const struct department *only = find_department_id(c, department_id);
    const struct pool *pool = find_pool_id(c, pool_id);
    struct str pool_name;
    struct telemetry t;
    if (department_id.len > 0 && only == NULL) {
        fail_unknown(c, "department", department_id);
    } else if (pool_id.len > 0 && pool == NULL) {
        fail_unknown(c, "node pool", pool_id);
    } else if (read_pool(c, &pool_name)) {
        telemetry_begin(&t, c);
        if (departments) {
            department_telemetry(c, &t, pool_name, only);
        } else if (pool == NULL && telemetry_by(c, STR("NodepoolId"))) {
            for (uint32_t i = 0; i < plan_of(c)->pools_count; i++) {
                project_telemetry(c, &t, &plan_of(c)->pools[i], only);
            }
        } else {
            project_telemetry(c, &t, pool, only);
        }
        telemetry_end(&t);
    }
}
