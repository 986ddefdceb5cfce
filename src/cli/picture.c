// SPDX-License-Identifier: Apache-2.0
// picture: every bar has the same scale, the pool's GPUs across its width. What a project holds of
// its guarantee is solid, what it borrows hatched, what it is guaranteed and does not hold dotted.
#include "cli/picture.h"

#include "base/num.h"
#include "cli/view.h"

enum { NAME_MAX = 24, NOTE_WIDTH = 40, BAR_MIN = 16, BAR_MAX = 64 };
#define BORROWED    "▒"
#define UNUSED_MARK "·"

static bool is_shown(const struct doc *queue)
{
    return str_eq(view_raw(queue, "kind"), STR("project")) &&
           (view_millionths(queue, "guaranteed_gpus", 0) > 0 ||
            view_millionths(queue, "held_gpus", 0) > 0);
}

static uint32_t name_width(const struct doc *queues)
{
    uint32_t widest = view_width(STR("free"));
    for (const struct doc *q = queues; q != NULL; q = q->next) {
        uint32_t w = view_width(view_text(q, "name"));
        if (is_shown(q) && w > widest) {
            widest = w;
        }
    }
    return widest > NAME_MAX ? NAME_MAX : widest;
}

static void begin_line(struct arena *arena, struct str name, uint32_t names, struct buf *out)
{
    name = view_shorten(arena, view_harmless(arena, name), names);
    buf_printf(out, "  " STR_FMT "%*s ▕", STR_ARG(name), (int)(names - view_width(name)), "");
}

static void draw_project(struct arena *arena, const struct doc *row, int64_t whole, uint32_t bar,
                         bool colour, struct buf *out)
{
    int64_t held = view_millionths(row, "held_gpus", 0);
    int64_t guaranteed = view_millionths(row, "guaranteed_gpus", 0);
    int64_t borrowed = view_millionths(row, "over_quota_gpus", 0);
    int64_t own = held > borrowed ? held - borrowed : 0;
    const struct view_bar_part parts[] = {
        {own,                                                      NULL,        TINT_GOOD},
        {borrowed,                                                 BORROWED,    TINT_WAIT},
        {borrowed == 0 && guaranteed > own ? guaranteed - own : 0, UNUSED_MARK, TINT_DIM },
    };
    view_bar(out, parts, COUNT_OF(parts), whole, bar, colour);
    buf_printf(out, "▏ " STR_FMT " of " STR_FMT " guaranteed", STR_ARG(view_decimal(arena, own)),
               STR_ARG(view_decimal(arena, guaranteed)));
    if (borrowed > 0) {
        buf_printf(out, ", " STR_FMT " borrowed", STR_ARG(view_decimal(arena, borrowed)));
    }
    buf_char(out, '\n');
}

void picture_pool(struct arena *arena, const struct doc *pool, uint32_t width, bool colour,
                  struct buf *out)
{
    const struct doc *list = doc_get(pool, STR("queues"));
    const struct doc *queues = list != NULL ? list->child : NULL;
    int64_t whole = view_millionths(pool, "gpus", 0);
    if (whole <= 0) {
        buf_str(out, STR("  The pool has no GPUs.\n"));
        return;
    }
    uint32_t names = name_width(queues);
    uint32_t around = 2 + names + 3 + NOTE_WIDTH;
    uint32_t bar = width > around + BAR_MIN ? width - around : BAR_MIN;
    bar = bar > BAR_MAX ? BAR_MAX : bar;
    int64_t gpus = whole / 1000000;
    if (gpus > 0 && gpus <= bar / 2) {
        bar -= bar % (uint32_t)gpus; // whole devices then end at whole cells
    }
    struct str department = STR("");
    for (const struct doc *q = queues; q != NULL; q = q->next) {
        if (!is_shown(q)) {
            continue;
        }
        if (!str_eq(view_raw(q, "parent"), department)) {
            department = view_raw(q, "parent");
            buf_printf(out, "  %s" STR_FMT "%s\n", tint_begin(TINT_DIM, colour),
                       STR_ARG(view_harmless(arena, department)), tint_end(colour));
        }
        begin_line(arena, view_text(q, "name"), names, out);
        draw_project(arena, q, whole, bar, colour, out);
    }
    int64_t held = view_millionths(pool, "gpus_held", 0);
    const struct view_bar_part rest[] = {
        {whole > held ? whole - held : 0, "░", TINT_DIM}
    };
    begin_line(arena, STR("free"), names, out);
    view_bar(out, rest, COUNT_OF(rest), whole, bar, colour);
    buf_printf(out, "▏ " STR_FMT " of " STR_FMT "\n", STR_ARG(view_decimal(arena, rest[0].amount)),
               STR_ARG(view_decimal(arena, whole)));
    buf_printf(out, "\n  █ held of the guarantee   " BORROWED " borrowed   " UNUSED_MARK
                    " guaranteed, not in use   ░ free\n");
}
