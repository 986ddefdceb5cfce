// SPDX-License-Identifier: Apache-2.0
// The audit in the words of Run:ai: who did what within their own scope.
#include "api/audit.h"

#include <string.h>

#include "access/entity.h"
#include "api/runai/common.h"
#include "base/hash.h"
#include "codec/csv.h"

enum { CSV_BYTES_MAX = 64 << 20 };

enum {
    COL_TIMESTAMP,
    COL_SUBJECT,
    COL_SUBJECT_TYPE,
    COL_SOURCE_IP,
    COL_ACTION,
    COL_HTTP_METHOD,
    COL_RESULT,
    COL_URL,
    COL_ENTITY_TYPE,
    COL_ENTITY_NAME,
    COL_ENTITY_ID,
    COL_CLUSTER_NAME,
    COL_COUNT
};
static const struct column columns[COL_COUNT] = {
    [COL_TIMESTAMP] = {"timestamp",    COLUMN_TIME},
    [COL_SUBJECT] = {"subject",      COLUMN_TEXT},
    [COL_SUBJECT_TYPE] = {"subject_type", COLUMN_TEXT},
    [COL_SOURCE_IP] = {"source_ip",    COLUMN_TEXT},
    [COL_ACTION] = {"action",       COLUMN_TEXT},
    [COL_HTTP_METHOD] = {"http_method",  COLUMN_TEXT},
    [COL_RESULT] = {"result",       COLUMN_TEXT},
    [COL_URL] = {"url",          COLUMN_TEXT},
    [COL_ENTITY_TYPE] = {"entity_type",  COLUMN_TEXT},
    [COL_ENTITY_NAME] = {"entity_name",  COLUMN_TEXT},
    [COL_ENTITY_ID] = {"entity_id",    COLUMN_TEXT},
    [COL_CLUSTER_NAME] = {"cluster_name", COLUMN_TEXT},
};

static const struct audit_entry *entry_at(const struct call *c, uint32_t row)
{
    return audit_row(c->api->audit, row);
}

static struct str subject_type(const struct audit_entry *e)
{
    return e->subject_kind == SUBJECT_APPLICATION ? STR("App") : STR("User");
}

static struct str result_of(const struct audit_entry *e)
{
    return e->refused ? STR("Failed") : STR("Succeeded");
}

// The id in the path, as far as there is one: its last part that is a number or a uuid.
static struct str entity_id(const struct audit_entry *e)
{
    struct str rest = e->path;
    struct str part;
    struct str id = {0};
    while (str_split(&rest, '/', &part)) {
        struct uuid uuid;
        int64_t number;
        if (uuid_parse(part, &uuid) || num_parse_i64(part, &number)) {
            id = part;
        }
    }
    return id;
}

static struct cell cell(void *ctx, uint32_t row, uint32_t column)
{
    const struct call *c = ctx;
    const struct audit_entry *e = entry_at(c, row);
    switch (column) {
    case COL_TIMESTAMP:
        return cell_time(e->at_ms);
    case COL_SUBJECT:
        return cell_text(e->subject);
    case COL_SUBJECT_TYPE:
        return cell_text(subject_type(e));
    case COL_SOURCE_IP:
        return cell_text(e->source);
    case COL_ACTION:
        return cell_text(audit_action_name(e->action));
    case COL_HTTP_METHOD:
        return cell_text(e->method);
    case COL_RESULT:
        return cell_text(result_of(e));
    case COL_URL:
        return cell_text(e->path);
    case COL_ENTITY_TYPE:
        return cell_text(entity_info(e->entity)->name);
    case COL_ENTITY_NAME:
        return cell_text(e->name);
    case COL_ENTITY_ID:
        return cell_text(entity_id(e));
    default:
        return cell_text(state_of(c)->cluster_name);
    }
}

static bool seen(void *ctx, uint32_t row)
{
    struct call *c = ctx;
    const struct audit_entry *e = entry_at(c, row);
    return e->at_ms >= body_time(c->args, STR("start"), 0) &&
           e->at_ms <= body_time(c->args, STR("end"), INT64_MAX) &&
           e->at_ms >= writer_now_ms(c->api->writer) - AUDIT_KEPT_MS && audit_seen(c, e);
}

static struct list list_of(struct call *c)
{
    return (struct list){
        .c = c,
        .columns = columns,
        .columns_count = COL_COUNT,
        .cell = cell,
        .seen = seen,
        .ctx = c,
        .rows_count = audit_count(c->api->audit),
        .limit_arg = "numberOfSamples",
        .newest_first = true,
    };
}

static struct uuid entry_id(const struct audit_entry *e)
{
    uint8_t bytes[16] = {0};
    uint64_t h = hash_u64((uint64_t)e->seq, 0);
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, &e->seq, sizeof e->seq);
    return uuid_from_random(bytes);
}

