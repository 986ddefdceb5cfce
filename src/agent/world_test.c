// SPDX-License-Identifier: Apache-2.0
#include "agent/world_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/test.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/random.h"

/* ---- a node and what it says ---- */

struct world w;

void note(void *arg, const struct input *in)
{
    struct world *to = arg;
    if (in->kind == INPUT_NODE_SEEN) {
        to->node = in->node;
    }
    if (to->seen_count < SEEN_MAX) {
        struct seen *s = &to->seen[to->seen_count++];
        *s = (struct seen){.kind = in->kind,
                           .pod = in->pod.pod,
                           .attempt = in->pod.attempt,
                           .at_ms = in->pod.at_ms,
                           .exit_code = in->pod.exit_code};
        (void)snprintf(s->reason, sizeof(s->reason), STR_FMT, STR_ARG(in->pod.reason));
    }
}

void world_attach(const char *gpus)
{
    struct err err;
    static const struct label labels[] = {
        {STRS("site"), STRS("attic")}
    };
    const struct agent_config config = {
        .data_dir = str_from_c(w.dir),
        .gpus = str_from_c(gpus),
        .node_name = STR("box"),
        .labels = labels,
        .labels_count = 1,
        .device_check_ms = 10,
        .checkpoint_check_ms = 10,
        .use_check_ms = 100,
    };
    w.seen_count = 0;
    REQUIRE_OK(agent_open(&config, &w.agent, &err), &err);
    w.cluster = agent_cluster(w.agent);
}

void world_open(void)
{
    w = (struct world){0};
    arena_init(&w.arena, 0);
    (void)snprintf(w.dir, sizeof(w.dir), "%s/data", test_tmp_dir());
    world_attach("fake:4");
}

void world_close(void)
{
    agent_close(w.agent);
    arena_done(&w.arena);
}

void world_reopen(void)
{
    agent_close(w.agent);
    world_attach("fake:4");
}

/* Handles what comes until `done` says so; false when the deadline passes first. */
bool until(bool (*done)(const void *), const void *arg)
{
    int64_t deadline = clock_mono_ms() + PATIENCE_MS;
    for (;;) {
        w.cluster.poll(w.cluster.ctx, note, &w);
        if (done(arg)) {
            return true;
        }
        int64_t left = deadline - clock_mono_ms();
        struct pollfd p = {.fd = agent_fd(w.agent), .events = POLLIN};
        if (left <= 0 || poll(&p, 1, (int)left) <= 0) {
            return false;
        }
    }
}

const struct seen *seen_find(enum input_kind kind, struct uuid pod)
{
    for (uint32_t i = 0; i < w.seen_count; i++) {
        if (w.seen[i].kind == kind && uuid_eq(w.seen[i].pod, pod)) {
            return &w.seen[i];
        }
    }
    return NULL;
}

bool was_seen(const void *arg)
{
    const struct awaited *what = arg;
    return seen_find(what->kind, what->pod) != NULL;
}

const struct seen *await(enum input_kind kind, struct uuid pod)
{
    struct awaited what = {kind, pod};
    bool came = until(was_seen, &what);
    for (uint32_t i = 0; i < w.seen_count && !came; i++) {
        printf("# seen: kind %u exit %" PRIi64 " %s\n", w.seen[i].kind, w.seen[i].exit_code,
               w.seen[i].reason);
    }
    const struct seen *s = seen_find(kind, pod);
    REQUIRE(s != NULL);
    return s;
}

uint32_t seen_times(enum input_kind kind, struct uuid pod)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w.seen_count; i++) {
        n += w.seen[i].kind == kind && uuid_eq(w.seen[i].pod, pod) ? 1 : 0;
    }
    return n;
}

/* ---- pods ---- */

