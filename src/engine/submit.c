// SPDX-License-Identifier: Apache-2.0
// submit: a workload is checked and its defaults filled in; whether and where it runs is the
// scheduler's to say. What the project may not start now (quota, limit, hardware) is accepted and
// waits with its reason.
#include <inttypes.h>

#include "base/array.h"
#include "base/check.h"
#include "base/num.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/limits.h"
#include "model/priority.h"
#include "model/units.h"

/* ---- form ---- */

struct range {
    const char *field;
    int64_t value, least, most;
    const char *unit;
};

static bool in_ranges(const struct range *ranges, uint32_t count, struct outcome *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct range *r = &ranges[i];
        if (r->value < r->least || r->value > r->most) {
            out->status = err_set(&out->err, STATUS_INVALID,
                                  "%" PRId64 " is not allowed, expected %" PRId64 " to %" PRId64
                                  "%s",
                                  r->value, r->least, r->most, r->unit);
            err_field(&out->err, "%s", r->field);
            return false;
        }
    }
    return true;
}

static bool pod_numbers_ok(const struct pod_spec *p, struct outcome *out)
{
    const struct range ranges[] = {
        {"pod.gpu_devices",        p->gpu_devices,        0,  NODE_DEVICES_MAX,  " devices"   },
        {"pod.gpu_portion_share",  p->gpu_portion_share,  0,  DEVICE_SHARE,      ""           },
        {"pod.gpu_memory_bytes",   p->gpu_memory_bytes,   0,  AMOUNT_MAX,        " bytes"     },
        {"pod.cpu_milli",          p->cpu_milli,          0,  AMOUNT_MAX,        " millicores"},
        {"pod.memory_bytes",       p->memory_bytes,       0,  AMOUNT_MAX,        " bytes"     },
        {"pod.cpu_limit_milli",    p->cpu_limit_milli,    -1, AMOUNT_MAX,        " millicores"},
        {"pod.memory_limit_bytes", p->memory_limit_bytes, -1, AMOUNT_MAX,        " bytes"     },
        {"pod.grace_ms",           p->grace_ms,           0,  GRACE_MAX_MS,      " ms"        },
        {"pod.run_as_uid",         p->run_as_uid,         -1, UINT32_MAX,        ""           },
        {"pod.run_as_gid",         p->run_as_gid,         -1, UINT32_MAX,        ""           },
        {"pod.args",               p->args_count,         0,  WORKLOAD_LIST_MAX, " items"     },
        {"pod.env",                p->env_count,          0,  WORKLOAD_LIST_MAX, " items"     },
    };
    if (!in_ranges(ranges, COUNT_OF(ranges), out)) {
        return false;
    }
    if (p->gpu_portion_share > 0 && p->gpu_memory_bytes > 0) {
        out->status = err_set(&out->err, STATUS_INVALID,
                              "a part of a device is asked for both as a share and in memory");
        err_field(&out->err, "pod.gpu_memory_bytes");
        err_hint(&out->err, "give one of the two");
        return false;
    }
    if (p->gpu_devices == 0 && (p->gpu_portion_share > 0 || p->gpu_memory_bytes > 0)) {
        out->status = err_set(&out->err, STATUS_INVALID, "a part of 0 devices is asked for");
        err_field(&out->err, "pod.gpu_devices");
        return false;
    }
    return true;
}

