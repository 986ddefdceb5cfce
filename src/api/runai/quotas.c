// SPDX-License-Identifier: Apache-2.0
// Quotas as Run:ai writes them: a list of resources, one entry a node pool. weir has one weight and
// one rank for a queue in a pool, where that list has a weight for each resource.
#include "api/runai/common.h"
#include "base/num.h"
#include "model/limits.h"
#include "model/priority.h"

#define SHARE_PER_MILLI (DEVICE_SHARE / 1000)
#define MIB             (INT64_C(1) << 20)
#define MB              INT64_C(1000000)
#define GB              INT64_C(1000000000)
#define DAY_MS          (INT64_C(24) * 3600 * 1000)

/* ---- ranks ---- */

static const struct str ranks[PRIORITY_WORD_COUNT] = {
    STRS("VeryLow"),    STRS("Low"),  STRS("MediumLow"), STRS("Medium"),
    STRS("MediumHigh"), STRS("High"), STRS("VeryHigh"),
};

struct str rank_name(int64_t rank)
{
    for (uint32_t i = 0; i < PRIORITY_WORD_COUNT; i++) {
        if (priority_words[i].value == rank) {
            return ranks[i];
        }
    }
    return STR("");
}

bool rank_find(struct str name, int64_t *rank)
{
    if (str_eq(name, STR("Normal"))) { /* the default's name in examples of the product */
        *rank = PRIORITY_RANK_DEFAULT;
        return true;
    }
    for (uint32_t i = 0; i < PRIORITY_WORD_COUNT; i++) {
        if (str_eq(ranks[i], name)) {
            *rank = priority_words[i].value;
            return true;
        }
    }
    return priority_parse(name, rank);
}

/* ---- reading ---- */

struct amount {
    int64_t *guaranteed, *max;
};

/* A number of the list in the model's unit; null and -1 are unlimited. */
static int64_t in_unit(int64_t milli, int64_t unit)
{
    if (milli < 0) {
        return AMOUNT_UNLIMITED;
    }
    return num_sat_mul_i64(milli / 1000, unit) + milli % 1000 * unit / 1000;
}

/* As much as can be shown in each of the units: see MemoryResource. */
#define MEMORY_MAX_BYTES (INT64_C(100000000000) * 1000000)

static void read_amount(const struct doc *d, int64_t unit, bool patch, int64_t absent,
                        struct amount out)
{
    bool has_guaranteed = doc_get(d, STR("deserved")) != NULL;
    bool has_max = doc_get(d, STR("limit")) != NULL;
    if (has_guaranteed || !patch) {
        int64_t v = body_milli(d, STR("deserved"), absent);
        *out.guaranteed = in_unit(v < 0 && absent == 0 ? 0 : v, unit);
    }
    if (has_max || !patch) {
        *out.max = in_unit(body_milli(d, STR("limit"), AMOUNT_UNLIMITED), unit);
    }
}

/* All weights that are given must be the same. */
static bool read_weight(struct call *c, const struct doc *entry, struct quota *q)
{
    static const struct str resources[] = {STRS("gpu"), STRS("cpu"), STRS("memory")};
    int64_t weight = -1;
    for (uint32_t i = 0; i < COUNT_OF(resources); i++) {
        int64_t v = body_milli(body_get(entry, resources[i]), STR("overQuotaWeight"), -1);
        if (v >= 0 && weight >= 0 && v != weight) {
            fail_field(c, "resources.overQuotaWeight", (struct str){0},
                       "the weights of the resources differ; weir has one for all of a node pool");
            return false;
        }
        weight = v >= 0 ? v : weight;
    }
    q->weight_milli = weight >= 0 ? weight : q->weight_milli;
    return true;
}

static bool read_entry(struct call *c, const struct doc *entry, bool patch, struct quota *q)
{
    static const struct str units[] = {STRS("Mib"), STRS("MB"), STRS("GB")};
    static const int64_t bytes[] = {MIB, MB, GB};
    const struct doc *gpu = body_get(entry, STR("gpu"));
    const struct doc *cpu = body_get(entry, STR("cpu"));
    const struct doc *memory = body_get(entry, STR("memory"));
    if (gpu != NULL || !patch) {
        read_amount(gpu, DEVICE_SHARE, patch, 0, (struct amount){&q->gpu_share, &q->gpu_max_share});
    }
    if (cpu != NULL || !patch) {
        read_amount(cpu, 1, patch, AMOUNT_UNLIMITED,
                    (struct amount){&q->cpu_milli, &q->cpu_max_milli});
    }
    if (memory != NULL || !patch) {
        read_amount(memory, bytes[body_word(memory, STR("units"), units, COUNT_OF(units), 0)],
                    patch, AMOUNT_UNLIMITED,
                    (struct amount){&q->memory_bytes, &q->memory_max_bytes});
        if (q->memory_bytes > MEMORY_MAX_BYTES || q->memory_max_bytes > MEMORY_MAX_BYTES) {
            fail_field(c, "resources.memory", (struct str){0},
                       "expected at most 100000000000 MB, in whatever units");
            return false;
        }
    }
    q->over_quota = true; /* said by the maximum here */
    struct str rank = body_str(entry, STR("rank"));
    rank = rank.len > 0 ? rank : body_str(entry, STR("priority"));
    if (rank.len > 0 && !rank_find(rank, &q->rank)) {
        fail_field(c, "resources.priority", rank,
                   "expected VeryLow, Low, MediumLow, Medium, MediumHigh, High or VeryHigh");
        return false;
    }
    return read_weight(c, entry, q);
}

