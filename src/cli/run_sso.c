// SPDX-License-Identifier: Apache-2.0
// run_sso: signing in by way of an identity provider: a browser of this machine brings a code back to a
// port of it (RFC 8252, RFC 7636); or any browser is shown a short code (RFC 8628).
#include "cli/run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/session.h"
#include "cli/view.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/percent.h"
#include "io/clock.h"
#include "io/crypto.h"
#include "io/file.h"
#include "io/listen.h"
#include "io/random.h"

enum {
    RANDOM_BYTES = 32,
    REQUEST_BYTES_MAX = 16 * 1024,
    BODY_BYTES_MAX = 64 * 1024,
    WAIT_MS = 10 * 60 * 1000, /* as long as the server waits for a browser */
    READ_MS = 5 * 1000,
};
#define LOGIN "/api/weir/v1/login"
#define DONE_PAGE \
    "<!DOCTYPE html><meta charset=utf-8><title>weir</title><p>You can close this page.\n"

static struct str base64url(struct cli *cli, struct str bytes)
{
    struct buf text;
    buf_init(&text, BODY_BYTES_MAX);
    base64_encode(BASE64_URL, bytes, &text);
    struct str out = arena_str(&cli->arena, buf_view(&text));
    buf_done(&text);
    return out;
}

static struct str random_text(struct cli *cli)
{
    uint8_t bytes[RANDOM_BYTES];
    random_bytes(bytes, sizeof bytes);
    return base64url(cli, (struct str){(const char *)bytes, sizeof bytes});
}

static struct str challenge_of(struct cli *cli, struct str verifier)
{
    uint8_t sum[CRYPTO_SHA256_SIZE];
    crypto_sha256(verifier, sum);
    return base64url(cli, (struct str){(const char *)sum, sizeof sum});
}

/* ---- a browser of this machine ---- */

// Opens it where there is a screen; whether it came up, the person sees.
static void open_browser(const char *url)
{
    if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL) {
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) { /* nobody waits for it */
            execlp("xdg-open", "xdg-open", url, (char *)NULL);
        }
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

// The value of a field in the query of a request's first line, "" when it is not there.
static struct str field_of(struct cli *cli, struct str line, struct str name)
{
    struct str value = STR("");
    uint32_t from = str_find(line, '?') + 1;
    struct str query = from < line.len ? str_sub(line, from, line.len - from) : STR("");
    query = str_sub(query, 0, str_find(query, ' '));
    struct str pair;
    while (query.len > 0 && str_split(&query, '&', &pair)) {
        uint32_t eq = str_find(pair, '=');
        if (str_eq(str_sub(pair, 0, eq), name) && eq < pair.len &&
            percent_decode(str_sub(pair, eq + 1, pair.len - eq - 1), &cli->arena, &value)) {
            return value;
        }
    }
    return STR("");
}

static void answer_browser(int fd, const char *status, const char *page)
{
    char text[1024];
    int len = snprintf(text, sizeof text,
                       "HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\n"
                       "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                       status, strlen(page), page);
    struct err err;
    (void)!file_write_all(fd, (struct str){text, (uint32_t)len}, &err);
}

// The first line of what a client asks for, "" when it does not say one in time.
static struct str first_line(struct cli *cli, int fd)
{
    char bytes[REQUEST_BYTES_MAX];
    size_t len = 0;
    int64_t end_ms = clock_mono_ms() + READ_MS;
    while (len < sizeof bytes && memmem(bytes, len, "\r\n\r\n", 4) == NULL) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left_ms = end_ms - clock_mono_ms();
        ssize_t n = left_ms > 0 && poll(&p, 1, (int)left_ms) > 0
                        ? read(fd, bytes + len, sizeof bytes - len)
                        : 0;
        if (n <= 0) {
            return STR("");
        }
        len += (size_t)n;
    }
    struct str all = {bytes, (uint32_t)len};
    return arena_str(&cli->arena, str_sub(all, 0, str_find(all, '\r')));
}

// Waits for the browser with our state. Others at the port are sent away.
static enum status wait_for_code(struct cli *cli, int listener, struct str state, struct str *code,
                                 struct err *err)
{
    int64_t end_ms = clock_mono_ms() + WAIT_MS;
    for (int64_t left_ms = WAIT_MS; left_ms > 0; left_ms = end_ms - clock_mono_ms()) {
        struct pollfd p = {.fd = listener, .events = POLLIN};
        CLEANUP(file_close)
        int fd = poll(&p, 1, (int)left_ms) > 0 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        struct str line = fd >= 0 ? first_line(cli, fd) : STR("");
        if (line.len == 0) {
            continue;
        }
        struct str got = field_of(cli, line, STR("state"));
        if (!str_starts(line, STR("GET ")) || !crypto_same(got, state)) {
            answer_browser(fd, "404 Not Found", "not found\n");
            continue;
        }
        answer_browser(fd, "200 OK", DONE_PAGE);
        *code = field_of(cli, line, STR("code"));
        if (code->len > 0) {
            return STATUS_OK;
        }
        struct str why = field_of(cli, line, STR("error_description"));
        return err_set(err, STATUS_DENIED, STR_FMT,
                       STR_ARG(why.len > 0 ? why : STR("the identity provider gave no code")));
    }
    err_set(err, STATUS_TIMEOUT, "no browser came back within 10 minutes");
    return err_hint(err, "where none can reach this machine: weir login sso --device");
}