bool spec_numbers_ok(const struct workload_spec *s, struct outcome *out)
{
    const struct range ranges[] = {
        {"pods",           s->pods,                    1,  WORKLOAD_PODS_MAX, ""                        },
        {"pods_min",       s->pods_min,                1,  s->pods,           " (no more than all pods)"},
        {"min_available",  s->available_min,           0,  s->pods,           " (no more than all pods)"},
        {"priority",       s->priority,                0,  1000,              ""                        },
        {"preemptibility", (int64_t)s->preemptibility, 0,  NON_PREEMPTIBLE,   ""                        },
        {"restart",        (int64_t)s->restart,        0,  RESTART_ALWAYS,    ""                        },
        {"backoff_limit",  s->backoff_limit,           0,  BACKOFF_LIMIT_MAX, ""                        },
        {"auto_delete_ms", s->auto_delete_ms,          -1, DURATION_MAX_MS,   ""                        },
        {"duration_ms",    s->duration_ms,             0,  DURATION_MAX_MS,   " ms"                     },
        {"run_max_ms",     s->run_max_ms,              0,  DURATION_MAX_MS,   " ms"                     },
        {"idle_max_ms",    s->idle_max_ms,             0,  DURATION_MAX_MS,   " ms"                     },
        {"node_type",      s->node_type.len,           0,  NAME_LEN_MAX,      " bytes"                  },
        {"labels",         s->labels_count,            0,  WORKLOAD_LIST_MAX, " items"                  },
        {"annotations",    s->annotations_count,       0,  WORKLOAD_LIST_MAX, " items"                  },
        {"pools",          s->pools_count,             0,  POOLS_MAX,         " items"                  },
        {"framework",      (int64_t)s->framework,      0,  FRAMEWORK_JAX,     ""                        },
    };
    const struct range parallel = {"parallel_max", s->parallel_max, s->pods_min, s->pods,
                                   " (from what must start together to all pods)"};
    return in_ranges(ranges, COUNT_OF(ranges), out) &&
           (s->parallel_max == 0 || in_ranges(&parallel, 1, out)) && pod_numbers_ok(&s->pod, out) &&
           (!s->has_master || pod_numbers_ok(&s->master, out));
}

/* Letters, digits, "_", "-" and ".", no digit first: what every shell and container takes, and no
 * "=", which would end the name early. */
static bool variable_ok(struct str name)
{
    bool ok = name.len > 0 && !(name.ptr[0] >= '0' && name.ptr[0] <= '9');
    for (uint32_t i = 0; ok && i < name.len; i++) {
        char c = name.ptr[i];
        ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-' || c == '.';
    }
    return ok;
}

/* Printable without spaces, and no hyphen first, which programs take for an option. */
static bool image_ok(struct str image)
{
    bool ok = image.len == 0 || image.ptr[0] != '-';
    for (uint32_t i = 0; ok && i < image.len; i++) {
        ok = image.ptr[i] > ' ' && image.ptr[i] < 0x7f;
    }
    return ok;
}

static bool texts_ok(const struct pod_spec *p, struct outcome *out)
{
    for (uint32_t i = 0; i < p->env_count; i++) {
        struct str name = p->env[i].name;
        if (!variable_ok(name)) {
            out->status = err_set(
                &out->err, STATUS_INVALID,
                "\"%.*s\" cannot be a variable: letters, digits, \"_\", \"-\" and "
                "\".\", no digit first",
                STR_ARG(str_sub(name, 0, 100)));
            err_field(&out->err, "pod.env");
            return false;
        }
    }
    if (!image_ok(p->image)) {
        out->status = err_set(&out->err, STATUS_INVALID,
                              "\"%.*s\" is no image: no spaces, no hyphen first",
                              STR_ARG(str_sub(p->image, 0, 100)));
        err_field(&out->err, "pod.image");
        err_hint(&out->err, "an image is REGISTRY/NAME:TAG; host runs the command on the host");
        return false;
    }
    if (p->working_dir.len > 0 && p->working_dir.ptr[0] != '/') {
        out->status = err_set(&out->err, STATUS_INVALID,
                              "\"%.*s\" is no working directory: it must begin with /",
                              STR_ARG(str_sub(p->working_dir, 0, 100)));
        err_field(&out->err, "pod.working_dir");
        return false;
    }
    if (p->args_count > 0 && p->args[0].value.len == 0 &&
        (p->args_are_command || str_eq(p->image, STR("host")))) {
        out->status = err_set(&out->err, STATUS_INVALID, "the first word of the command is empty");
        err_field(&out->err, "pod.args");
        return false;
    }
    return true;
}

// Who may name a credential was decided at the edge.
static bool credentials_ok(const struct engine *e, const struct pod_spec *p, struct outcome *out)
{
    for (uint32_t i = 0; i < p->env_count; i++) {
        const struct env_var *v = &p->env[i];
        const struct asset *a = asset_find(&e->s.assets, v->credential);
        if (!uuid_is_zero(v->credential) && (a == NULL || !asset_has_secret(a, v->key))) {
            out->status = err_set(&out->err, STATUS_UNKNOWN,
                                  "there is no credential with a secret \"%.*s\" for the variable "
                                  "%.*s",
                                  STR_ARG(str_sub(v->key, 0, 100)),
                                  STR_ARG(str_sub(v->name, 0, 100)));
            err_field(&out->err, "pod.env");
            return false;
        }
    }
    return true;
}

