// SPDX-License-Identifier: Apache-2.0
// Workloads and what is said about them; queues, pools and nodes are in show_tenants.c.
#include "api/show.h"

#include "api/show_parts.h"
#include "api/words.h"
#include "base/hash.h"
#include "base/num.h"
#include "base/sort.h"
#include "model/priority.h"
#include "model/reason.h"

enum { TEXT_MAX = 16384 };

/* ---- values ---- */

void show_time(struct jw *w, struct str key, int64_t at_ms)
{
    jw_key(w, key);
    if (at_ms <= 0) {
        jw_null(w);
    } else {
        char text[RFC3339_TEXT_SIZE];
        jw_string(w, rfc3339_format(at_ms, text));
    }
}

void show_uuid(struct jw *w, struct str key, struct uuid id)
{
    char text[UUID_TEXT_LEN + 1];
    uuid_format(id, text);
    jw_member_string(w, key, (struct str){text, UUID_TEXT_LEN});
}

void show_amount(struct jw *w, struct str key, enum resource resource, int64_t amount)
{
    jw_key(w, key);
    if (amount < 0) {
        jw_null(w);
    } else if (resource == RES_GPU) {
        enum { MILLION = 1000000 };
        jw_decimal(w,
                   amount / DEVICE_SHARE * MILLION +
                       (amount % DEVICE_SHARE * MILLION + DEVICE_SHARE / 2) / DEVICE_SHARE,
                   6);
    } else if (resource == RES_CPU) {
        jw_decimal(w, amount, 3);
    } else {
        jw_i64(w, amount);
    }
}

void show_pairs(struct jw *w, struct str key, const struct label *pairs, uint32_t count)
{
    jw_key(w, key);
    jw_object_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        jw_member_string(w, pairs[i].key, pairs[i].value);
    }
    jw_object_end(w);
}

void show_strings(struct jw *w, struct str key, const struct str_item *items, uint32_t count)
{
    jw_key(w, key);
    jw_array_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        jw_string(w, items[i].value);
    }
    jw_array_end(w);
}

struct str show_kind(enum workload_kind kind)
{
    static const struct str words[] = {
        [WORKLOAD_TRAINING] = STRS("training"),
        [WORKLOAD_WORKSPACE] = STRS("workspace"),
        [WORKLOAD_INFERENCE] = STRS("inference"),
        [WORKLOAD_DISTRIBUTED] = STRS("distributed"),
    };
    return words[kind];
}

struct str show_framework(enum framework framework)
{
    static const struct str words[] = {
        [FRAMEWORK_NONE] = STRS(""),
        [FRAMEWORK_PYTORCH] = STRS("pytorch"),
        [FRAMEWORK_TENSORFLOW] = STRS("tensorflow"),
        [FRAMEWORK_MPI] = STRS("mpi"),
        [FRAMEWORK_XGBOOST] = STRS("xgboost"),
        [FRAMEWORK_JAX] = STRS("jax"),
    };
    return words[framework];
}

static struct str pod_phase_word(enum pod_phase phase)
{
    static const struct str words[] = {
        [POD_PENDING] = STRS("Pending"),     [POD_BINDING] = STRS("Initializing"),
        [POD_RUNNING] = STRS("Running"),     [POD_RELEASING] = STRS("Terminating"),
        [POD_SUCCEEDED] = STRS("Succeeded"), [POD_FAILED] = STRS("Failed"),
    };
    return words[phase];
}

static struct str restart_word(enum restart_policy policy)
{
    static const struct str words[] = {
        [RESTART_NEVER] = STRS("never"),
        [RESTART_ON_FAILURE] = STRS("on-failure"),
        [RESTART_ALWAYS] = STRS("always"),
    };
    return words[policy];
}

static struct str event_word(enum event_kind kind)
{
    static const struct str words[] = {
        [EVENT_SUBMITTED] = STRS("submitted"),   [EVENT_SCHEDULED] = STRS("scheduled"),
        [EVENT_STARTED] = STRS("started"),       [EVENT_WAITING] = STRS("waiting"),
        [EVENT_EVICTED] = STRS("evicted"),       [EVENT_EXITED] = STRS("exited"),
        [EVENT_SUSPENDED] = STRS("suspended"),   [EVENT_RESUMED] = STRS("resumed"),
        [EVENT_DELETED] = STRS("deleted"),       [EVENT_START_FAILED] = STRS("start-failed"),
        [EVENT_NODE_LOST] = STRS("node-lost"),   [EVENT_DRAINING] = STRS("draining"),
        [EVENT_LIMIT_NEAR] = STRS("limit-near"), [EVENT_UPDATED] = STRS("updated"),
    };
    _Static_assert(COUNT_OF(words) == EVENT_KINDS, "a word for each kind of event");
    return words[kind];
}