/* Which pool an entry is for: by id, or by name where the id says nothing; `default` without. */
static const struct pool *pool_of(struct call *c, const struct doc *entry)
{
    const struct doc *ref = body_get(entry, STR("nodePool"));
    struct str id = body_str(ref, STR("id"));
    struct str name = ref != NULL ? body_str(ref, STR("name")) : STR("default");
    const struct pool *p = find_pool_id(c, id);
    for (uint32_t i = 0; p == NULL && name.len > 0 && i < plan_of(c)->pools_count; i++) {
        if (str_eq(plan_of(c)->pools[i].name, name)) {
            p = &plan_of(c)->pools[i];
        }
    }
    if (p == NULL) {
        struct err err;
        struct str shown = id.len > 0 ? id : name;
        err_set(&err, STATUS_UNKNOWN, "there is no node pool " STR_FMT,
                STR_ARG(str_clip(shown, 100)));
        err_field(&err, "resources.nodePool.id");
        err_hint(&err, "GET /api/v1/node-pools lists those there are");
        c->value = str_clip(shown, 100);
        call_refuse(c, NULL, &err);
    }
    return p;
}

bool quotas_read(struct call *c, const struct doc *resources, bool patch, const struct quota *from,
                 uint32_t from_count, struct quota **out, uint32_t *count)
{
    const struct plan *plan = plan_of(c);
    struct quota *quotas = ARENA_ARRAY(c->arena, struct quota, plan->pools_count);
    bool *named = ARENA_ARRAY(c->arena, bool, plan->pools_count);
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        quotas[i] = plan_quota(patch ? from : NULL, patch ? from_count : 0, plan->pools[i].name);
    }
    for (const struct doc *d = resources != NULL ? resources->child : NULL; d != NULL;
         d = d->next) {
        const struct pool *pool = pool_of(c, d);
        if (pool == NULL) {
            return false;
        }
        size_t at = (size_t)(pool - plan->pools);
        if (named[at]) {
            fail_field(c, "resources.nodePool.id", pool->name,
                       "node pool \"" STR_FMT "\" is named twice", STR_ARG(pool->name));
            return false;
        }
        named[at] = true;
        if (!read_entry(c, d, patch, &quotas[at])) {
            return false;
        }
    }
    *out = quotas;
    *count = plan->pools_count;
    return true;
}

/* ---- showing ---- */

