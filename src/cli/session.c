// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "codec/base64.h"
#include "codec/json.h"

#define KEPT_FILE    "authentication.json"
#define LOCAL_SERVER "http://127.0.0.1:8470"

enum { LINE_BYTES_MAX = 4096, BODY_BYTES_MAX = 64 * 1024 };

/* ---- what is kept ---- */

static enum status kept_load(struct cli *cli, struct settings *kept, struct err *err)
{
    return settings_load(kept, &cli->arena, cli->settings.directory, STR(KEPT_FILE), err);
}

// The SDK writes and reads either alphabet; what does not decode counts as not there.
static struct str kept_get(struct cli *cli, const struct settings *kept, const char *key)
{
    struct str text = settings_get(kept, str_from_c(key));
    struct buf bytes;
    buf_init(&bytes, BODY_BYTES_MAX);
    struct str out = STR("");
    if (base64_decode(BASE64_STD, text, &bytes) || base64_decode(BASE64_URL, text, &bytes)) {
        out = arena_str(&cli->arena, buf_view(&bytes));
    }
    buf_done(&bytes);
    return out;
}

static enum status kept_set(struct cli *cli, struct settings *kept, const char *key,
                            struct str value, struct err *err)
{
    struct buf text;
    buf_init(&text, BODY_BYTES_MAX);
    base64_encode(BASE64_STD, value, &text);
    struct str kept_text = arena_str(&cli->arena, buf_view(&text));
    buf_done(&text);
    return settings_set(kept, str_from_c(key), kept_text, err);
}

static bool kept_is_of(const struct settings *kept, const struct client *c)
{
    return c->at.url.len > 0 && str_eq(settings_get(kept, STR("server")), c->at.url);
}

/* ---- getting a token ---- */

static struct str token_request(struct cli *cli, const struct credential *who, struct str refresh)
{
    struct buf body;
    struct jw w;
    buf_init(&body, BODY_BYTES_MAX);
    jw_init(&w, &body, false);
    jw_object_begin(&w);
    if (refresh.len > 0) {
        jw_member_string(&w, STR("grant_type"), STR("refresh_token"));
        jw_member_string(&w, STR("refresh_token"), refresh);
    } else if (who->user.len > 0) {
        jw_member_string(&w, STR("grant_type"), STR("password"));
        jw_member_string(&w, STR("username"), who->user);
        jw_member_string(&w, STR("password"), who->password);
    } else {
        jw_member_string(&w, STR("grant_type"), STR("client_credentials"));
        jw_member_string(&w, STR("client_id"), who->client_id);
        jw_member_string(&w, STR("client_secret"), who->secret);
    }
    jw_object_end(&w);
    struct str text = arena_str(&cli->arena, buf_view(&body));
    buf_done(&body);
    return text;
}

static struct str member(const struct doc *body, struct str key)
{
    const struct doc *d = doc_get(body, key);
    return d != NULL && d->kind == DOC_STRING ? d->text : STR("");
}

enum status session_trade(struct cli *cli, struct str request, struct err *err)
{
    struct request r = {.method = "POST",
                        .path = STR("/api/v2/token"),
                        .type = "application/json",
                        .body = request};
    struct answer answer;
    struct settings kept;
    cli->client.bearer = STR("");
    cli->client.renew = NULL;
    client_next_key(&cli->client);
    enum status status = client_call(&cli->client, &r, &answer, err);
    client_next_key(&cli->client);
    status = status == STATUS_OK ? kept_load(cli, &kept, err) : status;
    if (status != STATUS_OK) {
        return status;
    }
    cli->client.bearer = member(answer.body, STR("access_token"));
    struct str refresh = member(answer.body, STR("refresh_token"));
    status = settings_set(&kept, STR("server"), cli->client.at.url, err);
    status = status == STATUS_OK ? kept_set(cli, &kept, "accessToken", cli->client.bearer, err)
                                 : status;
    return status == STATUS_OK ? kept_set(cli, &kept, "refreshToken", refresh, err) : status;
}

// The token that was kept is over: another one for what else was kept.
static bool renew(struct client *c, void *ctx)
{
    struct cli *cli = ctx;
    struct settings kept;
    struct err err;
    if (kept_load(cli, &kept, &err) != STATUS_OK || !kept_is_of(&kept, c)) {
        return false;
    }
    struct str refresh = kept_get(cli, &kept, "refreshToken");
    struct credential key = {.client_id = kept_get(cli, &kept, "clientId"),
                             .secret = kept_get(cli, &kept, "clientSecret")};
    if (refresh.len == 0 && key.secret.len == 0) {
        return false;
    }
    char command_key[sizeof c->key];
    memcpy(command_key, c->key, sizeof command_key);
    bool got = session_trade(cli, token_request(cli, &key, refresh), &err) == STATUS_OK;
    memcpy(c->key, command_key, sizeof command_key);
    return got;
}

enum status session_aim(struct cli *cli, struct err *err)
{
    struct client_at at = {.url = STR(LOCAL_SERVER)};
    return cli->client.at.url.len > 0
               ? STATUS_OK
               : client_init(&cli->client, &cli->arena, &at, cli->client.limit_ms, err);
}

