// SPDX-License-Identifier: Apache-2.0
#include "model/audit.h"

#include <string.h>

#include "base/test.h"

static struct input command(enum input_kind kind, const char *method, enum right right)
{
    struct input in = {.seq = 7, .now_ms = 1000, .kind = kind, .author = STR("ann@x")};
    in.origin = (struct origin){
        .source = STR("192.0.2.1"),
        .method = str_from_c(method),
        .path = STR("/api/v1/x"),
        .entity = ENTITY_PROJECTS,
        .right = right,
        .scope = {SCOPE_PROJECT, 5},
        .name = STR("thing"),
    };
    return in;
}

static struct input identity(enum identity_op op, enum right right)
{
    struct input in = command(INPUT_IDENTITY, "POST", right);
    in.identity.op = op;
    return in;
}

static struct input refused(const char *what, const char *method, enum right right)
{
    struct input in = command(INPUT_REFUSED, method, right);
    in.refused = (struct refused){str_from_c(what), STATUS_DENIED, STR("no"), 0};
    return in;
}

TEST(each_command_is_called_what_it_does)
{
    const struct {
        const char *name;
        struct input in;
        const char *want; /* NULL: not for the audit */
    } rows[] = {
        {"a submit", command(INPUT_SUBMIT, "POST", RIGHT_CREATE), "create"},
        {"suspending", command(INPUT_SUSPEND, "POST", RIGHT_UPDATE), "update"},
        {"deleting a workload", command(INPUT_DELETE, "DELETE", RIGHT_DELETE), "delete"},
        {"a drain", command(INPUT_NODE_DRAIN, "POST", RIGHT_UPDATE), "update"},
        {"a plan", command(INPUT_PLAN_APPLY, "POST", RIGHT_UPDATE), "update"},
        {"a new project", command(INPUT_PLAN_APPLY, "POST", RIGHT_CREATE), "create"},
        {"a project that goes", command(INPUT_PLAN_APPLY, "DELETE", RIGHT_DELETE), "delete"},
        {"a user", identity(IDENTITY_USER_ADD, RIGHT_CREATE), "create"},
        {"a sign-in", identity(IDENTITY_SIGN_IN, 0), "sign-in"},
        {"a sign-out", identity(IDENTITY_SIGN_OUT, RIGHT_UPDATE), "sign-out"},
        {"a password", identity(IDENTITY_USER_PASSWORD, RIGHT_UPDATE), "reset-password"},
        {"a refused sign-in", refused("sign-in", "POST", 0), "sign-in"},
        {"refused before its right", refused("x", "DELETE", 0), "delete"},
        {"refused", refused("x", "POST", RIGHT_UPDATE), "update"},
        {"weir's own", command(INPUT_NAME_CLUSTER, "", 0), NULL},
        {"an observation", command(INPUT_POD_EXITED, "", 0), NULL},
        {"a tick", command(INPUT_TICK, "", 0), NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct audit_entry e;
        test_row(rows[i].name);
        EXPECT(audit_of(&rows[i].in, &e) == (rows[i].want != NULL));
        if (rows[i].want != NULL) {
            EXPECT(str_eq(audit_action_name(e.action), str_from_c(rows[i].want)));
            EXPECT(e.refused == (rows[i].in.kind == INPUT_REFUSED));
        }
    }
    test_row(NULL);
}

TEST(what_is_read_of_a_record_is_what_the_whole_of_it_says)
{
    struct arena arena;
    struct buf bytes;
    struct err err = {0};
    arena_init(&arena, 0);
    buf_init(&bytes, 1 << 20);
    struct input inputs[] = {command(INPUT_SUBMIT, "POST", RIGHT_CREATE),
                             identity(IDENTITY_SIGN_IN, 0), refused("sign-in", "POST", 0),
                             command(INPUT_NODE_DRAIN, "POST", RIGHT_UPDATE)};
    inputs[0].origin.name = STR("");
    inputs[0].submit.name = STR("job");
    inputs[0].submit.project = STR("p");
    inputs[3].node_name = STR("n1");
    for (size_t i = 0; i < COUNT_OF(inputs); i++) {
        struct input *part = ARENA_NEW(&arena, struct input);
        struct audit_entry whole, read;
        buf_clear(&bytes);
        record_encode(&record_input, &inputs[i], &bytes);
        REQUIRE_OK(record_decode(&record_audited, buf_view(&bytes), &arena, part, &err), &err);
        REQUIRE(audit_of(&inputs[i], &whole) && audit_of(part, &read));
        EXPECT_I64(read.seq, whole.seq);
        EXPECT_I64(read.at_ms, whole.at_ms);
        EXPECT_I64(read.action, whole.action);
        EXPECT_I64(read.status, whole.status);
        EXPECT_I64(read.entity, whole.entity);
        EXPECT(read.refused == whole.refused && uuid_eq(read.request, whole.request));
        EXPECT(str_eq(read.name, whole.name) && str_eq(read.subject, whole.subject));
        EXPECT(str_eq(read.source, whole.source) && str_eq(read.text, whole.text));
        EXPECT(str_eq(read.path, whole.path) && str_eq(read.method, whole.method));
    }
    buf_done(&bytes);
    arena_done(&arena);
}

TEST_MAIN()
