// SPDX-License-Identifier: Apache-2.0
// Events and history of a workload: what weir wrote down, in the words of Run:ai.
#include <string.h>

#include "api/runai/workloads.h"
#include "api/words.h"
#include "base/hash.h"
#include "model/reason.h"

/* Names that tools look for (kai.md names the scheduler's), and which phase an event leads to. */
static const struct {
    struct str reason, phase;
    bool warning;
} kinds[] = {
    [EVENT_SUBMITTED] = {STRS("Created"),       STRS("Pending"),      false},
    [EVENT_SCHEDULED] = {STRS("Scheduled"),     STRS("Initializing"), false},
    [EVENT_STARTED] = {STRS("Started"),       STRS("Running"),      false},
    [EVENT_WAITING] = {STRS("Unschedulable"), STRS("Pending"),      true },
    [EVENT_EVICTED] = {STRS("Evict"),         STRS("Pending"),      true },
    [EVENT_EXITED] = {STRS("Exited"),        STRS(""),             false},
    [EVENT_SUSPENDED] = {STRS("Suspended"),     STRS("Stopping"),     false},
    [EVENT_RESUMED] = {STRS("Resumed"),       STRS("Pending"),      false},
    [EVENT_DELETED] = {STRS("Deleted"),       STRS("Deleting"),     false},
    [EVENT_START_FAILED] = {STRS("Failed"),        STRS(""),             true },
    [EVENT_NODE_LOST] = {STRS("NodeLost"),      STRS("Pending"),      true },
    [EVENT_DRAINING] = {STRS("Draining"),      STRS(""),             true },
    [EVENT_LIMIT_NEAR] = {STRS("TimeLimitNear"), STRS(""),             true },
    [EVENT_UPDATED] = {STRS("Updated"),       STRS("Updating"),     false},
};
_Static_assert(COUNT_OF(kinds) == EVENT_KINDS, "words for each kind of event");

/* The phase that an event leads to; "": to none. */
static struct str phase_after(const struct event *e)
{
    bool stopped = e->kind == EVENT_EVICTED && (e->why.code == REASON_STOPPED_RUN_LIMIT ||
                                                e->why.code == REASON_STOPPED_IDLE_LIMIT);
    return stopped ? STR("Stopping") : kinds[e->kind].phase;
}

static struct uuid event_id(const struct workload *wl, const struct event *e)
{
    uint8_t bytes[16];
    uint64_t h = hash_u64((uint64_t)e->at_ms, hash_bytes(&wl->id, sizeof wl->id, e->kind));
    uint64_t h2 = hash_bytes(&e->pod, sizeof e->pod, h);
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, &h2, sizeof h2);
    return uuid_from_random(bytes);
}

static uint32_t pod_index(const struct workload *wl, struct uuid id)
{
    uint32_t i = 0;
    while (i < wl->pods_count && !uuid_eq(wl->pods[i].id, id)) {
        i++;
    }
    return i;
}

static void show_runai_event(struct call *c, struct jw *w, const struct workload *wl,
                             const struct event *e)
{
    struct buf text;
    bool of_pod = !uuid_is_zero(e->pod);
    buf_init(&text, 16384);
    words_event(e, &text);
    jw_object_begin(w);
    show_uuid(w, STR("id"), event_id(wl, e));
    show_moment(w, STR("createdAt"), e->at_ms);
    jw_member_string(w, STR("type"), kinds[e->kind].warning ? STR("Warning") : STR("Normal"));
    jw_member_string(w, STR("reason"), kinds[e->kind].reason);
    jw_member_string(w, STR("source"), STR("weir"));
    jw_member_string(w, STR("message"), buf_view(&text));
    show_cluster_id(c, w, STR("clusterId"));
    jw_key(w, STR("involvedObject"));
    jw_object_begin(w);
    show_uuid(w, STR("uid"), of_pod ? e->pod : wl->id);
    jw_member_string(w, STR("kind"), of_pod ? STR("Pod") : kind_type(wl->kind));
    jw_member_string(
        w, STR("name"),
        of_pod ? arena_printf(c->arena, STR_FMT "-%u", STR_ARG(wl->name), pod_index(wl, e->pod))
               : wl->name);
    jw_member_string(w, STR("namespace"),
                     arena_printf(c->arena, "runai-" STR_FMT, STR_ARG(wl->project)));
    jw_object_end(w);
    jw_object_end(w);
    buf_done(&text);
}

