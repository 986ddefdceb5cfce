// SPDX-License-Identifier: Apache-2.0
// Workloads in numbers, now: /api/v1/workloads/telemetry.
#include "api/runai/amounts.h"
#include "api/runai/series.h"
#include "api/runai/workloads.h"
#include "base/array.h"
#include "base/map.h"

struct telemetry_row {
    struct telemetry_group groups[8];
    uint32_t groups_count;
    int64_t milli;
};

static void group_by(const struct call *c, struct telemetry_row *r, const char *word,
                     struct str value, struct str name)
{
    struct str key = str_from_c(word);
    if (telemetry_by(c, key)) {
        r->groups[r->groups_count++] = (struct telemetry_group){key, value, name};
    }
}

static struct telemetry_row row_of(const struct call *c, const struct workload *wl)
{
    struct telemetry_row r = {0};
    struct str department = workload_department(c, wl);
    group_by(c, &r, "ClusterId", cluster_id_text(c), state_of(c)->cluster_name);
    group_by(c, &r, "DepartmentId", workload_department_id(c, wl), department);
    group_by(c, &r, "ProjectId", workload_project_id(c, wl), wl->project);
    group_by(c, &r, "Type", kind_type(wl->kind), kind_type(wl->kind));
    group_by(c, &r, "CurrentNodepools", workload_pool(wl), workload_pool(wl));
    group_by(c, &r, "Phase", workload_phase(wl), workload_phase(wl));
    group_by(c, &r, "Category", workload_category(c, wl), workload_category(c, wl));
    return r;
}

static struct str row_key(const struct call *c, const struct telemetry_row *r)
{
    struct str key = {0};
    for (uint32_t i = 0; i < r->groups_count; i++) {
        key = arena_printf(c->arena, STR_FMT "/" STR_FMT, STR_ARG(key),
                           STR_ARG(r->groups[i].value));
    }
    return key;
}

static bool telemetry_counts(struct call *c, const struct workload *wl)
{
    const struct doc *phases = body_get(c->args, STR("filterByPhases"));
    struct str pool = body_str(c->args, STR("nodepoolName"));
    struct str department = body_str(c->args, STR("departmentId"));
    bool ok = !workload_is_deleted(wl) && (pool.len == 0 || str_eq(pool, workload_pool(wl))) &&
              (department.len == 0 || str_eq(department, workload_department_id(c, wl)));
    bool in = phases == NULL;
    for (const struct doc *d = phases != NULL ? phases->child : NULL; d != NULL; d = d->next) {
        in = in || str_eq(d->text, workload_phase(wl));
    }
    return ok && in && sight_workload(call_sight(c), wl);
}

static void telemetry(struct call *c)
{
    const struct state *st = state_of(c);
    struct telemetry t;
    ARRAY(struct telemetry_row) rows = {0};
    struct map by_key;
    map_init(&by_key, c->arena);
    telemetry_begin(&t, c);
    bool gpus = str_eq(t.type, STR("GPU_ALLOCATION"));
    bool known = gpus || str_eq(t.type, STR("WORKLOADS_COUNT"));
    for (uint32_t i = 0; known && i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        if (!telemetry_counts(c, wl)) {
            continue;
        }
        struct telemetry_row r = row_of(c, wl);
        struct str key = row_key(c, &r);
        uint32_t at;
        if (!map_get(&by_key, key, &at)) {
            at = rows.count;
            map_put(&by_key, key, at);
            *ARRAY_PUSH(c->arena, &rows) = r;
        }
        rows.items[at].milli += gpus ? amounts_holding(c, wl).share * 1000 / DEVICE_SHARE : 1000;
    }
    if (known && rows.count == 0 && body_get(c->args, STR("groupBy")) == NULL) {
        telemetry_value(&t, 0, NULL, 0);
    }
    for (uint32_t i = 0; i < rows.count; i++) {
        telemetry_value(&t, rows.items[i].milli, rows.items[i].groups, rows.items[i].groups_count);
    }
    telemetry_end(&t);
}

static const struct route routes[] = {
    {"GET", "/api/v1/workloads/telemetry", "get_workloads_telemetry", telemetry,
     "clusterId uuid, nodepoolName str, departmentId str, groupBy "
     "['ClusterId'|'DepartmentId'|'ProjectId'|'Type'|'CurrentNodepools'|'Phase'|'Category'],"
     "telemetryType* 'WORKLOADS_COUNT'|'GPU_ALLOCATION'|'PENDING_TIME_DISTRIBUTION', "
     "filterByPhases [Phase]", NULL, 200, "TelemetryResponse", "Workloads in numbers, now", 0, "read workloads"},
};

const struct route_group group_workload_telemetry = {"Workloads", routes, COUNT_OF(routes), NULL,
                                                     0};
