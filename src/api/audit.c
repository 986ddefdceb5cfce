// SPDX-License-Identifier: Apache-2.0
// The entries live in blocks, each with the memory of its texts; the oldest block goes as a whole.
#include "api/audit.h"

#include "access/entity.h"
#include "api/call.h"
#include "api/show_parts.h"
#include "base/mem.h"
#include "base/num.h"

struct block {
    struct arena arena;
    uint32_t count;
    struct audit_entry items[AUDIT_BLOCK];
};
struct audit {
    struct block *blocks[AUDIT_BLOCKS];
    uint32_t first, used; /* in turn */
};

struct audit *audit_new(void)
{
    return mem_alloc(sizeof(struct audit));
}

static struct block *block_at(const struct audit *a, uint32_t nth)
{
    return a->blocks[(a->first + nth) % AUDIT_BLOCKS];
}

static void drop_oldest(struct audit *a)
{
    struct block *b = block_at(a, 0);
    arena_done(&b->arena);
    mem_free(b);
    a->first = (a->first + 1) % AUDIT_BLOCKS;
    a->used--;
}

void audit_free(struct audit *a)
{
    while (a != NULL && a->used > 0) {
        drop_oldest(a);
    }
    mem_free(a);
}

static struct block *block_with_room(struct audit *a)
{
    if (a->used > 0 && block_at(a, a->used - 1)->count < AUDIT_BLOCK) {
        return block_at(a, a->used - 1);
    }
    if (a->used == AUDIT_BLOCKS) {
        drop_oldest(a);
    }
    struct block *b = mem_alloc(sizeof *b);
    b->count = 0;
    arena_init(&b->arena, 0);
    a->blocks[(a->first + a->used++) % AUDIT_BLOCKS] = b;
    return b;
}

uint32_t audit_count(const struct audit *a)
{
    return a->used == 0 ? 0 : (a->used - 1) * AUDIT_BLOCK + block_at(a, a->used - 1)->count;
}

const struct audit_entry *audit_row(const struct audit *a, uint32_t row)
{
    return &block_at(a, row / AUDIT_BLOCK)->items[row % AUDIT_BLOCK];
}

static struct audit_entry *find(struct audit *a, int64_t seq, struct block **in)
{
    for (uint32_t row = audit_count(a); row > 0; row--) {
        struct block *b = block_at(a, (row - 1) / AUDIT_BLOCK);
        struct audit_entry *e = &b->items[(row - 1) % AUDIT_BLOCK];
        if (e->seq <= seq) {
            *in = b;
            return e->seq == seq ? e : NULL;
        }
    }
    return NULL;
}

void audit_record(struct audit *a, const struct input *in)
{
    struct audit_entry e;
    struct block *b;
    if (!audit_of(in, &e)) {
        return;
    }
    int64_t command_seq = in->refused.command_seq;
    struct audit_entry *command = command_seq > 0 ? find(a, command_seq, &b) : NULL;
    if (command != NULL) {
        command->refused = true;
        command->status = e.status;
        command->text = arena_str(&b->arena, e.text);
        return;
    }
    b = block_with_room(a);
    struct str *texts[] = {&e.subject, &e.source, &e.name, &e.method, &e.path, &e.text};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        *texts[i] = arena_str(&b->arena, *texts[i]);
    }
    b->items[b->count++] = e;
}

bool audit_seen(struct call *c, const struct audit_entry *e)
{
    const struct scope_set *set = sight_set(call_sight(c), ENTITY_AUDIT);
    return set->tenant || scope_set_has(set, e->scope);
}

/* ---- weir's own face ---- */

static bool is_asked_for(struct call *c, const struct audit_entry *e)
{
    struct str subject = body_str(c->args, STR("subject"));
    struct str action = body_str(c->args, STR("action"));
    struct str result = body_str(c->args, STR("result"));
    return (subject.len == 0 || str_eq(subject, e->subject)) &&
           (action.len == 0 || str_eq(action, audit_action_name(e->action))) &&
           (result.len == 0 || str_eq(result, STR("refused")) == e->refused) && audit_seen(c, e);
}

static void show_entry(struct jw *w, const struct audit_entry *e)
{
    jw_object_begin(w);
    jw_member_i64(w, STR("seq"), e->seq);
    show_time(w, STR("at"), e->at_ms);
    jw_member_string(w, STR("subject"), e->subject);
    jw_member_string(w, STR("source"), e->source);
    jw_member_string(w, STR("action"), audit_action_name(e->action));
    jw_member_string(w, STR("entity"), entity_info(e->entity)->name);
    jw_member_string(w, STR("name"), e->name);
    jw_member_string(w, STR("result"), e->refused ? STR("refused") : STR("done"));
    jw_member_string(w, STR("status"),
                     e->refused ? str_from_c(status_info(e->status)->name) : STR("ok"));
    jw_member_string(w, STR("message"), e->text);
    jw_member_string(w, STR("method"), e->method);
    jw_member_string(w, STR("path"), e->path);
    show_uuid(w, STR("request_id"), e->request);
    jw_object_end(w);
}

void get_audit(struct call *c)
{
    const struct audit *a = c->api->audit;
    int64_t until_ms = body_time(c->args, STR("until"), INT64_MAX);
    int64_t since_ms = num_max_i64(body_time(c->args, STR("since"), 0),
                                   writer_now_ms(c->api->writer) - AUDIT_KEPT_MS);
    int64_t first = body_i64(c->args, STR("offset"), 0);
    int64_t end = num_sat_add_i64(first, body_i64(c->args, STR("limit"), 0));
    int64_t total = 0;
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("items"));
    jw_array_begin(&w);
    for (uint32_t row = audit_count(a); row > 0; row--) {
        const struct audit_entry *e = audit_row(a, row - 1);
        if (e->at_ms < since_ms) {
            break;
        }
        if (e->at_ms > until_ms || !is_asked_for(c, e)) {
            continue;
        }
        if (total >= first && total < end) {
            show_entry(&w, e);
        }
        total++;
    }
    jw_array_end(&w);
    jw_member_i64(&w, STR("total"), total);
    jw_object_end(&w);
    call_send(c, 200);
}
