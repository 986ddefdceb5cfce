// SPDX-License-Identifier: Apache-2.0
// Wiring. Start: settings, directory, lock, store, sockets, agent, state (checkpoint and tail), then
// the first request. Stop: no new connections, the batch in flight, a checkpoint, answers; pods go
// on. What is opened later fails before anything that outlives the process was done.
#include "cmd/serve.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/oidc/oidc.h"
#include "adapters/sqlite/sqlite.h"
#include "agent/agent.h"
#include "api/api.h"
#include "api/seal.h"
#include "api/writer.h"
#include "cmd/serve_keys.h"
#include "io/clock.h"
#include "io/crypto.h"
#include "io/file.h"
#include "io/http.h"
#include "io/listen.h"
#include "io/lock.h"
#include "io/log.h"
#include "io/loop.h"
#include "io/password.h"
#include "io/peer.h"
#include "model/units.h"

struct serve {
    const struct serve_settings *settings;
    struct arena arena;
    struct loop *loop;
    int lock_fd;
    struct store store;
    struct sqlite_report store_report;
    int tcp_fd, local_fd; /* until the http server has them */
    char address[LISTEN_ADDRESS_SIZE];
    struct agent *agent;
    struct cluster cluster;
    struct engine *engine;
    struct writer *writer;
    struct writer_report writer_report;
    struct serve_keys keys;
    struct passwords *passwords;
    struct oidc *oidc;
    struct api *api;
    struct http *http;
    int64_t started_us;
    bool reported;
    bool for_people;    /* a terminal is there */
    uint64_t files_max; /* open at a time, before that was raised: what pods get */
};

/* ---- a cluster without nodes ---- */

static void no_effects(void *ctx, const struct effect *effects, uint32_t count)
{
    (void)ctx;
    (void)effects;
    (void)count;
}

static void no_observations(void *ctx, cluster_observe *observe, void *arg)
{
    (void)ctx;
    (void)observe;
    (void)arg;
}

/* ---- what the API asks of the agent ---- */

static struct str log_path(void *ctx, struct uuid pod, uint32_t attempt, struct arena *arena)
{
    const struct serve *s = ctx;
    return agent_log_path(s->agent, pod, attempt, arena);
}

static enum status exec_in(void *ctx, struct uuid pod, const struct str *argv, uint32_t argc,
                           bool terminal, int *fd, struct err *err)
{
    const struct serve *s = ctx;
    return agent_exec(s->agent, pod, argv, argc, NULL, 0, terminal, fd, err);
}

static enum status forward_to(void *ctx, struct uuid pod, uint16_t port, int *fd, struct err *err)
{
    const struct serve *s = ctx;
    return agent_forward(s->agent, pod, port, fd, err);
}

static bool is_pod(void *ctx, pid_t pid)
{
    (void)ctx;
    return agent_is_pod(pid);
}

/* ---- saying what is there ---- */

static void say_devices(const struct serve *s)
{
    const struct state *st = engine_state(s->engine);
    uint32_t devices = 0;
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        devices += st->nodes[i].devices_count;
    }
    if (devices > 0) {
        const struct device *first = NULL;
        for (uint32_t i = 0; i < st->nodes_count && first == NULL; i++) {
            first = st->nodes[i].devices_count > 0 ? &st->nodes[i].devices[0] : NULL;
        }
        printf("  devices  %u, " STR_FMT "\n", devices,
               STR_ARG(first != NULL ? first->model : STR("")));
    } else {
        printf("  devices  none; weir up --gpus fake:4 makes four simulated ones\n");
    }
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        for (uint32_t k = 0; k < st->nodes[i].notes_count; k++) {
            printf("  note     " STR_FMT "\n", STR_ARG(st->nodes[i].notes[k].value));
        }
    }
}

static void say_recovered(const struct serve *s)
{
    const struct sqlite_report *r = &s->store_report;
    if (r->created) {
        printf("  state    new\n");
        return;
    }
    printf("  state    recovered: %lld inputs, checkpoint at %lld, %lld applied behind it",
           (long long)r->last_seq, (long long)s->writer_report.checkpoint_seq,
           (long long)s->writer_report.replayed);
    if (r->torn_bytes > 0) {
        printf("; %lld bytes of a write that was cut short, at byte %lld of weir.db-wal, were "
               "dropped (nothing of it had been acknowledged)",
               (long long)r->torn_bytes, (long long)r->torn_at);
    }
    printf("\n");
}