const struct project *show_find_project(const struct plan *plan, struct str name)
{
    uint32_t low = 0;
    uint32_t high = plan->projects_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(plan->projects[middle].name, name);
        if (order == 0) {
            return &plan->projects[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* ---- reasons ---- */

/* As it may be told: without the name of a workload that the reader may not see. */
static struct why told(struct show *s, const struct why *why)
{
    struct why out = *why;
    if (!uuid_is_zero(why->other) && !s->sight->grants->all) {
        const struct workload *other = engine_find(s->engine, why->other);
        if (other == NULL || !sight_workload(s->sight, other)) {
            out.other = (struct uuid){{0}};
            out.other_name = (struct str){0};
        }
    }
    return out;
}

static void show_number(struct jw *w, const struct why *why, struct str key, int64_t value)
{
    if (words_is_count(why->code)) {
        jw_member_i64(w, key, value);
    } else {
        show_amount(w, key, why->resource < RES_COUNT ? (enum resource)why->resource : RES_GPU,
                    value);
    }
}

void show_why(struct show *s, struct jw *w, const struct why *all)
{
    static const struct str resources[] = {STRS("gpu"), STRS("cpu"), STRS("memory")};
    if (all->code == REASON_NONE) {
        jw_null(w);
        return;
    }
    struct why seen = told(s, all);
    const struct why *why = &seen;
    struct buf text;
    buf_init(&text, TEXT_MAX);
    words_why(why, &text);
    jw_object_begin(w);
    jw_member_string(w, STR("code"),
                     why->code < REASON_COUNT ? reason_name((enum reason_code)why->code)
                                              : STR("Unknown"));
    jw_member_string(w, STR("message"), buf_view(&text));
    buf_done(&text);
    jw_member_string(w, STR("pool"), why->pool);
    jw_member_string(w, STR("queue"), why->queue);
    jw_member_string(w, STR("queue_kind"),
                     why->queue.len == 0        ? STR("")
                     : why->queue_is_department ? STR("department")
                                                : STR("project"));
    jw_member_string(w, STR("resource"),
                     why->resource < RES_COUNT ? resources[why->resource] : STR(""));
    show_number(w, why, STR("requested"), why->requested);
    show_number(w, why, STR("held"), why->held);
    show_number(w, why, STR("bound"), why->bound);
    jw_key(w, STR("nodes"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < why->nodes_count; i++) {
        if (why->nodes[i].code < NODE_REASON_COUNT) {
            jw_object_begin(w);
            jw_member_string(w, STR("code"),
                             node_reason_name((enum node_reason)why->nodes[i].code));
            jw_member_i64(w, STR("count"), why->nodes[i].count);
            jw_object_end(w);
        }
    }
    jw_array_end(w);
    jw_key(w, STR("other"));
    if (uuid_is_zero(why->other)) {
        jw_null(w);
    } else {
        jw_object_begin(w);
        show_uuid(w, STR("id"), why->other);
        jw_member_string(w, STR("name"), why->other_name);
        jw_object_end(w);
    }
    show_time(w, STR("until"), why->until_ms);
    show_time(w, STR("since"), why->since_ms);
    jw_object_end(w);
}

/* ---- places in the queue ---- */

/* ---- workloads ---- */

struct sums {
    uint32_t running;
    int64_t held_share;
    int64_t exit_code; /* -1: nothing ended */
};

static struct sums sum_pods(const struct workload *wl)
{
    struct sums sums = {.exit_code = -1};
    for (uint32_t i = 0; i < wl->pods_count; i++) {
        const struct pod *p = &wl->pods[i];
        sums.running += p->phase == POD_RUNNING;
        if (p->phase == POD_BINDING || p->phase == POD_RUNNING || p->phase == POD_RELEASING) {
            for (uint32_t d = 0; d < p->devices_count; d++) {
                sums.held_share += p->devices[d].share;
            }
        }
        bool ended = p->phase == POD_SUCCEEDED || p->phase == POD_FAILED;
        if (ended && sums.exit_code <= 0) { /* the first that is not 0 tells most */
            sums.exit_code = p->exit_code;
        }
    }
    return sums;
}

static void show_pod(struct jw *w, const struct pod *p)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), p->id);
    jw_member_string(w, STR("phase"), pod_phase_word(p->phase));
    jw_member_string(w, STR("node"), p->node);
    jw_key(w, STR("devices"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < p->devices_count; i++) {
        jw_string(w, p->devices[i].uuid);
    }
    jw_array_end(w);
    jw_key(w, STR("numa_node"));
    if (p->numa_plus_one > 0) {
        jw_i64(w, p->numa_plus_one - 1);
    } else {
        jw_null(w);
    }
    jw_member_i64(w, STR("attempt"), p->attempt);
    show_time(w, STR("started_at"), p->start_ms);
    show_time(w, STR("ended_at"), p->end_ms);
    jw_key(w, STR("exit_code"));
    if (p->exit_code >= 0) {
        jw_i64(w, p->exit_code);
    } else {
        jw_null(w);
    }
    jw_member_string(w, STR("end_reason"), p->end_reason);
    jw_object_end(w);
}

static void show_event(struct show *s, struct jw *w, const struct event *e)
{
    struct event seen = *e;
    struct buf text;
    seen.why = told(s, &e->why);
    buf_init(&text, TEXT_MAX);
    words_event(&seen, &text);
    jw_object_begin(w);
    show_time(w, STR("at"), e->at_ms);
    jw_member_string(w, STR("kind"), event_word(e->kind));
    jw_key(w, STR("pod"));
    if (uuid_is_zero(e->pod)) {
        jw_null(w);
    } else {
        jw_string(w, uuid_str(e->pod, s->arena));
    }
    jw_member_string(w, STR("node"), e->node);
    jw_member_string(w, STR("text"), e->text);
    jw_member_string(w, STR("message"), buf_view(&text));
    jw_member_string(w, STR("author"), e->author);
    jw_key(w, STR("why"));
    show_why(s, w, &e->why);
    jw_member_i64(w, STR("exit_code"), e->exit_code);
    jw_object_end(w);
    buf_done(&text);
}

/* An amount of which 0 means that it was not asked for. */
static void show_asked(struct jw *w, struct str key, enum resource resource, int64_t amount)
{
    show_amount(w, key, resource, amount > 0 ? amount : AMOUNT_UNLIMITED);
}

static void show_spec(struct jw *w, const struct workload *wl)
{
    const struct pod_spec *p = &wl->spec.pod;
    jw_member_string(w, STR("image"), p->image.len > 0 ? p->image : STR("host"));
    show_strings(w, STR("command"), p->args, p->args_count);
    jw_key(w, STR("env"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < p->env_count; i++) {
        if (uuid_is_zero(p->env[i].credential)) {
            jw_member_string(w, p->env[i].name, p->env[i].value);
        }
    }
    jw_object_end(w);
    jw_key(w, STR("env_secrets"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < p->env_count; i++) {
        char id[UUID_TEXT_LEN + 1];
        if (!uuid_is_zero(p->env[i].credential)) {
            uuid_format(p->env[i].credential, id);
            jw_key(w, p->env[i].name);
            jw_object_begin(w);
            jw_member_string(w, STR("credential"), str_from_c(id));
            jw_member_string(w, STR("key"), p->env[i].key);
            jw_object_end(w);
        }
    }
    jw_object_end(w);
    jw_member_string(w, STR("working_dir"), p->working_dir);
    jw_member_i64(w, STR("gpu_devices"), p->gpu_devices);
    show_asked(w, STR("gpu_portion"), RES_GPU, p->gpu_portion_share);
    show_asked(w, STR("gpu_memory"), RES_MEMORY, p->gpu_memory_bytes);
    show_amount(w, STR("cpu"), RES_CPU, p->cpu_milli);
    show_amount(w, STR("cpu_limit"), RES_CPU, p->cpu_limit_milli);
    show_amount(w, STR("memory"), RES_MEMORY, p->memory_bytes);
    show_amount(w, STR("memory_limit"), RES_MEMORY, p->memory_limit_bytes);
    jw_member_i64(w, STR("grace_ms"), p->grace_ms);
    jw_member_bool(w, STR("single_numa"), p->single_numa);
    jw_member_i64(w, STR("pods_wanted"), wl->spec.pods);
    jw_member_i64(w, STR("pods_min"), wl->spec.pods_min);
    jw_member_i64(w, STR("parallel_max"),
                  wl->spec.parallel_max > 0 ? wl->spec.parallel_max : wl->spec.pods);
    jw_member_i64(w, STR("min_available"), wl->spec.available_min);
    jw_member_string(w, STR("node_type"), wl->spec.node_type);
    show_pairs(w, STR("labels"), wl->spec.labels, wl->spec.labels_count);
    show_pairs(w, STR("annotations"), wl->spec.annotations, wl->spec.annotations_count);
    jw_member_string(w, STR("restart"), restart_word(wl->spec.restart));
    jw_member_i64(w, STR("backoff_limit"), wl->spec.backoff_limit);
}

static int64_t still(int64_t sum_ms, int64_t since_ms, int64_t now_ms)
{
    return since_ms > 0 && now_ms > since_ms ? sum_ms + now_ms - since_ms : sum_ms;
}

static void show_progress(struct show *s, struct jw *w, const struct workload *wl)
{
    struct sums sums = sum_pods(wl);
    jw_member_i64(w, STR("pods_running"), sums.running);
    show_amount(w, STR("gpus_held"), RES_GPU, sums.held_share);
    jw_key(w, STR("exit_code"));
    if (sums.exit_code >= 0) {
        jw_i64(w, sums.exit_code);
    } else {
        jw_null(w);
    }
    jw_member_i64(w, STR("run_ms"), still(wl->run_ms, wl->running_since_ms, s->now_ms));
    jw_member_i64(w, STR("pending_ms"), still(wl->pending_ms, wl->pending_since_ms, s->now_ms));
    jw_key(w, STR("why"));
    show_why(s, w, &wl->why);
    jw_key(w, STR("place"));
    uint32_t place = places_of(s->places, s->engine, wl);
    if (place > 0) {
        jw_i64(w, place);
    } else {
        jw_null(w);
    }
}

/* When the pods that run, or ran last, were started. */
static int64_t started_ms(const struct workload *wl)
{
    int64_t first_ms = wl->last_start_ms;
    for (uint32_t i = 0; i < wl->pods_count && wl->last_start_ms <= 0; i++) {
        int64_t start_ms = wl->pods[i].start_ms;
        if (start_ms > 0 && (first_ms <= 0 || start_ms < first_ms)) {
            first_ms = start_ms;
        }
    }
    return first_ms;
}

void show_workload(struct show *s, struct jw *w, const struct workload *wl, bool with_events)
{
    const struct project *project = show_find_project(&engine_state(s->engine)->plan, wl->project);
    jw_object_begin(w);
    show_uuid(w, STR("id"), wl->id);
    jw_member_string(w, STR("name"), wl->name);
    jw_member_string(w, STR("project"), wl->project);
    jw_member_string(w, STR("department"), project != NULL ? project->department : STR(""));
    jw_member_string(w, STR("kind"), show_kind(wl->kind));
    jw_member_string(w, STR("framework"), show_framework(wl->spec.framework));
    jw_member_string(w, STR("phase"), workload_phase(wl));
    jw_member_string(w, STR("author"), wl->author);
    show_time(w, STR("created_at"), wl->created_ms);
    show_time(w, STR("started_at"), started_ms(wl));
    show_time(w, STR("ended_at"), wl->end_ms);
    show_time(w, STR("checkpoint_at"), wl->checkpoint_ms);
    bool idle;
    int64_t limit_ms;
    int64_t stop_ms = workload_stop_at_ms(wl, &idle, &limit_ms);
    show_time(w, STR("stops_at"), stop_ms != INT64_MAX ? stop_ms : 0);
    jw_member_string(w, STR("priority"), priority_word(wl->spec.priority));
    jw_member_i64(w, STR("priority_value"), wl->spec.priority);
    jw_member_string(w, STR("preemptibility"),
                     wl->spec.preemptibility == NON_PREEMPTIBLE ? STR("non-preemptible")
                                                                : STR("preemptible"));
    show_strings(w, STR("pools"), wl->spec.pools, wl->spec.pools_count);
    jw_member_string(w, STR("pool"), workload_pool(wl));
    show_spec(w, wl);
    show_progress(s, w, wl);
    jw_key(w, STR("pods"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < wl->pods_count; i++) {
        show_pod(w, &wl->pods[i]);
    }
    jw_array_end(w);
    if (with_events) {
        jw_key(w, STR("events"));
        jw_array_begin(w);
        for (uint32_t i = 0; i < wl->events_count; i++) {
            show_event(s, w, &wl->events[i]);
        }
        jw_array_end(w);
    }
    jw_object_end(w);
}

uint64_t show_fingerprint(const struct workload *wl)
{
    uint64_t h = hash_u64((uint64_t)wl->desired, wl->why.code);
    h = hash_u64((uint64_t)wl->why.held, h ^ (uint64_t)wl->why.until_ms);
    h = hash_u64(wl->pool_ix, h);
    h = hash_u64(wl->events_count, h);
    if (wl->events_count > 0) {
        const struct event *last = &wl->events[wl->events_count - 1];
        h = hash_u64((uint64_t)last->at_ms, h ^ last->kind);
    }
    for (uint32_t i = 0; i < wl->pods_count; i++) {
        const struct pod *p = &wl->pods[i];
        h = hash_u64((uint64_t)p->phase << 32 | p->attempt, h);
    }
    return h;
}

/* ---- the story ---- */

static void tell(struct jw *w, struct buf *text)
{
    if (text->len > 0) {
        jw_string(w, buf_view(text));
    }
    buf_clear(text);
}

/* Why it ended, where its exit code alone does not say so; "" otherwise. */
static struct str cause_of_end(const struct workload *wl)
{
    for (uint32_t i = 0; i < wl->pods_count; i++) {
        const struct pod *p = &wl->pods[i];
        if (p->phase == POD_FAILED && !str_eq(p->end_reason, STR("Error"))) {
            return p->end_reason;
        }
    }
    return STR("");
}

static void tell_status(const struct workload *wl, struct buf *text)
{
    char since[RFC3339_TEXT_SIZE];
    struct str phase = workload_phase(wl);
    const struct pod *p = wl->pods_count > 0 ? &wl->pods[0] : NULL;
    if (wl->desired == WANT_DELETED) {
        buf_str(text, STR("It was deleted."));
    } else if (wl->desired == WANT_STOPPED) {
        buf_str(text, STR("It is suspended; weir workload resume lets it start again."));
    } else if (wl->end_ms > 0) {
        buf_printf(text, "It ended at " STR_FMT ": " STR_FMT,
                   STR_ARG(rfc3339_format(wl->end_ms, since)), STR_ARG(phase));
        struct str cause = cause_of_end(wl);
        if (cause.len > 0) {
            buf_printf(text, ": " STR_FMT, STR_ARG(cause));
        }
        if (p != NULL && p->exit_code >= 0) {
            buf_printf(text, ", exit code %lld", (long long)sum_pods(wl).exit_code);
        }
        buf_char(text, '.');
    } else if (wl->running_since_ms > 0 && p != NULL) {
        buf_printf(text, "It runs since " STR_FMT " on node " STR_FMT ", %u of %lld pods.",
                   STR_ARG(rfc3339_format(wl->running_since_ms, since)), STR_ARG(p->node),
                   sum_pods(wl).running, (long long)wl->spec.pods);
    } else if (wl->pending_since_ms > 0) {
        buf_printf(text, "It waits since " STR_FMT ".",
                   STR_ARG(rfc3339_format(wl->pending_since_ms, since)));
    }
}

static void tell_place(struct show *s, const struct workload *wl, struct buf *text)
{
    uint32_t place = places_of(s->places, s->engine, wl);
    if (place == 1) {
        buf_printf(text, "It is the next of project " STR_FMT " in node pool " STR_FMT ".",
                   STR_ARG(wl->project), STR_ARG(workload_pool(wl)));
    } else if (place > 1) {
        buf_printf(text, "%u of project " STR_FMT " in node pool " STR_FMT " come before it.",
                   place - 1, STR_ARG(wl->project), STR_ARG(workload_pool(wl)));
    }
}

/* A pool without nodes: what would make one its own. */
static void tell_pool(struct show *s, const struct workload *wl, struct buf *text)
{
    const struct plan *plan = &engine_state(s->engine)->plan;
    for (uint32_t i = 0;
         wl->why.code == REASON_NO_NODES && wl->why.nodes_count == 0 && i < plan->pools_count;
         i++) {
        const struct pool *p = &plan->pools[i];
        if (str_eq(p->name, wl->why.pool) && p->label_key.len > 0) {
            buf_printf(text,
                       "Nodes belong to node pool " STR_FMT " by the label " STR_FMT "=" STR_FMT
                       " (weir up --node-label).",
                       STR_ARG(p->name), STR_ARG(p->label_key), STR_ARG(p->label_value));
        }
    }
}

static void tell_quota(struct show *s, const struct workload *wl, struct buf *text)
{
    const struct project *p = show_find_project(&engine_state(s->engine)->plan, wl->project);
    struct str pool = workload_pool(wl);
    if (p == NULL || wl->spec.pod.gpu_devices == 0 || wl->end_ms > 0) {
        return;
    }
    struct quota q = plan_quota(p->quotas, p->quotas_count, pool);
    struct held held = engine_held(s->engine, pool, p->name, false);
    buf_printf(text, "Project " STR_FMT " holds ", STR_ARG(p->name));
    words_amount(RES_GPU, held.gpu_share, text);
    buf_printf(text, " in node pool " STR_FMT ", ", STR_ARG(pool));
    words_gpus(held.gpu_share_nonpreemptible, text);
    buf_str(text, STR(" of them non-preemptibly; it is guaranteed "));
    words_amount(RES_GPU, q.gpu_share, text);
    buf_str(text, STR(", its fair share now is "));
    words_amount(RES_GPU, engine_fair_share(s->engine, pool, p->name, false), text);
    buf_str(text, q.over_quota ? STR(", and it may borrow what others leave idle.")
                               : STR(", and it may not borrow."));
}

/* That its place is being drained, where it has one. */
static void tell_drain(struct show *s, const struct workload *wl, struct buf *text)
{
    const struct state *st = engine_state(s->engine);
    for (uint32_t i = 0; i < st->drains_count; i++) {
        const struct drain *d = &st->drains[i];
        for (uint32_t k = 0; k < wl->pods_count; k++) {
            const struct pod *p = &wl->pods[k];
            if (!d->moves || (p->phase != POD_BINDING && p->phase != POD_RUNNING) ||
                !drain_covers(d, p)) {
                continue;
            }
            struct event notice = {.kind = EVENT_DRAINING,
                                   .node = d->node,
                                   .text = d->reason,
                                   .author = d->author,
                                   .why = {.until_ms = d->deadline_ms}};
            words_event(&notice, text);
            return;
        }
    }
}

static void tell_evictions(struct show *s, const struct workload *wl, struct buf *text)
{
    for (uint32_t i = wl->events_count; i > 0; i--) {
        const struct event *e = &wl->events[i - 1];
        if (e->kind == EVENT_EVICTED) {
            char at[RFC3339_TEXT_SIZE];
            buf_printf(text, "At " STR_FMT ": ", STR_ARG(rfc3339_format(e->at_ms, at)));
            struct event seen = *e;
            seen.why = told(s, &e->why);
            words_event(&seen, text);
            return;
        }
    }
}

void show_story(struct show *s, struct jw *w, const struct workload *wl,
                const struct remedy_told *remedy)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    jw_array_begin(w);
    tell_status(wl, &text);
    tell(w, &text);
    struct why why = told(s, &wl->why);
    words_why(&why, &text);
    tell(w, &text);
    words_remedy(remedy, &text);
    tell(w, &text);
    tell_pool(s, wl, &text);
    tell(w, &text);
    tell_place(s, wl, &text);
    tell(w, &text);
    tell_quota(s, wl, &text);
    tell(w, &text);
    tell_drain(s, wl, &text);
    tell(w, &text);
    tell_evictions(s, wl, &text);
    tell(w, &text);
    jw_array_end(w);
    buf_done(&text);
}
