// SPDX-License-Identifier: Apache-2.0
// run_login: signing in and out, and the token for others.
#include "cli/run.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/session.h"
#include "cli/view.h"
#include "codec/json.h"
#include "io/file.h"

enum { SECRET_BYTES_MAX = 4096 };

// Whom the server takes us for; what the SDK wants to know is noted on the way.
int login_greet(struct cli *cli)
{
    struct answer answer;
    struct err err;
    if (client_get(&cli->client, STR("/whoami"), &answer, &err) != STATUS_OK) {
        return cli_fail(cli, &err, answer.body);
    }
    struct answer clusters;
    struct err none;
    if (cli->client.at.url.len > 0 &&
        client_get(&cli->client, STR("/api/v1/clusters"), &clusters, &none) == STATUS_OK &&
        clusters.body != NULL && clusters.body->child != NULL &&
        settings_set(&cli->settings, STR("cluster.uuid"), view_raw(clusters.body->child, "uuid"),
                     &err) != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    struct str roles = view_join(&cli->arena, doc_get(answer.body, STR("roles")), ", ");
    cli_say(cli, "You are " STR_FMT " (" STR_FMT ") to the server at " STR_FMT ".\n",
            STR_ARG(view_text(answer.body, "user")),
            STR_ARG(str_eq(roles, STR("-")) ? STR("no role yet") : roles),
            STR_ARG(client_where(&cli->client)));
    if (settings_get(&cli->settings, STR("project")).len == 0) {
        cli_say(cli, "Choose your project with weir project set NAME.\n");
    }
    return 0;
}

int run_login(struct cli *cli, const struct args *args)
{
    (void)args;
    if (cli->client.at.url.len > 0 && cli->client.bearer.len == 0) {
        struct err err;
        err_set(&err, STATUS_UNAUTHENTIC, "who are you to the server at " STR_FMT "?",
                STR_ARG(client_where(&cli->client)));
        err_hint(&err, "weir login user, weir login access-key, or weir login sso");
        return cli_fail(cli, &err, NULL);
    }
    return login_greet(cli);
}

static int sign_in(struct cli *cli, const struct credential *who)
{
    struct err err;
    if (session_sign_in(cli, who, &err) != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    return login_greet(cli);
}

// What is said in the arguments is seen by everyone on the machine.
static struct str from_argument(struct cli *cli, const struct args *args, const char *flag)
{
    if (args_has(args, flag) && !cli->quiet) {
        fprintf(
            stderr,
            "weir: --%s can be seen by others on this machine; leave it out to be asked, or give "
            "it as a line on standard input\n",
            flag);
    }
    return args_text(args, flag);
}

int run_login_user(struct cli *cli, const struct args *args)
{
    struct err err;
    struct credential who = {.user = args_text(args, "user"),
                             .password = from_argument(cli, args, "password")};
    enum status status = STATUS_OK;
    if (who.user.len == 0) {
        status = session_ask(cli, "User", false, &who.user, &err);
    }
    if (status == STATUS_OK && who.password.len == 0) {
        status = session_ask(cli, "Password", true, &who.password, &err);
    }
    return status == STATUS_OK ? sign_in(cli, &who) : cli_fail(cli, &err, NULL);
}

static enum status secret_of_file(struct cli *cli, struct str path, struct str *out,
                                  struct err *err)
{
    struct buf bytes;
    buf_init(&bytes, SECRET_BYTES_MAX);
    enum status status = file_read(AT_FDCWD, arena_cstr(&cli->arena, path), &bytes, err);
    *out = str_trim(arena_str(&cli->arena, buf_view(&bytes)));
    buf_done(&bytes);
    return status;
}

int run_login_key(struct cli *cli, const struct args *args)
{
    struct err err;
    struct credential who = {.client_id = args_text(args, "client-id"),
                             .secret = from_argument(cli, args, "secret"),
                             .save = args_has(args, "save")};
    struct str file = args_text(args, "secret-file");
    enum status status = STATUS_OK;
    if (who.client_id.len == 0) {
        status = session_ask(cli, "Client id", false, &who.client_id, &err);
    }
    if (status == STATUS_OK && file.len > 0) {
        status = secret_of_file(cli, file, &who.secret, &err);
    }
    if (status == STATUS_OK && who.secret.len == 0) {
        status = session_ask(cli, "Secret", true, &who.secret, &err);
    }
    return status == STATUS_OK ? sign_in(cli, &who) : cli_fail(cli, &err, NULL);
}

// A new password, typed twice where it is typed.
static enum status ask_new(struct cli *cli, struct str *out, struct err *err)
{
    struct str again = STR("");
    enum status status = session_ask(cli, "New password", true, out, err);
    again = *out;
    if (status == STATUS_OK && isatty(STDIN_FILENO)) {
        status = session_ask(cli, "New password again", true, &again, err);
    }
    if (status == STATUS_OK && !str_eq(*out, again)) {
        status = err_set(err, STATUS_INVALID, "the two are not the same");
    }
    return status;
}

int run_user_password(struct cli *cli, const struct args *args)
{
    (void)args;
    struct err err;
    struct answer answer = {0};
    struct answer me;
    struct str now = STR("");
    struct str then = STR("");
    enum status status = client_get(&cli->client, STR("/whoami"), &me, &err);
    status = status == STATUS_OK ? session_ask(cli, "Password", true, &now, &err) : status;
    status = status == STATUS_OK ? ask_new(cli, &then, &err) : status;
    if (status == STATUS_OK) {
        struct buf body;
        struct jw w;
        buf_init(&body, SECRET_BYTES_MAX * 4);
        jw_init(&w, &body, false);
        jw_object_begin(&w);
        jw_member_string(&w, STR("currentPassword"), now);
        jw_member_string(&w, STR("newPassword"), then);
        jw_object_end(&w);
        struct request r = {.method = "POST",
                            .path = STR("/api/v1/me/password"),
                            .type = "application/json",
                            .body = arena_str(&cli->arena, buf_view(&body))};
        buf_done(&body);
        status = client_call(&cli->client, &r, &answer, &err);
    }
    if (status != STATUS_OK) {
        return cli_fail(cli, &err, answer.body);
    }
    cli_say(cli, "The password is changed; what was signed in with the old one is signed out.\n");
    return sign_in(cli, &(struct credential){.user = view_raw(me.body, "user"), .password = then});
}

int run_logout(struct cli *cli, const struct args *args)
{
    (void)args;
    struct err err;
    bool had;
    if (session_forget(cli, &had, &err) != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    cli_say(cli, had ? "Signed out: the token is forgotten.\n"
                     : "Nothing to forget: no token was kept.\n");
    return 0;
}

int run_get_token(struct cli *cli, const struct args *args)
{
    struct err err;
    struct answer answer;
    if (cli->client.bearer.len == 0) {
        err_set(&err, STATUS_UNAUTHENTIC, "there is no token");
        err_hint(&err, "sign in first: weir login user --server URL");
        return cli_fail(cli, &err, NULL);
    }
    /* The server is asked, so that one that is over is got anew. */
    if (client_get(&cli->client, STR("/whoami"), &answer, &err) != STATUS_OK) {
        return cli_fail(cli, &err, answer.body);
    }
    if (str_eq(args_text(args, "output"), STR("plaintext"))) {
        printf(STR_FMT "\n", STR_ARG(cli->client.bearer));
        return 0;
    }
    struct buf text;
    struct jw w;
    buf_init(&text, SECRET_BYTES_MAX * 4);
    jw_init(&w, &text, true);
    jw_object_begin(&w);
    jw_member_string(&w, STR("apiVersion"), STR("client.authentication.k8s.io/v1"));
    jw_member_string(&w, STR("kind"), STR("ExecCredential"));
    jw_key(&w, STR("status"));
    jw_object_begin(&w);
    jw_member_string(&w, STR("token"), cli->client.bearer);
    jw_object_end(&w);
    jw_object_end(&w);
    buf_char(&text, '\n');
    cli_write(buf_view(&text));
    buf_done(&text);
    return 0;
}