static void show(struct call *c, struct jw *w, const struct audit_entry *e)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), entry_id(e));
    show_moment(w, STR("timestamp"), e->at_ms);
    jw_member_string(w, STR("tenant_id"), arena_printf(c->arena, "%d", TENANT_ID));
    jw_member_string(w, STR("subject"), e->subject);
    jw_member_string(w, STR("subject_type"), subject_type(e));
    jw_member_string(w, STR("source_ip"), e->source);
    jw_member_string(w, STR("action"), audit_action_name(e->action));
    jw_member_string(w, STR("http_method"), e->method);
    jw_member_string(w, STR("url"), e->path);
    jw_member_string(w, STR("entity_type"), entity_info(e->entity)->name);
    jw_member_string(w, STR("entity_name"), e->name);
    jw_member_string(w, STR("entity_id"), entity_id(e));
    jw_member_string(w, STR("result"), result_of(e));
    if (e->refused) { /* of what was done the journal has no code */
        jw_member_i64(w, STR("http_status_code"), status_info(e->status)->http);
    }
    jw_member_string(w, STR("cluster_name"), state_of(c)->cluster_name);
    show_cluster_id(c, w, STR("cluster_id"));
    show_uuid(w, STR("request_id"), e->request);
    if (e->text.len > 0) {
        jw_key(w, STR("metadata"));
        jw_object_begin(w);
        jw_member_string(w, STR("message"), e->text);
        jw_object_end(w);
    }
    jw_object_end(w);
}

static void get_log(struct call *c)
{
    struct list l = list_of(c);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_i64(&w, STR("total"), l.count);
    list_next(&l, &w);
    jw_key(&w, STR("audit_logs"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show(c, &w, entry_at(c, l.rows[i]));
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void csv_line(const struct call *c, struct buf *out, uint32_t row)
{
    char at[RFC3339_TEXT_SIZE];
    buf_str(out, rfc3339_format(entry_at(c, row)->at_ms, at));
    for (uint32_t k = COL_SUBJECT; k < COL_COUNT; k++) {
        buf_char(out, ',');
        csv_text(cell((void *)(uintptr_t)c, row, k).text, out);
    }
    buf_char(out, '\n');
}

static void get_file(struct call *c)
{
    struct list l = list_of(c);
    if (str_eq(body_str(c->args, STR("file_type")), STR("JSON"))) {
        get_log(c);
        return;
    }
    if (!list_select(&l)) {
        return;
    }
    struct buf lines;
    buf_init(&lines, CSV_BYTES_MAX);
    for (uint32_t k = 0; k < COL_COUNT; k++) {
        buf_printf(&lines, "%s%s", k > 0 ? "," : "", columns[k].name);
    }
    buf_char(&lines, '\n');
    for (uint32_t i = l.first; i < l.end; i++) {
        csv_line(c, &lines, l.rows[i]);
    }
    http_set_header(c->request, "Content-Disposition", STR("attachment; filename=\"audit.csv\""));
    http_answer(c->request, 200, "text/csv; charset=utf-8", buf_view(&lines));
    buf_done(&lines);
}

static const struct schema_row schemas[] = {
    {"AuditLog",
     "id uuid, timestamp ts, tenant_id* str, subject* str, subject_type* 'User'|'App', source_ip "
     "str, "
     "action* 'create'|'update'|'delete'|'sign-in'|'sign-out'|'reset-password', http_method str, "
     "url "
     "str, entity_type str, entity_name str, entity_id str, result* 'Succeeded'|'Failed', "
     "http_status_code int, cluster_name str, cluster_id uuid, request_id uuid, metadata map<str>"},
    {"AuditLogs", "total int, next int, audit_logs* [AuditLog]"                                   },
};

#define SPAN_ARGS "start* ts, end* ts, " FILTER_ARGS ", "

static const struct route routes[] = {
    {"GET", "/api/v1/audit/log",      "get_audit_logs",      get_log,
     SPAN_ARGS "offset int(0..) = 0, numberOfSamples int(1..1000) = 50, " ORDER_ARG
               ", sortBy 'timestamp'|'subject'|'subject_type'|'source_ip'|'action'|'http_method'|"
               "'result'|'url'|'entity_type'|'entity_name'|'entity_id'",                NULL, 200, "AuditLogs", "Who did what, and who was refused what, the newest first", 0,
     "read events-history"                                                                                                                                                                                     },
    {"GET", "/api/v1/audit/log/file", "download_audit_logs", get_file,
     SPAN_ARGS "file_type 'CSV'|'JSON' = CSV, numberOfSamples int(1..100000) = 100000", NULL, 200,
     NULL,                                                                                                      "The same as a file",                                       ROUTE_STREAM, "read events-history"},
};

const struct route_group group_audit = ROUTE_GROUP("Audit", routes, schemas);