static void report(struct serve *s)
{
    s->reported = true;
    int64_t took_ms = (clock_mono_us() - s->started_us) / 1000;
    if (s->for_people) {
        printf("weir %s is up\n", WEIR_VERSION);
        printf("  socket   " STR_FMT "\n", STR_ARG(s->settings->socket));
        printf("  address  %s%s\n", s->keys.certificate.len > 0 ? "https://" : "", s->address);
        printf("  data     " STR_FMT "\n", STR_ARG(s->settings->data_dir));
        say_devices(s);
        say_recovered(s);
        fflush(stdout);
        return;
    }
    const struct state *st = engine_state(s->engine);
    uint32_t devices = 0;
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        devices += st->nodes[i].devices_count;
    }
    if (s->store_report.torn_bytes > 0) {
        LOG(LOG_WARN, "torn_write_dropped", LOG_I64("bytes", s->store_report.torn_bytes),
            LOG_I64("at", s->store_report.torn_at),
            LOG_C("text", "nothing of it had been acknowledged"));
    }
    LOG(LOG_INFO, "server_started", LOG_C("version", WEIR_VERSION),
        LOG_STR("socket", s->settings->socket), LOG_C("address", s->address),
        LOG_C("tls", s->keys.certificate.len > 0 ? "on" : "off"),
        LOG_STR("data", s->settings->data_dir), LOG_I64("devices", devices),
        LOG_I64("last_seq", s->store_report.last_seq),
        LOG_I64("checkpoint_seq", s->writer_report.checkpoint_seq),
        LOG_I64("replayed", s->writer_report.replayed),
        LOG_I64("outstanding", s->writer_report.outstanding), LOG_I64("took_ms", took_ms));
    if (devices == 0) {
        LOG(LOG_WARN, "no_devices", LOG_C("text", "this machine has no GPU that weir can use"),
            LOG_C("hint", "weir up --gpus fake:4 makes four simulated devices"));
    }
}

static void on_recorded(void *ctx, const struct input *in)
{
    struct serve *s = ctx;
    api_recorded(s->api, in);
}

static void on_changed(void *ctx)
{
    struct serve *s = ctx;
    api_changed(s->api);
    if (!s->reported && engine_state(s->engine)->nodes_count > 0) {
        report(s);
    }
}

/* ---- the loop ---- */

static void on_signal(void *arg, int number, uint32_t events)
{
    (void)events;
    struct serve *s = arg;
    LOG(LOG_INFO, "server_stopping", LOG_I64("signal", number));
    http_quiesce(s->http);
    loop_stop(s->loop);
}

static void on_ready(void *arg, int fd, uint32_t events)
{
    (void)arg; /* it only ends the wait; the writer looks at all its sources each round */
    (void)fd;
    (void)events;
}

static enum status reopen(void *ctx, struct err *err)
{
    struct serve *s = ctx;
    return sqlite_reopen(&s->store, err);
}

/* Whoever can put files there has weir run what he likes, as its user. */
static enum status check_owner(const char *dir, struct err *err)
{
    struct stat st;
    if (stat(dir, &st) != 0) {
        err_set(err, STATUS_IO, "cannot look at %s: %s", dir, strerror(errno));
        return err_hint(err, "choose another directory with --data");
    }
    if (st.st_uid != geteuid() && st.st_uid != 0) {
        char owner[PEER_NAME_SIZE];
        peer_name(st.st_uid, owner);
        err_set(err, STATUS_DENIED, "the data directory %s belongs to user %s", dir, owner);
        return err_hint(err, "choose another directory with --data, or make it your own: chown");
    }
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        err_set(err, STATUS_DENIED, "others may write to the data directory %s (its mode is %03o)",
                dir, st.st_mode & 0777u);
        return err_hint(err, "chmod 700 %s, or choose another directory with --data", dir);
    }
    return STATUS_OK;
}

/* A journal that is empty beside the files of pods is not a new one: it was lost. */
static enum status check_journal(struct serve *s, const char *dir, struct err *err)
{
    const char *path = arena_printf(&s->arena, "%s/pods", dir).ptr;
    DIR *pods = s->store_report.last_seq == 0 ? opendir(path) : NULL;
    bool found = false;
    for (struct dirent *e; pods != NULL && !found && (e = readdir(pods)) != NULL;) {
        found = e->d_name[0] != '.';
    }
    if (pods != NULL) {
        (void)closedir(pods);
    }
    if (!found) {
        return STATUS_OK;
    }
    err_set(err, STATUS_CORRUPT,
            "the journal %s/weir.db is missing or empty, but %s has files of pods", dir, path);
    return err_hint(err,
                    "restore weir.db and weir.db-wal from a backup; to begin anew, stop what "
                    "still runs and move %s away",
                    dir);
}