enum status session_keep(struct cli *cli, const struct credential *key, struct err *err)
{
    struct settings kept;
    struct str id = key != NULL && key->save ? key->client_id : STR("");
    struct str secret = key != NULL && key->save ? key->secret : STR("");
    enum status status = kept_load(cli, &kept, err);
    status = status == STATUS_OK ? kept_set(cli, &kept, "clientId", id, err) : status;
    status = status == STATUS_OK ? kept_set(cli, &kept, "clientSecret", secret, err) : status;
    if (status == STATUS_OK) {
        status = settings_set(&cli->settings, STR("control_plane.url"), cli->client.at.url, err);
    }
    if (status == STATUS_OK) {
        status = settings_set(&cli->settings, STR("control_plane.ca_file"), cli->client.at.ca_file,
                              err);
    }
    return status;
}

enum status session_sign_in(struct cli *cli, const struct credential *who, struct err *err)
{
    enum status status = session_aim(cli, err);
    if (status == STATUS_OK) {
        status = session_trade(cli, token_request(cli, who, STR("")), err);
    }
    return status == STATUS_OK ? session_keep(cli, who, err) : status;
}

enum status session_forget(struct cli *cli, bool *had, struct err *err)
{
    struct str path = arena_printf(&cli->arena, STR_FMT "/" KEPT_FILE,
                                   STR_ARG(cli->settings.directory));
    *had = unlink(path.ptr) == 0;
    if (!*had && errno != ENOENT && errno != ENOTDIR) {
        return err_set(err, STATUS_IO, STR_FMT " cannot be removed: %s", STR_ARG(path),
                       strerror(errno));
    }
    return STATUS_OK;
}

/* ---- which server ---- */

static struct str first_of(struct str flag, const char *variable, struct str otherwise)
{
    const char *value = getenv(variable);
    if (flag.len > 0) {
        return flag;
    }
    return value != NULL && value[0] != 0 ? str_from_c(value) : otherwise;
}

static struct str absolute(struct cli *cli, struct str path)
{
    if (path.len == 0) {
        return path;
    }
    char *whole = realpath(arena_cstr(&cli->arena, path), NULL);
    struct str out = whole != NULL ? arena_str(&cli->arena, str_from_c(whole)) : path;
    free(whole);
    return out;
}

// A flag is over a variable, and either over the settings; a socket over a server of the same rank.
static struct client_at choose(struct cli *cli, const struct args *args)
{
    struct client_at at = {.socket = args_text(args, "socket"), .url = args_text(args, "server")};
    if (at.socket.len == 0 && at.url.len == 0) {
        at.socket = first_of(STR(""), "WEIR_SOCKET", STR(""));
        at.url = first_of(STR(""), "WEIR_SERVER", STR(""));
    }
    if (at.socket.len == 0 && at.url.len == 0) {
        at.url = settings_get(&cli->settings, STR("control_plane.url"));
    }
    if (at.socket.len > 0) {
        at.url = STR("");
    }
    at.ca_file = absolute(cli,
                          first_of(args_text(args, "ca-file"), "WEIR_CA_FILE",
                                   settings_get(&cli->settings, STR("control_plane.ca_file"))));
    return at;
}

enum status session_open(struct cli *cli, const struct args *args, struct err *err)
{
    struct client_at at = choose(cli, args);
    struct settings kept;
    if (args_has(args, "socket") && args_has(args, "server")) {
        err_set(err, STATUS_INVALID,
                "a server is reached by its socket or its address, not by both");
        return err_hint(err, "leave --socket or --server out");
    }
    enum status status = client_init(&cli->client, &cli->arena, &at,
                                     args_number(args, "timeout", 0), err);
    cli->client.debug = cli->debug;
    cli->client.terminal = cli->terminal_err && !cli->quiet;
    struct str token = first_of(STR(""), "WEIR_TOKEN", STR(""));
    if (status != STATUS_OK || cli->client.at.url.len == 0) {
        return status;
    }
    if (token.len > 0) {
        cli->client.bearer = token;
        return STATUS_OK;
    }
    status = kept_load(cli, &kept, err);
    if (status == STATUS_OK && kept_is_of(&kept, &cli->client)) {
        cli->client.bearer = kept_get(cli, &kept, "accessToken");
        cli->client.renew = renew;
        cli->client.renew_ctx = cli;
    }
    return status;
}

/* ---- asking a person ---- */

enum status session_ask(struct cli *cli, const char *prompt, bool secret, struct str *out,
                        struct err *err)
{
    struct termios mode;
    bool terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &mode) == 0;
    if (terminal) {
        struct termios quiet = mode;
        quiet.c_lflag &= ~(tcflag_t)(secret ? ECHO : 0);
        fprintf(stderr, "%s: ", prompt);
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    }
    char line[LINE_BYTES_MAX];
    bool got = fgets(line, sizeof line, stdin) != NULL;
    if (terminal) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode);
        fputs(secret ? "\n" : "", stderr);
    }
    *out = got ? arena_str(&cli->arena, str_trim(str_from_c(line))) : STR("");
    memset(line, 0, sizeof line);
    if (out->len == 0) {
        err_set(err, STATUS_INVALID, "%s is missing", prompt);
        return err_hint(err, "type it when asked, or give it as a line on standard input");
    }
    return STATUS_OK;
}