static struct str trade_request(struct cli *cli, uint32_t count, const char *const *names,
                                const struct str *values)
{
    struct buf body;
    struct jw w;
    buf_init(&body, BODY_BYTES_MAX);
    jw_init(&w, &body, false);
    jw_object_begin(&w);
    for (uint32_t i = 0; i < count; i++) {
        jw_member_string(&w, str_from_c(names[i]), values[i]);
    }
    jw_object_end(&w);
    struct str text = arena_str(&cli->arena, buf_view(&body));
    buf_done(&body);
    return text;
}

static enum status by_browser(struct cli *cli, const struct args *args, struct err *err)
{
    static const char *const names[] = {"grant_type", "code", "code_verifier", "redirect_uri"};
    struct str host = args_has(args, "listen-host") ? args_text(args, "listen-host")
                                                    : STR("127.0.0.1");
    host = str_eq(host, STR("localhost")) ? STR("127.0.0.1") : host;
    struct str listen = arena_printf(&cli->arena, STR_FMT ":%lld", STR_ARG(host),
                                     (long long)args_number(args, "listen-port", 43121));
    char address[LISTEN_ADDRESS_SIZE];
    CLEANUP(file_close) int listener = -1;
    enum status status = listen_tcp(listen, &listener, address, err);
    if (status != STATUS_OK) {
        err_hint(err, "another --listen-port (0: any), or --device");
        return status;
    }
    struct str state = random_text(cli);
    struct str verifier = random_text(cli);
    struct str back = arena_printf(&cli->arena, "http://%s/callback", address);
    struct client *c = &cli->client;
    struct str url = arena_printf(&cli->arena, STR_FMT LOGIN "/sso", STR_ARG(c->at.url));
    if (args_has(args, "idp")) {
        url = client_query(c, url, "idp", args_text(args, "idp"));
    }
    url = client_query(c, url, "redirect_uri", back);
    url = client_query(c, url, "state", state);
    url = client_query(c, url, "code_challenge", challenge_of(cli, verifier));
    fprintf(stderr, "Sign in with a browser of this machine:\n\n  " STR_FMT "\n\n", STR_ARG(url));
    open_browser(arena_cstr(&cli->arena, url));
    struct str code;
    status = wait_for_code(cli, listener, state, &code, err);
    if (status != STATUS_OK) {
        return status;
    }
    struct str values[] = {STR("authorization_code"), code, verifier, back};
    return session_trade(cli, trade_request(cli, COUNT_OF(names), names, values), err);
}

/* ---- any browser ---- */

static void pause_s(int64_t seconds)
{
    struct timespec t = {.tv_sec = seconds};
    nanosleep(&t, NULL);
}

static enum status start_device(struct cli *cli, const struct args *args, struct answer *answer,
                                struct err *err)
{
    static const char *const names[] = {"idp"};
    struct str idp[] = {args_text(args, "idp")};
    struct request r = {.method = "POST",
                        .path = STR(LOGIN "/device"),
                        .type = "application/json",
                        .body = trade_request(cli, idp[0].len > 0, names, idp)};
    return client_call(&cli->client, &r, answer, err);
}

// Asks as often as the provider allows, until the person has signed in there.
static enum status by_device(struct cli *cli, const struct args *args, struct err *err)
{
    static const char *const names[] = {"grant_type", "device_code"};
    struct answer start;
    enum status status = start_device(cli, args, &start, err);
    if (status != STATUS_OK) {
        return status;
    }
    struct str whole = view_raw(start.body, "verification_uri_complete");
    fprintf(stderr,
            "With any browser, go to\n\n  " STR_FMT "\n\nand enter the code  " STR_FMT "\n\n",
            STR_ARG(whole.len > 0 ? whole : view_text(start.body, "verification_uri")),
            STR_ARG(view_text(start.body, "user_code")));
    struct str values[] = {STR("urn:ietf:params:oauth:grant-type:device_code"),
                           view_raw(start.body, "device_code")};
    struct str request = trade_request(cli, COUNT_OF(names), names, values);
    int64_t interval_s = view_i64(start.body, "interval", 5);
    int64_t end_ms = clock_mono_ms() + 1000 * view_i64(start.body, "expires_in", 600);
    while (clock_mono_ms() < end_ms) {
        pause_s(interval_s > 0 ? interval_s : 1);
        status = session_trade(cli, request, err);
        struct str text = str_from_c(err->text);
        if (status == STATUS_OK || !(str_starts(text, STR("authorization_pending")) ||
                                     str_starts(text, STR("slow_down")))) {
            return status;
        }
        interval_s += str_starts(text, STR("slow_down")) ? 5 : 0;
    }
    return err_set(err, STATUS_TIMEOUT, "nobody has signed in with the code");
}

int run_login_sso(struct cli *cli, const struct args *args)
{
    struct err err;
    enum status status = session_aim(cli, &err);
    if (status == STATUS_OK) {
        status = args_has(args, "device") ? by_device(cli, args, &err)
                                          : by_browser(cli, args, &err);
    }
    status = status == STATUS_OK ? session_keep(cli, NULL, &err) : status;
    return status == STATUS_OK ? login_greet(cli) : cli_fail(cli, &err, NULL);
}
