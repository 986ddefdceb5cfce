// SPDX-License-Identifier: Apache-2.0
// One table names each setting everywhere: its flag, its variable, its key in weir.yaml.
#include "cmd/serve_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/check.h"
#include "io/file.h"
#include "io/places.h"
#include "io/yaml.h"

enum { SETTINGS_FILE_BYTES_MAX = 1 << 20 };

enum setting {
    DATA,
    SOCKET,
    LISTEN,
    TLS,
    URL,
    IDP_CA,
    GPUS,
    NODE_NAME,
    NODE_LABEL,
    LOG_LEVEL,
    SETTING_COUNT
};

static const struct {
    struct str flag, key;
    const char *variable; /* NULL: none */
    const char *metavar, *help;
    bool agent; /* about this machine */
} settings[SETTING_COUNT] = {
    [DATA] = {STRS("--data"),       STRS(""),            "WEIR_DATA",   "DIR",
              "where everything is kept (as root /var/lib/weir, else ~/.local/state/weir)",            false},
    [SOCKET] = {STRS("--socket"),     STRS("socket"),      "WEIR_SOCKET", "PATH",
              "local socket (as root /run/weir/weir.sock, else $XDG_RUNTIME_DIR/weir/weir.sock)",      false},
    [LISTEN] = {STRS("--listen"),     STRS("listen"),      "WEIR_LISTEN", "HOST:PORT",
              "TCP address; :0 takes a free port and prints it (127.0.0.1:8470)",                      false},
    [TLS] =
        {STRS("--tls"),        STRS("tls"),         "WEIR_TLS",    "CERTIFICATE,KEY",
              "files in PEM for TLS on the TCP address; or self-signed, or off (off on this machine)",
              false                                                                                         },
    [URL] = {STRS("--url"),        STRS("url"),         "WEIR_URL",    "ADDRESS",
              "address of this server as browsers know it, without a path: https://weir.example.com",
              false                                                                                         },
    [IDP_CA] = {STRS("--idp-ca"),     STRS("idp_ca"),      "WEIR_IDP_CA", "FILE",
              "certificates in PEM by which identity providers are trusted (the system's)",            false},
    [GPUS] = {STRS("--gpus"),       STRS("gpus"),        "WEIR_GPUS",   "SPEC",
              "auto, none, or simulated devices: fake:COUNT[:SIZE] (auto)",                            true },
    [NODE_NAME] = {STRS("--node-name"),  STRS("node_name"),   NULL,          "NAME",
              "name of this machine in the cluster (its host name)",                                   true },
    [NODE_LABEL] = {STRS("--node-label"), STRS("node_labels"), NULL,          "KEY=VALUE",
              "label of this machine, may be repeated",                                                true },
    [LOG_LEVEL] = {STRS("--log-level"),  STRS("log_level"),   NULL,          "LEVEL",
              "debug, info, warn or error (info)",                                                     false},
};

struct reading {
    struct arena *arena;
    struct err *err;
    bool with_agent;
    struct str values[SETTING_COUNT]; /* ptr NULL: not given */
    ARRAY(struct label) labels;
};

void serve_settings_help(const char *verb, bool with_agent)
{
    printf("usage: weir %s [flags]\n\n", verb);
    for (int i = 0; i < SETTING_COUNT; i++) {
        if (with_agent || !settings[i].agent) {
            printf("  " STR_FMT " %s\n        %s", STR_ARG(settings[i].flag), settings[i].metavar,
                   settings[i].help);
            if (settings[i].variable != NULL) {
                printf("; also %s", settings[i].variable);
            }
            printf("\n");
        }
    }
    printf(
        "\nThe same, with the names of the flags and _ for -, in weir.yaml in the data directory\n"
        "(node_labels is a map). A flag counts before the environment, that before the file.\n");
}

static enum status add_label(struct reading *r, struct str text, const char *where)
{
    uint32_t at = str_find(text, '=');
    if (at == 0 || at == text.len) {
        err_set(r->err, STATUS_INVALID, "%s: expected KEY=VALUE, got \"" STR_FMT "\"", where,
                STR_ARG(text));
        return STATUS_INVALID;
    }
    struct label *label = ARRAY_PUSH(r->arena, &r->labels);
    label->key = str_sub(text, 0, at);
    label->value = str_sub(text, at + 1, text.len);
    return STATUS_OK;
}

static enum status unknown_flag(struct reading *r, struct str flag)
{
    struct str names[SETTING_COUNT];
    uint32_t count = 0;
    for (int i = 0; i < SETTING_COUNT; i++) {
        if (r->with_agent || !settings[i].agent) {
            names[count++] = settings[i].flag;
        }
    }
    uint32_t near = str_nearest(flag, names, count);
    err_set(r->err, STATUS_INVALID, "unknown flag " STR_FMT, STR_ARG(str_sub(flag, 0, 100)));
    if (near < count) {
        return err_hint(r->err, "did you mean " STR_FMT "?", STR_ARG(names[near]));
    }
    return err_hint(r->err, "--help lists them");
}