/* A START of a new pod that runs argv. */
struct request *request(const char *const *argv)
{
    struct request *r = ARENA_NEW(&w.arena, struct request);
    struct pod_spec *spec = &r->workload.spec.pod;
    r->workload.id = random_uuid();
    r->workload.name = STR("job-1");
    r->workload.project = STR("team-a");
    *spec = (struct pod_spec){.args = r->args,
                              .env = r->env,
                              .run_as_uid = -1,
                              .run_as_gid = -1,
                              .cpu_milli = 100,
                              .cpu_limit_milli = -1,
                              .memory_limit_bytes = -1,
                              .grace_ms = 30000};
    for (; argv[spec->args_count] != NULL; spec->args_count++) {
        r->args[spec->args_count].value = str_from_c(argv[spec->args_count]);
    }
    r->pod.devices = r->devices;
    r->effect = (struct effect){.kind = EFFECT_START,
                                .pod = random_uuid(),
                                .attempt = 1,
                                .workload = &r->workload,
                                .pod_state = &r->pod,
                                .pod_index = 2};
    return r;
}

struct request *shell(const char *script)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    return request(argv);
}

struct uuid start(const struct request *r)
{
    w.cluster.do_effects(w.cluster.ctx, &r->effect, 1);
    return r->effect.pod;
}

void tell(enum effect_kind kind, const struct request *r, int64_t grace_ms)
{
    struct effect e = {
        .kind = kind, .pod = r->effect.pod, .attempt = r->effect.attempt, .grace_ms = grace_ms};
    w.cluster.do_effects(w.cluster.ctx, &e, 1);
}

void stop(const struct request *r, int64_t grace_ms)
{
    tell(EFFECT_STOP, r, grace_ms);
}

const char *pod_path(const struct request *r, const char *file)
{
    char name[LAUNCH_NAME_SIZE];
    launch_name(r->effect.pod, r->effect.attempt, name);
    return arena_printf(&w.arena, "%s/pods/%s%s", w.dir, name, file).ptr;
}

struct str file_text(const char *path)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    if (file_read(AT_FDCWD, path, &text, NULL) != STATUS_OK) {
        buf_clear(&text);
    }
    struct str copy = arena_str(&w.arena, buf_view(&text));
    buf_done(&text);
    return copy;
}

struct str log_of(const struct request *r)
{
    return file_text(agent_log_path(w.agent, r->effect.pod, r->effect.attempt, &w.arena).ptr);
}

bool process_is_of(const struct request *r, pid_t pid)
{
    char name[LAUNCH_NAME_SIZE], marker[128];
    launch_name(r->effect.pod, r->effect.attempt, name);
    (void)snprintf(marker, sizeof(marker), "WEIR_POD=%s", name);
    struct str rest = file_text(arena_printf(&w.arena, "/proc/%d/environ", (int)pid).ptr), part;
    while (str_split(&rest, '\0', &part)) {
        if (str_eq(part, str_from_c(marker))) {
            return true;
        }
    }
    return false;
}

int processes_of(const struct request *r)
{
    int count = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        int64_t pid;
        if (num_parse_i64(str_from_c(e->d_name), &pid) && process_is_of(r, (pid_t)pid)) {
            count++;
            struct str stat = file_text(arena_printf(&w.arena, "/proc/%s/stat", e->d_name).ptr);
            printf("# there is " STR_FMT "\n", STR_ARG(str_sub(stat, 0, 60)));
        }
    }
    (void)closedir(dir);
    return count;
}

static bool log_has(const void *arg)
{
    const struct request *r = arg;
    return str_ends(log_of(r), STR("ready\n"));
}

/* Waits for the job to have written "ready": the kernel tells of each change of its log. */
void await_ready(const struct request *r)
{
    int64_t deadline = clock_mono_ms() + PATIENCE_MS;
    (void)await(INPUT_POD_STARTED, r->effect.pod);
    CLEANUP(file_close) int changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    REQUIRE(inotify_add_watch(changes, pod_path(r, "/log"), IN_MODIFY) >= 0);
    while (!log_has(r)) {
        struct pollfd p = {.fd = changes, .events = POLLIN};
        char events[4096];
        REQUIRE(poll(&p, 1, (int)(deadline - clock_mono_ms())) == 1);
        (void)!read(changes, events, sizeof(events));
    }
}