static uint32_t page_end(const struct call *c, uint32_t count, uint32_t *first)
{
    int64_t offset = body_i64(c->args, STR("offset"), 0);
    *first = (uint32_t)num_min_i64(offset, count);
    return (uint32_t)num_min_i64(num_sat_add_i64(offset, body_i64(c->args, STR("limit"), 0)),
                                 count);
}

static void events(struct call *c)
{
    const struct workload *wl = path_workload(c);
    bool up = str_eq(body_str(c->args, STR("sortOrder")), STR("asc"));
    uint32_t first;
    struct jw w;
    if (wl == NULL) {
        return;
    }
    uint32_t end = page_end(c, wl->events_count, &first);
    call_begin(c, &w);
    jw_object_begin(&w);
    if (end < wl->events_count) {
        jw_member_i64(&w, STR("next"), end);
    }
    jw_key(&w, STR("events"));
    jw_array_begin(&w);
    for (uint32_t i = first; i < end; i++) {
        show_runai_event(c, &w, wl, &wl->events[up ? i : wl->events_count - 1 - i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

/* A record of history: an event, or the change of phase that it was. */
struct record_of {
    uint32_t event;
    bool is_phase;
};

static void show_record(struct call *c, struct jw *w, const struct workload *wl,
                        const struct record_of *r)
{
    const struct event *e = &wl->events[r->event];
    jw_object_begin(w);
    jw_key(w, STR("meta"));
    jw_object_begin(w);
    show_moment(w, STR("creationTimestamp"), e->at_ms);
    jw_member_string(w, STR("type"), r->is_phase ? STR("PhaseUpdate") : STR("Event"));
    jw_object_end(w);
    jw_key(w, STR("spec"));
    jw_object_begin(w);
    if (r->is_phase) {
        jw_key(w, STR("phaseUpdate"));
        jw_object_begin(w);
        jw_member_string(w, STR("phase"), phase_after(e));
        jw_member_string(w, STR("phaseMessage"), STR(""));
        jw_object_end(w);
    } else {
        jw_key(w, STR("event"));
        show_runai_event(c, w, wl, e);
    }
    jw_object_end(w);
    jw_object_end(w);
}

static void history(struct call *c)
{
    const struct workload *wl = path_workload(c);
    struct jw w;
    if (wl == NULL) {
        return;
    }
    struct record_of *records = ARENA_ARRAY(c->arena, struct record_of, 2 * wl->events_count);
    struct str phase = {0};
    uint32_t count = 0;
    uint32_t first;
    for (uint32_t i = 0; i < wl->events_count; i++) {
        struct str next = phase_after(&wl->events[i]);
        records[count++] = (struct record_of){i, false};
        if (next.len > 0 && !str_eq(next, phase)) {
            records[count++] = (struct record_of){i, true};
            phase = next;
        }
    }
    uint32_t end = page_end(c, count, &first);
    call_begin(c, &w);
    jw_object_begin(&w);
    if (end < count) {
        jw_member_i64(&w, STR("next"), end);
    }
    jw_key(&w, STR("records"));
    jw_array_begin(&w);
    for (uint32_t i = first; i < end; i++) {
        show_record(c, &w, wl, &records[count - 1 - i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static const struct schema_row schemas[] = {
    {"Event",
     "id uuid, createdAt* ts, type* str, clusterId* uuid, message* str, reason str, source "
     "str, involvedObject InvolvedObject"                                                         },
    {"InvolvedObject", "uid* uuid, kind* str, name* str, namespace* str"                          },
    {"EventList",      "next int, events* [Event]"                                                },
    {"HistoryRecord",  "meta* {creationTimestamp* ts, type* 'Event'|'PhaseUpdate'}, spec* {event "
                      "Event, phaseUpdate {phase* Phase, phaseMessage* str}}"},
    {"HistoryList",    "next int, records* [HistoryRecord]"                                       },
};

static const struct route routes[] = {
    {"GET", "/api/v1/workloads/{workloadId:uuid}/events",  "get_workload_events",  events,
     ORDER_ARG ", " PAGE_ARGS, NULL, 200, "EventList",   "Events of a workload, the newest first",            0,
     "read workloads at workload workloadId"},
    {"GET", "/api/v1/workloads/{workloadId:uuid}/history", "get_workload_history", history,
     PAGE_ARGS,                NULL, 200, "HistoryList", "Events and phases of a workload, the newest first", 0,
     "read workloads at workload workloadId"},
};

const struct route_group group_events = ROUTE_GROUP("Events", routes, schemas);