static enum status open_data(struct serve *s, struct err *err)
{
    const char *dir = arena_cstr(&s->arena, s->settings->data_dir);
    enum status status = file_mkdirs(dir, 0700, err);
    if (status != STATUS_OK) {
        return err_hint(err, "choose another directory with --data");
    }
    status = check_owner(dir, err);
    if (status != STATUS_OK) {
        return status;
    }
    status = lock_take(dir, &s->lock_fd, err);
    if (status != STATUS_OK) {
        return status;
    }
    const char *path = arena_printf(&s->arena, "%s/weir.db", dir).ptr;
    status = sqlite_open(path, &s->store, &s->store_report, err);
    if (status == STATUS_OK) {
        status = loop_add(s->loop, sqlite_fd(&s->store), EPOLLIN, on_ready, NULL, err);
    }
    return status != STATUS_OK ? status : check_journal(s, dir, err);
}

static enum status open_sockets(struct serve *s, struct err *err)
{
    const char *socket_path = arena_cstr(&s->arena, s->settings->socket);
    enum status status = listen_tcp(s->settings->listen, &s->tcp_fd, s->address, err);
    return status != STATUS_OK ? status : listen_unix(socket_path, &s->local_fd, err);
}

/* What a pod that starts is given for a secret of a credential. */
static enum status secret_of(void *ctx, struct uuid credential, struct str key, struct arena *arena,
                             struct str *out, struct err *err)
{
    const struct serve *s = ctx;
    const struct asset *a = asset_find(&engine_state(s->engine)->assets, credential);
    for (uint32_t i = 0; a != NULL && i < a->secrets_count; i++) {
        if (str_eq(a->secrets[i].name, key)) {
            return seal_open(s->keys.token, seal_about_credential(credential, key, arena),
                             a->secrets[i].value, arena, out)
                       ? STATUS_OK
                       : err_set(err, STATUS_CORRUPT,
                                 "the secret \"" STR_FMT "\" was sealed with another key",
                                 STR_ARG(str_clip(key, 100)));
        }
    }
    return err_set(err, STATUS_UNKNOWN, "the credential of the secret \"" STR_FMT "\" is gone",
                   STR_ARG(str_clip(key, 100)));
}

static enum status open_agent(struct serve *s, struct err *err)
{
    struct agent_config config = {
        .data_dir = s->settings->data_dir,
        .gpus = s->settings->gpus,
        .node_name = s->settings->node_name,
        .labels = s->settings->labels,
        .labels_count = s->settings->labels_count,
        .hidden = &s->settings->socket_dir,
        .hidden_count = s->settings->socket_dir.len > 0 ? 1 : 0,
        .secret = secret_of,
        .secret_ctx = s,
        .pod_files_max = s->files_max,
    };
    enum status status = agent_open(&config, &s->agent, err);
    if (status != STATUS_OK) {
        return status;
    }
    s->cluster = agent_cluster(s->agent);
    return loop_add(s->loop, agent_fd(s->agent), EPOLLIN, on_ready, NULL, err);
}

static enum status open_keys(struct serve *s, struct err *err)
{
    enum status status = serve_keys_open(s->settings, &s->arena, &s->keys, err);
    status = status != STATUS_OK ? status : passwords_new(s->loop, &s->passwords, err);
    struct oidc_config config = {
        .loop = s->loop, .ca = s->keys.idp_ca, .now_ms = clock_wall_ms, .mono_ms = clock_mono_ms};
    return status != STATUS_OK ? status : oidc_new(&config, &s->oidc, err);
}

/* Where browsers find this server, when nobody says: not at "every address" (0.0.0.0, [::]). */
static struct str public_url(struct serve *s)
{
    struct str address = str_from_c(s->address);
    if (s->settings->url.len > 0) {
        return s->settings->url;
    }
    const char *scheme = s->keys.certificate.len > 0 ? "https" : "http";
    if (str_starts(address, STR("0.0.0.0:")) || str_starts(address, STR("[::]:"))) {
        uint32_t colon = address.len;
        while (address.ptr[colon - 1] != ':') {
            colon--;
        }
        return arena_printf(&s->arena, "%s://" STR_FMT ":" STR_FMT, scheme,
                            STR_ARG(s->settings->node_name),
                            STR_ARG(str_sub(address, colon, address.len)));
    }
    return arena_printf(&s->arena, "%s://" STR_FMT, scheme, STR_ARG(address));
}

static enum status open_state(struct serve *s, struct err *err)
{
    s->engine = engine_new();
    struct api_config api = {
        .loop = s->loop,
        .engine = s->engine,
        .server = s->settings->node_name,
        .now_ms = clock_wall_ms,
        .key = s->keys.token,
        .passwords = s->passwords,
        .identity = oidc_port(s->oidc),
        .url = public_url(s),
    };
    if (s->agent != NULL) {
        api.host = (struct api_host){s, log_path, exec_in, forward_to, is_pod};
    }
    s->api = api_new(&api);
    struct writer_config writer = {
        .loop = s->loop,
        .engine = s->engine,
        .store = &s->store,
        .cluster = &s->cluster,
        .reopen = reopen,
        .reopen_ctx = s,
        .now_ms = clock_wall_ms,
        .recorded = on_recorded,
        .changed = on_changed,
        .changed_ctx = s,
    };
    enum status status = writer_new(&writer, &s->writer, &s->writer_report, err);
    if (status == STATUS_OK) {
        api_set_writer(s->api, s->writer);
    }
    return status;
}