static enum status read_flags(struct reading *r, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct str flag = str_from_c(argv[i]);
        uint32_t equals = str_find(flag, '=');
        struct str name = str_sub(flag, 0, equals);
        int at = 0;
        while (at < SETTING_COUNT && !str_eq(settings[at].flag, name)) {
            at++;
        }
        if (at == SETTING_COUNT || (settings[at].agent && !r->with_agent)) {
            return unknown_flag(r, name);
        }
        struct str value = str_sub(flag, equals + 1, flag.len);
        if (equals == flag.len) {
            if (i + 1 == argc) {
                return err_set(r->err, STATUS_INVALID, STR_FMT " needs a value: %s", STR_ARG(name),
                               settings[at].metavar);
            }
            value = str_from_c(argv[++i]);
        }
        if (at == NODE_LABEL) {
            enum status status = add_label(r, value, "--node-label");
            if (status != STATUS_OK) {
                return status;
            }
        }
        r->values[at] = value.ptr != NULL ? value : STR("");
    }
    return STATUS_OK;
}

static void read_environment(struct reading *r)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        const char *value = settings[i].variable != NULL ? getenv(settings[i].variable) : NULL;
        if (r->values[i].ptr == NULL && value != NULL && value[0] != '\0') {
            r->values[i] = str_from_c(value);
        }
    }
}

static enum status wrong_line(struct reading *r, const char *path, const struct doc *at,
                              struct str key, const char *expected)
{
    err_set(r->err, STATUS_INVALID, "%s:%u:%u: " STR_FMT ": expected %s, got %s", path, at->line,
            at->col, STR_ARG(key), expected, doc_kind_name(at->kind));
    return STATUS_INVALID;
}

static enum status read_file_labels(struct reading *r, const char *path, const struct doc *map)
{
    if (map->kind != DOC_MAP) {
        return wrong_line(r, path, map, STR("node_labels"), "a map");
    }
    for (const struct doc *d = map->child; d != NULL; d = d->next) {
        if (d->kind != DOC_STRING && d->kind != DOC_NUMBER) {
            return wrong_line(r, path, d, d->key, "text");
        }
        struct label *label = ARRAY_PUSH(r->arena, &r->labels);
        label->key = d->key;
        label->value = d->text;
    }
    return STATUS_OK;
}

static enum status read_member(struct reading *r, const char *path, const struct doc *d)
{
    struct str names[SETTING_COUNT];
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        names[i] = settings[i].key;
        if (names[i].len == 0 || !str_eq(names[i], d->key)) {
            continue;
        }
        if (i == NODE_LABEL) { /* the flags' labels replace those of the file */
            return r->labels.count > 0 ? STATUS_OK : read_file_labels(r, path, d);
        }
        if (d->kind != DOC_STRING && d->kind != DOC_NUMBER) {
            return wrong_line(r, path, d, d->key, "text");
        }
        if (r->values[i].ptr == NULL) {
            r->values[i] = arena_str(r->arena, d->text);
        }
        return STATUS_OK;
    }
    uint32_t near = str_nearest(d->key, names, SETTING_COUNT);
    err_set(r->err, STATUS_INVALID, "%s:%u:%u: unknown key \"" STR_FMT "\"", path, d->key_line,
            d->key_col, STR_ARG(str_sub(d->key, 0, 100)));
    if (near < SETTING_COUNT) {
        return err_hint(r->err, "did you mean \"" STR_FMT "\"?", STR_ARG(names[near]));
    }
    return STATUS_INVALID;
}

static enum status read_file(struct reading *r, struct str data_dir)
{
    struct buf bytes;
    struct problems problems;
    const struct doc *root = NULL;
    const char *path = arena_printf(r->arena, STR_FMT "/weir.yaml", STR_ARG(data_dir)).ptr;
    buf_init(&bytes, SETTINGS_FILE_BYTES_MAX);
    enum status status = file_read(AT_FDCWD, path, &bytes, r->err);
    if (status == STATUS_UNKNOWN) {
        return STATUS_OK;
    }
    if (status == STATUS_IO) {
        err_hint(r->err, "choose another directory with --data");
    }
    problems_init(&problems, r->arena);
    if (status == STATUS_OK) {
        struct str text = arena_str(r->arena, buf_view(&bytes));
        status = yaml_parse(text, r->arena, &root, &problems);
        if (status != STATUS_OK) {
            problems_to_err(&problems, r->err);
            err_wrap(r->err, "%s:%u:%u", path, r->err->line, r->err->col);
        }
    }
    buf_done(&bytes);
    if (status == STATUS_OK && root->kind != DOC_MAP && root->kind != DOC_NULL) {
        status = wrong_line(r, path, root, STR("weir.yaml"), "a map");
    }
    for (const struct doc *d = status == STATUS_OK ? root->child : NULL; d != NULL; d = d->next) {
        status = read_member(r, path, d);
        if (status != STATUS_OK) {
            break;
        }
    }
    return status;
}