/* In the unit that says it without a fraction. */
static void show_memory(struct jw *w, const struct quota *q)
{
    bool whole = (q->memory_bytes < 0 || q->memory_bytes % MIB == 0) &&
                 (q->memory_max_bytes < 0 || q->memory_max_bytes % MIB == 0);
    const struct {
        struct str key;
        int64_t bytes;
    } amounts[] = {
        {STRS("deserved"), q->memory_bytes    },
        {STRS("limit"),    q->memory_max_bytes}
    };
    jw_key(w, STR("memory"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < COUNT_OF(amounts); i++) {
        jw_key(w, amounts[i].key);
        if (amounts[i].bytes < 0) {
            jw_null(w);
        } else if (whole) {
            jw_i64(w, amounts[i].bytes / MIB);
        } else {
            jw_decimal(w, amounts[i].bytes / 1000, 3);
        }
    }
    show_milli(w, STR("overQuotaWeight"), q->weight_milli);
    jw_member_string(w, STR("units"), whole ? STR("Mib") : STR("MB"));
    jw_object_end(w);
}

static void show_millicores(struct jw *w, struct str key, int64_t milli)
{
    jw_key(w, key);
    if (milli < 0) {
        jw_null(w);
    } else {
        jw_i64(w, milli);
    }
}

static void show_quota(struct jw *w, const struct pool *pool, const struct quota *q)
{
    jw_object_begin(w);
    jw_key(w, STR("nodePool"));
    jw_object_begin(w);
    show_id(w, STR("id"), pool->id);
    jw_member_string(w, STR("name"), pool->name);
    jw_object_end(w);
    jw_key(w, STR("gpu"));
    jw_object_begin(w);
    show_amount(w, STR("deserved"), RES_GPU, q->gpu_share);
    show_amount(w, STR("limit"), RES_GPU, q->over_quota ? q->gpu_max_share : q->gpu_share);
    show_milli(w, STR("overQuotaWeight"), q->weight_milli);
    jw_object_end(w);
    jw_key(w, STR("cpu"));
    jw_object_begin(w);
    show_millicores(w, STR("deserved"), q->cpu_milli);
    show_millicores(w, STR("limit"), q->cpu_max_milli);
    show_milli(w, STR("overQuotaWeight"), q->weight_milli);
    jw_object_end(w);
    show_memory(w, q);
    jw_member_string(w, STR("priority"), rank_name(q->rank));
    jw_object_end(w);
}

void quotas_show(struct call *c, struct jw *w, struct str key, const struct quota *quotas,
                 uint32_t count)
{
    if (key.len > 0) {
        jw_key(w, key);
    }
    jw_array_begin(w);
    for (uint32_t i = 0; i < plan_of(c)->pools_count; i++) {
        const struct pool *pool = &plan_of(c)->pools[i];
        struct quota q = plan_quota(quotas, count, pool->name);
        show_quota(w, pool, &q);
    }
    jw_array_end(w);
}

int64_t quotas_gpus_milli(const struct call *c, const struct quota *quotas, uint32_t count)
{
    int64_t share = 0;
    for (uint32_t i = 0; i < plan_of(c)->pools_count; i++) {
        share += plan_quota(quotas, count, plan_of(c)->pools[i].name).gpu_share;
    }
    return share / SHARE_PER_MILLI;
}

void quotas_show_total(struct call *c, struct jw *w, const struct quota *quotas, uint32_t count)
{
    int64_t cpu_milli = 0;
    int64_t memory_bytes = 0;
    for (uint32_t i = 0; i < plan_of(c)->pools_count; i++) {
        struct quota q = plan_quota(quotas, count, plan_of(c)->pools[i].name);
        cpu_milli = cpu_milli < 0 || q.cpu_milli < 0 ? -1 : cpu_milli + q.cpu_milli;
        memory_bytes = memory_bytes < 0 || q.memory_bytes < 0 ? -1 : memory_bytes + q.memory_bytes;
    }
    jw_key(w, STR("totalResources"));
    jw_object_begin(w);
    show_milli(w, STR("gpuQuota"), quotas_gpus_milli(c, quotas, count));
    show_millicores(w, STR("cpuQuota"), cpu_milli);
    show_millicores(w, STR("memoryQuota"), memory_bytes < 0 ? -1 : memory_bytes / MB);
    jw_object_end(w);
}

/* ---- what is held and asked for ---- */

static void show_three(struct jw *w, struct str key, int64_t share, int64_t cpu_milli,
                       int64_t memory_bytes)
{
    jw_key(w, key);
    jw_object_begin(w);
    show_amount(w, STR("gpu"), RES_GPU, share);
    jw_member_i64(w, STR("cpu"), cpu_milli);
    jw_member_i64(w, STR("memory"), memory_bytes / MB);
    jw_object_end(w);
}

static void add_held(struct held *into, const struct held *what)
{
    into->gpu_share = num_sat_add_i64(into->gpu_share, what->gpu_share);
    into->cpu_milli = num_sat_add_i64(into->cpu_milli, what->cpu_milli);
    into->memory_bytes = num_sat_add_i64(into->memory_bytes, what->memory_bytes);
}

/* What the work that has not ended and is to run asks for, counted once in a call; a part of a device
 * in memory counts as a whole one. */
struct demands {
    struct held *projects, *departments; /* [(pool or, last, all) * count + queue] */
};

static uint32_t row_of(const void *rows, size_t size, uint32_t count, struct str name)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct str *have = (const void *)((const char *)rows + middle * size);
        int order = str_cmp(*have, name);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return count;
}

#define ROW_OF(rows, count, name) row_of((rows), sizeof *(rows), (count), (name))

static void add_demand(const struct plan *plan, const struct demands *d, const struct workload *wl)
{
    const struct pod_spec *p = &wl->spec.pod;
    int64_t each = p->gpu_portion_share > 0 ? p->gpu_portion_share : DEVICE_SHARE;
    struct held h = {.gpu_share = wl->spec.pods * p->gpu_devices * each,
                     .cpu_milli = wl->spec.pods * p->cpu_milli,
                     .memory_bytes = wl->spec.pods * p->memory_bytes};
    uint32_t project = ROW_OF(plan->projects, plan->projects_count, wl->project);
    uint32_t pool = plan->pools_count;
    if (wl->pool_ix < wl->spec.pools_count) {
        pool = ROW_OF(plan->pools, plan->pools_count, wl->spec.pools[wl->pool_ix].value);
    }
    const uint32_t places[] = {pool, plan->pools_count};
    for (uint32_t i = pool == plan->pools_count; i < COUNT_OF(places); i++) {
        if (project < plan->projects_count) {
            add_held(&d->projects[places[i] * plan->projects_count + project], &h);
        }
        struct str up = project < plan->projects_count ? plan->projects[project].department
                                                       : (struct str){0};
        for (uint32_t depth = 0; up.len > 0 && depth <= QUEUE_DEPTH_MAX; depth++) {
            uint32_t at = ROW_OF(plan->departments, plan->departments_count, up);
            if (at == plan->departments_count) {
                break;
            }
            add_held(&d->departments[places[i] * plan->departments_count + at], &h);
            up = plan->departments[at].parent;
        }
    }
}