static enum status open_http(struct serve *s, struct err *err)
{
    struct http_hooks hooks = api_hooks(s->api);
    s->http = http_new(s->loop, &hooks);
    int fd = s->local_fd;
    s->local_fd = -1;
    enum status status = http_listen(s->http, fd, true, err);
    if (status == STATUS_OK) {
        fd = s->tcp_fd;
        s->tcp_fd = -1;
        status = s->keys.certificate.len > 0 ? http_listen_tls(s->http, fd, s->keys.certificate,
                                                               s->keys.certificate_key, err)
                                             : http_listen(s->http, fd, false, err);
    }
    return status;
}

static enum status start(struct serve *s, bool with_agent, struct err *err)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGINT);
    /* Before any thread is made, so that none of them takes the signal for us. */
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a full disk, said as such */
    s->files_max = file_limit_raise();
    s->cluster = (struct cluster){NULL, no_effects, no_observations};
    enum status status = loop_new(&s->loop, err);
    status = status != STATUS_OK ? status : open_data(s, err);
    status = status != STATUS_OK ? status : open_sockets(s, err);
    status = status != STATUS_OK || !with_agent ? status : open_agent(s, err);
    status = status != STATUS_OK ? status : open_keys(s, err);
    status = status != STATUS_OK ? status : open_state(s, err);
    status = status != STATUS_OK ? status : open_http(s, err);
    return status != STATUS_OK ? status : loop_signals(s->loop, &mask, on_signal, s, err);
}

static int stop(struct serve *s)
{
    int exit_status = 0;
    struct err err;
    if (s->writer != NULL && s->reported) {
        if (writer_stop(s->writer, &err) != STATUS_OK) {
            log_err(LOG_ERROR, "stop_without_checkpoint", &err);
            exit_status = 1;
        }
    }
    if (s->api != NULL) {
        api_stop(s->api);
    }
    http_free(s->http);
    api_free(s->api);
    passwords_free(s->passwords);
    oidc_free(s->oidc);
    crypto_key_free(s->keys.token);
    writer_free(s->writer);
    engine_free(s->engine);
    if (s->agent != NULL) {
        loop_del(s->loop, agent_fd(s->agent));
        agent_close(s->agent);
    }
    if (s->store.ctx != NULL) {
        loop_del(s->loop, sqlite_fd(&s->store));
        sqlite_close(&s->store);
    }
    if (s->http != NULL || s->local_fd >= 0) {
        unlink(arena_cstr(&s->arena, s->settings->socket));
    }
    file_close(&s->tcp_fd);
    file_close(&s->local_fd);
    loop_free(s->loop);
    file_close(&s->lock_fd);
    arena_done(&s->arena);
    return exit_status;
}

static void complain(const struct err *err)
{
    fprintf(stderr, "weir: error: %s\n", err->text);
    if (err->hint[0] != '\0') {
        fprintf(stderr, "  %s\n", err->hint);
    }
}

int serve_run(const struct serve_settings *settings, bool with_agent)
{
    struct serve s = {.settings = settings,
                      .lock_fd = -1,
                      .tcp_fd = -1,
                      .local_fd = -1,
                      .started_us = clock_mono_us()};
    struct err err;
    arena_init(&s.arena, 0);
    s.for_people = isatty(STDOUT_FILENO) == 1;
    log_setup(settings->log_level, isatty(STDERR_FILENO) == 1);
    if (start(&s, with_agent, &err) != STATUS_OK) {
        complain(&err);
        stop(&s);
        return status_info(err.status)->exit;
    }
    if (!with_agent || engine_state(s.engine)->nodes_count > 0) {
        report(&s);
    }
    loop_run(s.loop);
    int exit_status = stop(&s);
    LOG(LOG_INFO, "server_stopped", LOG_I64("exit", exit_status));
    return exit_status;
}

int serve_main(int argc, char **argv, bool with_agent)
{
    struct arena arena;
    struct serve_settings settings;
    struct err err;
    arena_init(&arena, 0);
    int exit_status = 2;
    if (serve_settings_read(argc, argv, with_agent, &arena, &settings, &err) != STATUS_OK) {
        complain(&err);
    } else if (settings.help) {
        serve_settings_help(argv[0], with_agent);
        exit_status = 0;
    } else {
        exit_status = serve_run(&settings, with_agent);
    }
    arena_done(&arena);
    return exit_status;
}
