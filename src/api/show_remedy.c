// SPDX-License-Identifier: Apache-2.0
// The smallest change that would start a workload, as JSON: what its kind does not carry is left out.
#include "api/show.h"
#include "api/show_parts.h"
#include "api/words.h"

enum { TEXT_MAX = 16384 };

static void show_numbers(struct jw *w, const struct remedy *r)
{
    switch (r->kind) {
    case REMEDY_PRIORITY:
    case REMEDY_DEVICES:
    case REMEDY_DEVICE_MEMORY:
    case REMEDY_MEMORY:
    case REMEDY_MEMBERS:
        jw_member_i64(w, STR("from"), r->from);
        jw_member_i64(w, STR("to"), r->to);
        break;
    case REMEDY_SHARE:
    case REMEDY_CPU:
    case REMEDY_LIMIT:
    case REMEDY_GUARANTEE: {
        enum resource unit = r->kind == REMEDY_CPU     ? RES_CPU
                             : r->kind == REMEDY_SHARE ? RES_GPU
                                                       : r->resource;
        show_amount(w, STR("from"), unit, r->from);
        show_amount(w, STR("to"), unit, r->to);
        break;
    }
    case REMEDY_HEAL:
    case REMEDY_FREE:
        jw_member_i64(w, STR("devices"), r->to);
        break;
    case REMEDY_NONE:
    case REMEDY_WAIT:
    case REMEDY_PREEMPTIBLE:
    case REMEDY_SELECTOR:
    case REMEDY_TAINTS:
    case REMEDY_NUMA:
    case REMEDY_AFFINITY:
    case REMEDY_ANTI_AFFINITY:
    case REMEDY_TOPOLOGY:
    case REMEDY_NODE:
    case REMEDY_END:
    case REMEDY_COUNT:
        break;
    }
}

static void show_workload_of(struct jw *w, const struct remedy_workload *of)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), of->id);
    jw_member_string(w, STR("name"), of->name);
    jw_object_end(w);
}

static void show_names(struct jw *w, const struct remedy_told *told)
{
    static const struct str resources[] = {STRS("gpu"), STRS("cpu"), STRS("memory")};
    const struct remedy *r = &told->remedy;
    if (told->queue.len > 0) {
        jw_member_string(w, STR("queue"), told->queue);
        jw_member_string(w, STR("queue_kind"),
                         told->queue_is_department ? STR("department") : STR("project"));
        jw_member_string(w, STR("resource"), resources[r->resource]);
        jw_member_bool(w, STR("and_above"), r->path);
    }
    if (told->node.len > 0) {
        jw_member_string(w, STR("node"), told->node);
    }
    if (!uuid_is_zero(told->other.id)) {
        jw_key(w, STR("other"));
        show_workload_of(w, &told->other);
    }
    if (told->holders_count + told->holders_hidden > 0) {
        jw_key(w, STR("holders"));
        jw_array_begin(w);
        for (uint32_t i = 0; i < told->holders_count; i++) {
            show_workload_of(w, &told->holders[i]);
        }
        jw_array_end(w);
        jw_member_i64(w, STR("holders_hidden"), told->holders_hidden);
    }
}

static bool may_see(struct show *s, struct uuid id)
{
    const struct workload *w = engine_find(s->engine, id);
    return s->sight->grants->all || (w != NULL && sight_workload(s->sight, w));
}

void show_remedy_hide(struct show *s, struct remedy_told *told)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < told->holders_count; i++) {
        if (may_see(s, told->holders[i].id)) {
            told->holders[kept++] = told->holders[i];
        }
    }
    told->holders_hidden += told->holders_count - kept;
    told->holders_count = kept;
    if (!uuid_is_zero(told->other.id) && !may_see(s, told->other.id)) {
        told->other = (struct remedy_workload){.name = STR("")};
    }
}

void show_remedy(struct jw *w, const struct remedy_told *told)
{
    const struct remedy *r = &told->remedy;
    if (r->outcome == REMEDY_NOT_WAITING) {
        jw_null(w);
        return;
    }
    struct buf text;
    buf_init(&text, TEXT_MAX);
    words_remedy(told, &text);
    jw_object_begin(w);
    jw_member_string(w, STR("outcome"), remedy_outcome_name(r->outcome));
    jw_member_string(w, STR("code"), remedy_name(r->kind));
    jw_member_string(w, STR("message"), buf_view(&text));
    buf_done(&text);
    jw_member_string(w, STR("pool"), told->pool);
    show_numbers(w, r);
    show_names(w, told);
    if (r->until_ms != TIME_NEVER) {
        show_time(w, STR("at"), r->until_ms);
    }
    jw_member_bool(w, STR("at_once"), r->at_once);
    jw_member_i64(w, STR("stopped"), r->stopped);
    jw_member_i64(w, STR("trials"), r->trials);
    jw_member_bool(w, STR("exhausted"), r->exhausted);
    jw_object_end(w);
}