static bool name_ok(struct str name, struct outcome *out)
{
    bool ok = name.len > 0 && name.len <= WORKLOAD_NAME_LEN_MAX;
    for (uint32_t i = 0; ok && i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = c >= 'a' && c <= 'z';
        bool digit = c >= '0' && c <= '9';
        ok = letter || (i > 0 && digit) || (i > 0 && i + 1 < name.len && c == '-');
    }
    if (!ok) {
        out->status = err_set(&out->err, STATUS_INVALID,
                              "\"%.*s\" is not a name: lower-case letters, digits and hyphens, "
                              "first a letter, last no hyphen, at most %u",
                              STR_ARG(str_sub(name, 0, 100)), WORKLOAD_NAME_LEN_MAX);
        err_field(&out->err, "name");
    }
    return ok;
}

static bool ids_ok(const struct engine *e, const struct submit *s, struct outcome *out)
{
    uint32_t at;
    bool ok = !uuid_is_zero(s->id) && s->kind <= WORKLOAD_DISTRIBUTED &&
              (int64_t)s->pod_ids_count == s->spec.pods &&
              !map_get(&e->t.workloads, uuid_bytes(&s->id), &at);
    struct map seen;
    map_init(&seen, &e->self->scratch);
    for (uint32_t i = 0; ok && i < s->pod_ids_count; i++) {
        struct str key = uuid_bytes(&s->pod_ids[i].id);
        ok = !uuid_is_zero(s->pod_ids[i].id) && !map_get(&e->t.pods, key, &at) &&
             !map_get(&seen, key, &at);
        map_put(&seen, key, i);
    }
    if (!ok) {
        out->status = err_set(&out->err, STATUS_INVALID,
                              "identifiers of the workload and its pods must be new and complete");
        err_field(&out->err, "id");
    }
    return ok;
}

/* ---- defaults ---- */

static const struct project *find_project(const struct engine *e, struct str name,
                                          struct outcome *out)
{
    const struct plan *plan = &e->s.plan;
    uint32_t at = tables_project(plan, name);
    if (at != IX_NONE) {
        return &plan->projects[at];
    }
    struct str *names = ARENA_ARRAY(&e->self->scratch, struct str, plan->projects_count);
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        names[i] = plan->projects[i].name;
    }
    uint32_t near = str_nearest(name, names, plan->projects_count);
    out->status = err_set(&out->err, STATUS_UNKNOWN, "there is no project \"%.*s\"",
                          STR_ARG(str_sub(name, 0, 100)));
    err_field(&out->err, "project");
    if (near < plan->projects_count) {
        err_hint(&out->err, "did you mean \"%.*s\"?", STR_ARG(names[near]));
    } else {
        err_hint(&out->err, "weir project list shows those there are");
    }
    return NULL;
}

static bool pools_known(const struct engine *e, const struct workload_spec *s, struct outcome *out)
{
    const struct plan *plan = &e->s.plan;
    for (uint32_t i = 0; i < s->pools_count; i++) {
        struct str name = s->pools[i].value;
        bool twice = false;
        for (uint32_t k = 0; k < i; k++) {
            twice = twice || str_eq(s->pools[k].value, name);
        }
        if (!twice && tables_pool(plan, name) != IX_NONE) {
            continue;
        }
        out->status = err_set(&out->err, twice ? STATUS_INVALID : STATUS_UNKNOWN,
                              twice ? "node pool \"%.*s\" is named twice"
                                    : "there is no node pool \"%.*s\"",
                              STR_ARG(str_sub(name, 0, 100)));
        err_field(&out->err, "pools[%u]", i);
        struct str *names = ARENA_ARRAY(&e->self->scratch, struct str, plan->pools_count);
        for (uint32_t k = 0; k < plan->pools_count; k++) {
            names[k] = plan->pools[k].name;
        }
        uint32_t near = str_nearest(name, names, plan->pools_count);
        if (twice) {
            err_hint(&out->err, "name each pool once, the preferred one first");
        } else if (near < plan->pools_count) {
            err_hint(&out->err, "did you mean \"%.*s\"?", STR_ARG(names[near]));
        } else {
            err_hint(&out->err, "weir nodepool list shows those there are");
        }
        return false;
    }
    return true;
}

// All pools by name, the catch-all last.
static void all_pools(const struct plan *plan, struct arena *a, struct workload_spec *s)
{
    s->pools = ARENA_ARRAY(a, struct str_item, plan->pools_count);
    s->pools_count = 0;
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        if (!str_eq(plan->pools[i].name, DEFAULT_NAME)) {
            s->pools[s->pools_count++].value = plan->pools[i].name;
        }
    }
    s->pools[s->pools_count++].value = DEFAULT_NAME;
}