/* Our children, ended ones that nobody collected above all. */
int children(void)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    struct str rest = file_text(path), part;
    int count = 0;
    while (str_split(&rest, ' ', &part)) {
        count += part.len > 0 ? 1 : 0;
    }
    return count;
}

bool children_are(const void *arg)
{
    const int *count = arg;
    return children() == *count;
}

/* A fifo the job writes to or reads from: real synchronisation with a child. */
const char *fifo(const char *name)
{
    const char *path = arena_printf(&w.arena, "%s/%s", test_tmp_dir(), name).ptr;
    REQUIRE(mkfifo(path, 0666) == 0 && chmod(path, 0666) == 0);
    return path;
}

bool noted(const char *start)
{
    uint32_t count;
    const struct str_item *notes = agent_describe(w.agent, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (str_starts(notes[i].value, str_from_c(start))) {
            return true;
        }
    }
    return false;
}

/* ---- commands inside ---- */

void talk_start(struct talk *t, const struct request *r, const char *const *argv, bool terminal)
{
    struct str args[ARGS_MAX];
    struct str env[] = {STR("EXTRA=1")};
    uint32_t argc = 0;
    struct err err;
    for (; argv[argc] != NULL; argc++) {
        args[argc] = str_from_c(argv[argc]);
    }
    *t = (struct talk){.fd = -1, .code = -1};
    buf_init(&t->raw, 1 << 20);
    buf_init(&t->out, 1 << 20);
    buf_init(&t->err, 1 << 20);
    REQUIRE_OK(agent_exec(w.agent, r->effect.pod, args, argc, env, 1, terminal, &t->fd, &err),
               &err);
}

void talk_send(struct talk *t, enum frame_kind kind, struct str bytes)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    frame_add(&out, (uint8_t)kind, bytes);
    REQUIRE(send(t->fd, out.ptr, out.len, MSG_NOSIGNAL) == (ssize_t)out.len);
    buf_done(&out);
}

/* Reads until the end, or until the output ends with `mark`. */
void talk_read(struct talk *t, const char *mark)
{
    int64_t deadline = clock_mono_ms() + PATIENCE_MS;
    while (mark == NULL || !str_ends(buf_view(&t->out), str_from_c(mark))) {
        struct pollfd p = {.fd = t->fd, .events = POLLIN};
        REQUIRE(poll(&p, 1, (int)(deadline - clock_mono_ms())) == 1);
        char chunk[4096];
        ssize_t n = recv(t->fd, chunk, sizeof(chunk), 0);
        if (n <= 0) {
            break;
        }
        buf_add(&t->raw, chunk, (size_t)n);
        uint32_t used = 0;
        uint8_t kind;
        struct str body;
        while (frame_next(buf_view(&t->raw), &used, &kind, &body) == FRAME_ONE) {
            if (kind == FRAME_STDOUT) {
                buf_str(&t->out, body);
            } else if (kind == FRAME_STDERR) {
                buf_str(&t->err, body);
            } else {
                REQUIRE(kind == FRAME_CONTROL);
                uint32_t head = (uint32_t)strlen("{\"exit\":");
                REQUIRE(str_starts(body, STR("{\"exit\":")) &&
                        num_parse_i64(str_sub(body, head, body.len - head - 1), &t->code));
            }
        }
        memmove(t->raw.ptr, t->raw.ptr + used, t->raw.len - used);
        t->raw.len -= used;
    }
}

void talk_end(struct talk *t)
{
    file_close(&t->fd);
    buf_done(&t->raw);
    buf_done(&t->out);
    buf_done(&t->err);
}