static struct str value_or(const struct reading *r, enum setting s, struct str otherwise)
{
    return r->values[s].ptr != NULL && r->values[s].len > 0 ? r->values[s] : otherwise;
}

/* Other processes use the path too, and they are elsewhere. */
static enum status make_absolute(struct arena *arena, struct str *path, struct err *err)
{
    char here[PATH_MAX];
    if (str_starts(*path, STR("/"))) {
        return STATUS_OK;
    }
    if (getcwd(here, sizeof here) == NULL) {
        err_set(err, STATUS_IO, "cannot tell where " STR_FMT " is: %s", STR_ARG(*path),
                strerror(errno));
        return err_hint(err, "give a path that begins with /");
    }
    *path = arena_printf(arena, "%s/" STR_FMT, here, STR_ARG(*path));
    return STATUS_OK;
}

static struct str directory_of(struct str path)
{
    while (path.len > 0 && path.ptr[path.len - 1] != '/') {
        path.len--;
    }
    return str_sub(path, 0, path.len > 1 ? path.len - 1 : path.len);
}

/* What is added to it begins with a slash. */
static enum status check_url(struct str url, struct err *err)
{
    uint32_t scheme = str_starts(url, STR("https://"))  ? 8
                      : str_starts(url, STR("http://")) ? 7
                                                        : 0;
    struct str host = str_sub(url, scheme, url.len);
    if (url.len == 0 || (scheme > 0 && host.len > 0 && str_find(host, '/') == host.len &&
                         str_find(host, ' ') == host.len)) {
        return STATUS_OK;
    }
    err_set(err, STATUS_INVALID,
            "url: expected https://HOST or https://HOST:PORT, got \"" STR_FMT "\"",
            STR_ARG(str_clip(url, 100)));
    return err_hint(err, "without a path, also without a slash at its end");
}

enum status serve_settings_read(int argc, char **argv, bool with_agent, struct arena *arena,
                                struct serve_settings *out, struct err *err)
{
    struct reading r = {.arena = arena, .err = err, .with_agent = with_agent};
    *out = (struct serve_settings){.log_level = LOG_INFO};
    for (int i = 1; i < argc; i++) {
        out->help = out->help || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    }
    if (out->help) {
        return STATUS_OK;
    }
    enum status status = read_flags(&r, argc, argv);
    if (status != STATUS_OK) {
        return status;
    }
    read_environment(&r);
    out->data_dir = value_or(&r, DATA, (struct str){0});
    if (out->data_dir.len == 0) {
        status = places_data(arena, &out->data_dir, err);
    }
    status = status != STATUS_OK ? status : make_absolute(arena, &out->data_dir, err);
    status = status != STATUS_OK ? status : read_file(&r, out->data_dir);
    if (status != STATUS_OK) {
        return status;
    }
    out->socket = value_or(&r, SOCKET, (struct str){0});
    if (out->socket.len == 0) {
        status = places_socket(arena, &out->socket, err);
        out->socket_dir = status == STATUS_OK ? directory_of(out->socket) : (struct str){0};
    }
    status = status != STATUS_OK ? status : make_absolute(arena, &out->socket, err);
    char host[HOST_NAME_MAX + 1] = "localhost";
    gethostname(host, sizeof host - 1);
    out->listen = value_or(&r, LISTEN, STR("127.0.0.1:8470"));
    out->tls = value_or(&r, TLS, STR(""));
    out->url = value_or(&r, URL, STR(""));
    status = status != STATUS_OK ? status : check_url(out->url, err);
    out->idp_ca = value_or(&r, IDP_CA, STR(""));
    out->gpus = value_or(&r, GPUS, STR("auto"));
    out->node_name = value_or(&r, NODE_NAME, arena_str(arena, str_from_c(host)));
    out->labels = r.labels.items;
    out->labels_count = r.labels.count;
    struct str level = value_or(&r, LOG_LEVEL, STR("info"));
    if (status == STATUS_OK && !log_level_parse(level, &out->log_level)) {
        status = err_set(err, STATUS_INVALID,
                         "log level: expected debug, info, warn or error, got \"" STR_FMT "\"",
                         STR_ARG(level));
    }
    return status;
}