static const struct demands *demands_of(struct call *c)
{
    const struct state *st = state_of(c);
    const struct plan *plan = &st->plan;
    if (c->demands == NULL) {
        struct demands *d = ARENA_NEW(c->arena, struct demands);
        size_t places = (size_t)plan->pools_count + 1;
        d->projects = ARENA_ARRAY(c->arena, struct held, places * plan->projects_count);
        d->departments = ARENA_ARRAY(c->arena, struct held, places * plan->departments_count);
        for (uint32_t i = 0; i < st->workloads_count; i++) {
            const struct workload *wl = &st->workloads[i];
            if (wl->end_ms == TIME_NEVER && wl->desired == WANT_RUN) {
                add_demand(plan, d, wl);
            }
        }
        c->demands = d;
    }
    return c->demands;
}

static struct held requested(struct call *c, struct str queue, bool department, struct str pool)
{
    const struct plan *plan = plan_of(c);
    const struct demands *d = demands_of(c);
    uint32_t place = pool.len > 0 ? ROW_OF(plan->pools, plan->pools_count, pool)
                                  : plan->pools_count;
    if (department) {
        uint32_t at = ROW_OF(plan->departments, plan->departments_count, queue);
        return d->departments[place * plan->departments_count + at];
    }
    uint32_t at = ROW_OF(plan->projects, plan->projects_count, queue);
    return d->projects[place * plan->projects_count + at];
}

static void show_status_of(struct call *c, struct jw *w, struct str queue, bool department,
                           struct str pool)
{
    struct held h = engine_held(c->api->config.engine, pool, queue, department);
    struct held r = requested(c, queue, department, pool);
    show_three(w, STR("allocated"), h.gpu_share, h.cpu_milli, h.memory_bytes);
    show_three(w, STR("allocatedNonPreemptible"), h.gpu_share_nonpreemptible,
               h.cpu_milli_nonpreemptible, h.memory_bytes_nonpreemptible);
    show_three(w, STR("requested"), r.gpu_share, r.cpu_milli, r.memory_bytes);
}

void quota_status_show(struct call *c, struct jw *w, struct str queue, bool department,
                       bool with_pools)
{
    jw_key(w, STR("quotaStatus"));
    jw_object_begin(w);
    show_status_of(c, w, queue, department, STR(""));
    jw_object_end(w);
    if (!with_pools) {
        return;
    }
    jw_key(w, STR("nodePoolQuotaStatuses"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < plan_of(c)->pools_count; i++) {
        const struct pool *pool = &plan_of(c)->pools[i];
        jw_object_begin(w);
        show_status_of(c, w, queue, department, pool->name);
        jw_member_string(w, STR("nodePoolName"), pool->name);
        show_id(w, STR("nodePoolId"), pool->id);
        jw_object_end(w);
    }
    jw_array_end(w);
}

int64_t gpu_average_milli(const struct call *c, struct str queue, bool department, int64_t back_ms)
{
    int64_t now_ms = num_max_i64(c->api->config.now_ms(), state_of(c)->now_ms);
    struct amounts used = engine_used(c->api->config.engine, STR(""), queue, department,
                                      now_ms - back_ms, now_ms);
    return used.v[RES_GPU] / back_ms * 1000 / DEVICE_SHARE;
}

void overtime_show(struct call *c, struct jw *w, struct str queue, bool department)
{
    static const struct {
        struct str key;
        int64_t days;
    } ranges[] = {
        {STRS("range24hData"), 1 },
        {STRS("range7dData"),  7 },
        {STRS("range30dData"), 30}
    };
    jw_key(w, STR("overtimeData"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < COUNT_OF(ranges); i++) {
        jw_key(w, ranges[i].key);
        jw_object_begin(w);
        show_milli(w, STR("averageGpuAllocation"),
                   gpu_average_milli(c, queue, department, ranges[i].days * DAY_MS));
        show_moment(w, STR("updatedAt"), c->api->config.now_ms());
        jw_object_end(w);
    }
    jw_object_end(w);
}