static bool is_listed(const struct str_item *types, uint32_t count, struct str type)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(types[i].value, type)) {
            return true;
        }
    }
    return count == 0;
}

static struct scheduling_rules rules_of(const struct engine *e, const struct project *project)
{
    struct scheduling_rules rules;
    plan_rules(&e->s.plan, project, &e->self->scratch, &rules);
    return rules;
}

// Where its project has rules on node types, it names one of those.
static bool node_type_ok(const struct engine *e, const struct project *project,
                         const struct submit *s, struct outcome *out)
{
    struct scheduling_rules rules = rules_of(e, project);
    bool workspace = s->kind == WORKLOAD_WORKSPACE;
    const struct str_item *types = workspace ? rules.workspace_types : rules.training_types;
    uint32_t count = workspace ? rules.workspace_types_count : rules.training_types_count;
    struct str type = s->spec.node_type;
    if (s->kind == WORKLOAD_INFERENCE || is_listed(types, count, type)) {
        return true;
    }
    struct str known = STR("");
    for (uint32_t i = 0; i < count; i++) {
        known = arena_printf(&e->self->scratch, "%.*s%s%.*s", STR_ARG(known), i > 0 ? ", " : "",
                             STR_ARG(types[i].value));
    }
    out->status = type.len == 0 ? err_set(&out->err, STATUS_INVALID,
                                          "project \"%.*s\" wants its work to name a node type",
                                          STR_ARG(project->name))
                                : err_set(&out->err, STATUS_INVALID,
                                          "project \"%.*s\" does not allow node type \"%.*s\"",
                                          STR_ARG(project->name), STR_ARG(str_sub(type, 0, 100)));
    err_field(&out->err, "node_type");
    err_hint(&out->err, "allowed: %.*s", STR_ARG(str_sub(known, 0, 200)));
    return false;
}

static int64_t tighter(int64_t asked, int64_t rule)
{
    return asked == 0 || (rule > 0 && rule < asked) ? rule : asked;
}

static void fill_limits(const struct engine *e, const struct project *project,
                        enum workload_kind kind, struct workload_spec *s)
{
    struct scheduling_rules r = rules_of(e, project);
    if (kind == WORKLOAD_WORKSPACE) {
        s->run_max_ms = tighter(s->run_max_ms, r.workspace_run_ms);
        s->idle_max_ms = tighter(s->idle_max_ms, s->preemptibility == PREEMPTIBLE
                                                     ? r.workspace_preemptible_idle_ms
                                                     : r.workspace_idle_ms);
    } else if (kind != WORKLOAD_INFERENCE) {
        s->run_max_ms = tighter(s->run_max_ms, r.training_run_ms);
        s->idle_max_ms = tighter(s->idle_max_ms, r.training_idle_ms);
    }
}

static void fill_defaults(const struct engine *e, const struct project *project,
                          enum workload_kind kind, struct workload_spec *s)
{
    if (s->priority == 0) {
        s->priority = project->default_priority > 0 ? project->default_priority
                                                    : kind_type_of(&e->s, kind).priority;
    }
    if (s->preemptibility == PREEMPTIBILITY_DEFAULT) {
        s->preemptibility = project->default_preemptibility;
    }
    if (s->preemptibility == PREEMPTIBILITY_DEFAULT) {
        s->preemptibility = s->priority >= PRIORITY_NON_PREEMPTIBLE_MIN ? NON_PREEMPTIBLE
                                                                        : PREEMPTIBLE;
    }
    if (s->pools_count == 0) {
        s->pools = project->default_pools;
        s->pools_count = project->default_pools_count;
    }
    if (s->pools_count == 0) {
        all_pools(&e->s.plan, &e->self->scratch, s);
    }
    fill_limits(e, project, kind, s);
}

/* ---- ports ---- */

enum { PORT_FIRST = 20000, PORT_END = 32768 }; // above, the system gives out its own

// Whose pods find each other at a port of their own on the machine they share.
static bool wants_ports(const struct workload_spec *s)
{
    return s->framework != FRAMEWORK_NONE && s->framework != FRAMEWORK_MPI;
}

