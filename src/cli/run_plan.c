// SPDX-License-Identifier: Apache-2.0
// run_plan: the tenant plan against a server; the half that needs none is plan.c.
#include "cli/run.h"

#include <string.h>

#include "base/num.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "cli/plan.h"
#include "cli/view.h"

enum { PLAN_TEXT_MAX = 32 << 20 };

static void write_buf(struct buf *text, FILE *out)
{
    fwrite(text->ptr, 1, text->len, out);
    buf_done(text);
}

static int read_file(struct cli *cli, const struct args *args, struct plan_file *file)
{
    struct err err;
    if (plan_file_read(arena_cstr(&cli->arena, args->words[0]), &cli->arena, file, &err) !=
        STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    return 0;
}

// The server's problems take the place of those found here: it has found the same and more.
static void take_problems(struct cli *cli, struct plan_file *file, const struct doc *body)
{
    const struct doc *list = doc_get(body, STR("problems"));
    if (list == NULL || list->kind != DOC_LIST) {
        return;
    }
    problems_init(&file->problems, &cli->arena);
    for (const struct doc *d = list->child; d != NULL; d = d->next) {
        bool error = !str_eq(view_raw(d, "severity"), STR("warning"));
        struct problem *p = problems_add(&file->problems, error ? SEVERITY_ERROR : SEVERITY_WARNING,
                                         STR_FMT, STR_ARG(view_raw(d, "text")));
        int64_t line = view_i64(d, "line", 0), col = view_i64(d, "col", 0);
        p->line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
        p->col = col > 0 && col <= UINT32_MAX ? (uint32_t)col : 0;
        p->field = view_raw(d, "field");
        p->hint = view_raw(d, "hint");
    }
}

static int show_problems(const struct plan_file *file, FILE *out)
{
    struct buf text;
    buf_init(&text, PLAN_TEXT_MAX);
    plan_problems_print(file, &text);
    write_buf(&text, out);
    return plan_file_exit(file);
}

static enum status send(struct cli *cli, const char *below, const struct plan_file *file,
                        struct answer *answer, struct err *err)
{
    struct request r = {.method = "POST",
                        .path = str_from_c(below),
                        .type = "application/yaml",
                        .body = file->bytes};
    return client_call(&cli->client, &r, answer, err);
}

/* check */

// The problems as the API gives them, for --json.
static struct doc *problems_doc(struct cli *cli, const struct plan_file *file)
{
    struct arena *a = &cli->arena;
    struct doc *root = ARENA_NEW(a, struct doc), *list = ARENA_NEW(a, struct doc);
    struct doc **end = &list->child;
    *root = (struct doc){.kind = DOC_MAP, .child = list, .child_count = 1};
    *list = (struct doc){.kind = DOC_LIST, .key = STR("problems")};
    for (uint32_t i = 0; i < file->problems.count; i++) {
        const struct problem *p = &file->problems.items[i];
        struct doc members[] = {
            {.kind = DOC_STRING,
             .key = STR("severity"),
             .text = p->severity == SEVERITY_ERROR ? STR("error") : STR("warning")},
            {.kind = DOC_NUMBER, .key = STR("line"), .text = arena_printf(a, "%u", p->line)},
            {.kind = DOC_NUMBER, .key = STR("col"), .text = arena_printf(a, "%u", p->col)},
            {.kind = DOC_STRING, .key = STR("field"), .text = p->field},
            {.kind = DOC_STRING, .key = STR("text"), .text = p->text},
            {.kind = DOC_STRING, .key = STR("hint"), .text = p->hint},
        };
        struct doc *item = ARENA_NEW(a, struct doc);
        struct doc *kept = ARENA_ARRAY(a, struct doc, COUNT_OF(members));
        for (uint32_t k = 0; k < COUNT_OF(members); k++) {
            kept[k] = members[k];
            kept[k].next = k + 1 < COUNT_OF(members) ? &kept[k + 1] : NULL;
        }
        *item = (struct doc){.kind = DOC_MAP, .child = kept, .child_count = COUNT_OF(members)};
        *end = item;
        end = &item->next;
        list->child_count++;
    }
    return root;
}

int run_plan_check(struct cli *cli, const struct args *args)
{
    struct plan_file file;
    struct answer answer = {0};
    struct err err;
    int failed = read_file(cli, args, &file);
    if (failed) {
        return failed;
    }
    bool offline = args_has(args, "offline");
    if (!offline) {
        enum status status = send(cli, "/plan/check", &file, &answer, &err);
        offline = status == STATUS_UNREACHABLE;
        if (status != STATUS_OK && !offline && doc_get(answer.body, STR("problems")) == NULL) {
            return cli_fail(cli, &err, answer.body);
        }
        if (offline && !cli->quiet) {
            fprintf(stderr,
                    "no server answers: the file alone is checked, not the hardware and what "
                    "is held\n");
        }
    }
    if (offline) {
        plan_file_check(&file, NULL, false, NULL, 0);
    } else {
        take_problems(cli, &file, answer.body);
    }
    if (listing_form(cli, args, problems_doc(cli, &file), &failed)) {
        return failed ? failed : plan_file_exit(&file);
    }
    return show_problems(&file, stdout);
}

/* diff and apply */

static struct plan_change *read_changes(struct cli *cli, const struct doc *body, uint32_t *count)
{
    const struct doc *list = doc_get(body, STR("changes"));
    *count = list != NULL && list->kind == DOC_LIST ? list->child_count : 0;
    struct plan_change *changes = ARENA_ARRAY(&cli->arena, struct plan_change, *count + 1);
    uint32_t n = 0;
    for (const struct doc *d = *count > 0 ? list->child : NULL; d != NULL; d = d->next) {
        struct str kind = view_raw(d, "kind");
        changes[n++] = (struct plan_change){
            .kind = str_eq(kind, STR("add"))      ? CHANGE_ADD
                    : str_eq(kind, STR("remove")) ? CHANGE_REMOVE
                                                  : CHANGE_SET,
            .what = view_raw(d, "what"),
            .field = view_raw(d, "field"),
            .from = view_raw(d, "from"),
            .to = view_raw(d, "to"),
        };
    }
    return changes;
}

static uint32_t show_changes(struct cli *cli, const struct doc *body, FILE *out)
{
    uint32_t count;
    struct buf text;
    struct plan_change *changes = read_changes(cli, body, &count);
    buf_init(&text, PLAN_TEXT_MAX);
    plan_changes_print(changes, count, &text);
    write_buf(&text, out);
    return count;
}

// The server's refusal: problems under the user's own lines where it names any.
static int refused(struct cli *cli, struct plan_file *file, const struct err *err,
                   const struct answer *answer)
{
    take_problems(cli, file, answer->body);
    if (file->problems.error_count > 0) {
        return show_problems(file, stderr);
    }
    return cli_fail(cli, err, answer->body);
}

static int get_diff(struct cli *cli, const struct args *args, struct plan_file *file,
                    struct answer *answer)
{
    struct err err;
    int failed = read_file(cli, args, file);
    if (failed) {
        return failed;
    }
    if (file->problems.error_count > 0) {
        return show_problems(file, stderr);
    }
    const char *below = args_has(args, "prune") ? "/plan/diff?prune=1" : "/plan/diff?prune=0";
    return send(cli, below, file, answer, &err) == STATUS_OK ? 0 : refused(cli, file, &err, answer);
}

int run_plan_diff(struct cli *cli, const struct args *args)
{
    struct plan_file file;
    struct answer answer;
    int failed = get_diff(cli, args, &file, &answer);
    if (failed || listing_form(cli, args, answer.body, &failed)) {
        return failed;
    }
    show_changes(cli, answer.body, stdout);
    return 0;
}

static int conflict(struct cli *cli, struct err *err, const struct doc *body)
{
    int status = cli_fail(cli, err, body);
    const struct doc *changes = doc_get(body, STR("changes"));
    if (changes != NULL && changes->child != NULL) {
        fprintf(stderr, "what others changed meanwhile:\n");
        show_changes(cli, body, stderr);
    }
    return status;
}

int run_plan_apply(struct cli *cli, const struct args *args)
{
    struct plan_file file;
    struct answer answer;
    struct err err;
    int failed = get_diff(cli, args, &file, &answer);
    if (failed) {
        return failed;
    }
    bool table = cli_form(cli, args) == FORM_TABLE;
    int64_t base = args_number(args, "base-revision", view_i64(answer.body, "base_revision", 0));
    const struct doc *changes = doc_get(answer.body, STR("changes"));
    bool none = changes == NULL || changes->child == NULL;
    if (table && !cli->quiet) {
        show_changes(cli, answer.body, stdout);
    }
    if (!none && !args_has(args, "yes") && !cli_confirm("Apply these changes?", false)) {
        err_set(&err, STATUS_INVALID, "nothing was changed");
        err_hint(&err, "say yes when asked, or give --yes");
        return cli_fail(cli, &err, NULL);
    }
    struct str below = arena_printf(&cli->arena, "/plan/apply?prune=%d&base_revision=%lld",
                                    args_has(args, "prune") ? 1 : 0, (long long)base);
    enum status status = send(cli, below.ptr, &file, &answer, &err);
    if (status == STATUS_CONFLICT) {
        return conflict(cli, &err, answer.body);
    }
    if (status != STATUS_OK) {
        return refused(cli, &file, &err, &answer);
    }
    if (!listing_form(cli, args, answer.body, &failed)) {
        cli_say(cli, "plan is at revision " STR_FMT "\n",
                STR_ARG(view_text(answer.body, "revision")));
    }
    return failed;
}

int run_plan_export(struct cli *cli, const struct args *args)
{
    struct answer answer;
    int failed = 0;
    enum form form = cli_form(cli, args);
    if (form == FORM_JSON) {
        failed = listing_get(cli, STR("/plan?format=json"), &answer);
        const struct doc *plan = failed ? NULL : doc_get(answer.body, STR("plan"));
        return failed || plan == NULL ? failed : cli_print(cli, form, plan);
    }
    failed = listing_get(cli, STR("/plan"), &answer);
    if (!failed) {
        cli_write(view_raw(answer.body, "yaml"));
    }
    return failed;
}