// The first run of as many free ports as there are pods; 0: there is none.
static int64_t free_ports(const struct engine *e, int64_t pods)
{
    int64_t first = PORT_FIRST;
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < e->s.workloads_count; i++) {
            const struct workload *w = &e->s.workloads[i];
            if (w->port > 0 && w->end_ms == TIME_NEVER && first < w->port + w->pods_count &&
                w->port < first + pods) {
                first = w->port + w->pods_count;
                moved = true;
            }
        }
    }
    return first + pods <= PORT_END ? first : 0;
}

/* ---- the command ---- */

void submit_spec_check(const struct engine *e, const struct submit *s,
                       struct workload_spec *resolved, struct outcome *out)
{
    *resolved = s->spec;
    const struct project *project = find_project(e, s->project, out);
    if (project && spec_numbers_ok(&s->spec, out) && texts_ok(&s->spec.pod, out) &&
        credentials_ok(e, &s->spec.pod, out) &&
        (!s->spec.has_master ||
         (texts_ok(&s->spec.master, out) && credentials_ok(e, &s->spec.master, out))) &&
        pools_known(e, &s->spec, out) && node_type_ok(e, project, s, out) && ids_ok(e, s, out)) {
        fill_defaults(e, project, s->kind, resolved);
    }
}

void submit_check(const struct engine *e, const struct input *in, struct workload_spec *resolved,
                  struct outcome *out)
{
    const struct submit *s = &in->submit;
    submit_spec_check(e, s, resolved, out);
    if (out->status != STATUS_OK || !name_ok(s->name, out)) {
        return;
    }
    const struct workload *same = engine_find_name(e, s->project, s->name);
    if (same && same->end_ms == TIME_NEVER) {
        out->status = err_set(&out->err, STATUS_CONFLICT,
                              "project \"%.*s\" has a workload \"%.*s\" already",
                              STR_ARG(s->project), STR_ARG(s->name));
        err_field(&out->err, "name");
        err_hint(&out->err, "choose another name, or delete that one first");
        return;
    }
    if (e->s.workloads_count >= WORKLOADS_MAX || e->t.pod_rows_count >= TASKS_MAX) {
        out->status = err_set(&out->err, STATUS_TOO_LARGE, "there are %u workloads of at most %u",
                              e->s.workloads_count, WORKLOADS_MAX);
        err_hint(&out->err, "delete those that have ended");
        return;
    }
    if (wants_ports(&s->spec) && free_ports(e, s->spec.pods) == 0) {
        out->status = err_set(&out->err, STATUS_BUSY, "no %lld ports are free for its pods",
                              (long long)s->spec.pods);
        err_hint(&out->err, "delete distributed work that is not needed any more");
        return;
    }
    out->id = s->id;
}

void submit_apply(struct step *st, const struct workload_spec *resolved)
{
    struct engine *e = st->e;
    struct arena *a = engine_memory(e);
    const struct submit *s = &st->in->submit;
    e->s.workloads = array_grow(a, e->s.workloads, sizeof(*e->s.workloads), e->s.workloads_count,
                                &e->workloads_cap);
    uint32_t row = e->s.workloads_count++;
    struct workload *w = &e->s.workloads[row];
    *w = (struct workload){
        .id = s->id,
        .name = arena_str(a, s->name),
        .project = arena_str(a, s->project),
        .kind = s->kind,
        .author = arena_str(a, st->in->author),
        .created_ms = st->now_ms,
        .end_ms = TIME_NEVER,
        .last_start_ms = TIME_NEVER,
        .last_evict_ms = TIME_NEVER,
        .stale_since_ms = TIME_NEVER,
        .pending_since_ms = TIME_NEVER,
        .running_since_ms = TIME_NEVER,
        .pods = ARENA_ARRAY(a, struct pod, s->pod_ids_count),
        .pods_count = s->pod_ids_count,
    };
    w->asked = arena_str(a, s->asked);
    w->request = s->request;
    w->port = wants_ports(resolved) ? free_ports(e, s->spec.pods) : 0;
    record_copy(&record_workload_spec, resolved, &w->spec, a);
    for (uint32_t i = 0; i < w->pods_count; i++) {
        w->pods[i] = (struct pod){
            .id = s->pod_ids[i].id, .start_ms = TIME_NEVER, .end_ms = TIME_NEVER, .exit_code = -1};
    }
    tables_add_workload(e, row);
    workload_event(st, row, EVENT_SUBMITTED)->author = w->author;
    workload_settle(st, row);
}
