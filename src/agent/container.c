// SPDX-License-Identifier: Apache-2.0
// create, init, start are separate steps because each fails for its own reasons: create when the
// image or a setting is wrong, init when the runtime cannot make it or the command is not there,
// start never after that. Limits on open files and processes are given explicitly: podman's own
// defaults are above what an ordinary user may set. With cgroups of version 1 (or both versions)
// runc is taken where it is installed, because crun refuses those.
#include "agent/container.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/checkpoint.h"
#include "agent/job.h"
#include "base/check.h"
#include "base/num.h"
#include "codec/json.h"
#include "io/clock.h"
#include "io/file.h"

enum {
    ASK_MS = 30000,
    PULL_MS = 600000,
    OUTPUT_MAX = 64 << 10,
    NOFILE_MAX = 1048576,
    NPROC_MAX = 16384,
    ARGS_MAX = 64,
};

/* ---- argument lists ---- */

struct args {
    struct arena *arena;
    char **items;
    uint32_t count, cap;
};

static void arg(struct args *a, struct str s)
{
    CHECK(a->count + 1 < a->cap);
    char *text = arena_alloc(a->arena, (size_t)s.len + 1);
    if (s.len > 0) {
        memcpy(text, s.ptr, s.len);
    }
    a->items[a->count++] = text;
}

static struct str container_name(const struct launch *l, struct arena *arena)
{
    char name[LAUNCH_NAME_SIZE];
    launch_name(l->pod, l->attempt, name);
    return arena_printf(arena, "weir-%s", name);
}

/* podman and what every call of it needs; room for `more` arguments. */
static struct args podman(struct arena *arena, uint32_t more)
{
    struct args a = {.arena = arena, .cap = ARGS_MAX + more};
    a.items = ARENA_ARRAY(arena, char *, a.cap);
    arg(&a, STR("podman"));
    bool unified = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    bool runc = access("/usr/sbin/runc", X_OK) == 0 || access("/usr/bin/runc", X_OK) == 0;
    if (!unified && runc) {
        arg(&a, STR("--runtime"));
        arg(&a, STR("runc"));
    }
    return a;
}

/* ---- running podman ---- */

/* Reads until the end of output, at most until the deadline. */
static bool gather(int fd, int64_t deadline_ms, struct buf *out)
{
    for (;;) {
        int64_t left = deadline_ms - clock_mono_ms();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (left <= 0 || (poll(&p, 1, (int)left) <= 0 && errno != EINTR)) {
            return false;
        }
        char chunk[4096];
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n == 0) {
            return true;
        }
        if (n > 0) {
            buf_add(out, chunk, (size_t)n);
        }
    }
}

/* Runs podman to its end; its exit code, or -1 with the reason in out. */
static int podman_run(const struct args *a, int64_t limit_ms, struct buf *out)
{
    int ends[2], report = -1, code = -1;
    char reason[REASON_MAX];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    struct job job = {
        .argv = a->items, .env = environ, .in = -1, .out = ends[1], .err = ends[1], .terminal = -1};
    pid_t pid = job_start(&job, &report);
    (void)close(ends[1]);
    if (pid > 0 && !job_report(report, &job, reason, &code)) {
        buf_printf(out, "podman is not installed here");
        (void)waitpid(pid, NULL, 0);
        pid = -1;
    }
    file_close(&report);
    code = -1;
    if (pid > 0) {
        bool in_time = gather(ends[0], clock_mono_ms() + limit_ms, out);
        if (!in_time) {
            (void)kill(-pid, SIGKILL);
        }
        int how = 0;
        while (waitpid(pid, &how, 0) < 0 && errno == EINTR) {
        }
        code = in_time ? job_code(how) : -1;
        if (!in_time) {
            buf_clear(out);
            buf_printf(out, "podman did not answer within %lld s", (long long)(limit_ms / 1000));
        }
    }
    (void)close(ends[0]);
    return code;
}

/* The last line of podman's output says what was wrong. */
static struct str last_line(const struct buf *out)
{
    struct str text = str_trim(buf_view(out)), line = text;
    struct str rest = text;
    while (str_split(&rest, '\n', &line)) {
    }
    struct str prefix = STR("Error: ");
    return str_starts(line, prefix) ? str_sub(line, prefix.len, line.len) : line;
}

/* ---- preparing ---- */

static enum status image_get(const struct launch *l, struct arena *arena, struct buf *out,
                             struct err *err)
{
    struct args exists = podman(arena, 0);
    arg(&exists, STR("image"));
    arg(&exists, STR("exists"));
    arg(&exists, l->spec.image);
    int code = podman_run(&exists, ASK_MS, out);
    if (code == 1) {
        buf_clear(out);
        struct args pull = podman(arena, 0);
        arg(&pull, STR("pull"));
        arg(&pull, STR("--quiet"));
        arg(&pull, l->spec.image);
        code = podman_run(&pull, PULL_MS, out);
    }
    if (code != 0) {
        struct str why = last_line(out);
        return err_set(err, STATUS_UNSUPPORTED, "image " STR_FMT " cannot be used: " STR_FMT,
                       STR_ARG(l->spec.image), STR_ARG(why));
    }
    return STATUS_OK;
}

/* Variables go through a file, which others cannot read; podman reads it line by line. */
static enum status env_file(const struct launch *l, int dir_fd, struct arena *arena,
                            struct err *err)
{
    const struct account nobody = {.name = "", .home = "/"};
    char **env = launch_env(l, &nobody, arena);
    struct buf text;
    buf_init(&text, LAUNCH_SPEC_MAX);
    enum status s = STATUS_OK;
    for (uint32_t i = 0; env[i] != NULL && s == STATUS_OK; i++) {
        if (strchr(env[i], '\n') != NULL) {
            s = err_set(err, STATUS_UNSUPPORTED,
                        "variable %.*s has a line break, which cannot be handed to a container",
                        (int)strcspn(env[i], "="), env[i]);
        }
        buf_printf(&text, "%s\n", env[i]);
    }
    if (s == STATUS_OK) {
        s = file_write(dir_fd, "env", buf_view(&text), 0600, false, err);
    }
    buf_done(&text);
    return s;
}

static void arg_limit(struct args *a, const char *name, int resource, rlim_t most)
{
    struct rlimit r;
    if (getrlimit((__rlimit_resource_t)resource, &r) == 0) {
        unsigned long long v = r.rlim_max < most ? r.rlim_max : most;
        arg(a, STR("--ulimit"));
        arg(a, arena_printf(a->arena, "%s=%llu:%llu", name, v, v));
    }
}

static bool has_controller(const struct launch *l, uint32_t c)
{
    return l->cgroups_count > c && l->cgroups[c].value.len > 0;
}

static void args_resources(struct args *a, const struct launch *l)
{
    arg_limit(a, "nofile", RLIMIT_NOFILE, NOFILE_MAX);
    arg_limit(a, "nproc", RLIMIT_NPROC, NPROC_MAX);
    if (l->spec.memory_limit_bytes > 0 && has_controller(l, CG_MEMORY)) {
        arg(a, STR("--memory"));
        arg(a, arena_printf(a->arena, "%lldb", (long long)l->spec.memory_limit_bytes));
    }
    if (l->spec.cpu_limit_milli > 0 && has_controller(l, CG_CPU)) {
        arg(a, STR("--cpus"));
        arg(a, arena_printf(a->arena, "%lld.%03lld", (long long)(l->spec.cpu_limit_milli / 1000),
                            (long long)(l->spec.cpu_limit_milli % 1000)));
    }
    for (uint32_t i = 0; i < l->devices_count && l->device_nodes_count > 0; i++) {
        arg(a, STR("--device"));
        arg(a, arena_printf(a->arena, "nvidia.com/gpu=" STR_FMT, STR_ARG(l->devices[i].value)));
    }
}

static void args_entrypoint(struct args *a, const struct launch *l)
{
    struct buf text;
    struct jw w;
    buf_init(&text, LAUNCH_SPEC_MAX);
    jw_init(&w, &text, false);
    jw_array_begin(&w);
    for (uint32_t i = 0; i < l->spec.args_count; i++) {
        jw_string(&w, l->spec.args[i].value);
    }
    jw_array_end(&w);
    arg(a, STR("--entrypoint"));
    arg(a, buf_view(&text));
    buf_done(&text);
}

static struct args create_args(const struct launch *l, int dir_fd, struct arena *arena)
{
    struct args a = podman(arena, l->spec.args_count + 2 * l->devices_count);
    arg(&a, STR("create"));
    arg(&a, STR("--replace"));
    arg(&a, STR("--pull=never"));
    arg(&a, STR("--log-driver=none"));
    arg(&a, STR("--network=host"));
    arg(&a, STR("--security-opt=no-new-privileges"));
    arg(&a, STR("--name"));
    arg(&a, container_name(l, arena));
    if (l->checkpoint.len > 0) {
        arg(&a, STR("--volume"));
        arg(&a, arena_printf(arena, STR_FMT ":" CHECKPOINT_PATH, STR_ARG(l->checkpoint)));
    }
    arg(&a, STR("--env-file"));
    arg(&a, arena_printf(arena, "/proc/%d/fd/%d/env", (int)getpid(), dir_fd));
    if (l->spec.run_as_uid >= 0) {
        arg(&a, STR("--user"));
        arg(&a, l->spec.run_as_gid >= 0
                    ? arena_printf(arena, "%lld:%lld", (long long)l->spec.run_as_uid,
                                   (long long)l->spec.run_as_gid)
                    : arena_printf(arena, "%lld", (long long)l->spec.run_as_uid));
    }
    if (l->spec.working_dir.len > 0) {
        arg(&a, STR("--workdir"));
        arg(&a, l->spec.working_dir);
    }
    args_resources(&a, l);
    bool entry = l->spec.args_are_command && l->spec.args_count > 0;
    if (entry) {
        args_entrypoint(&a, l);
    }
    arg(&a, l->spec.image);
    for (uint32_t i = 0; i < l->spec.args_count && !entry; i++) {
        arg(&a, l->spec.args[i].value);
    }
    return a;
}

enum status container_prepare(const struct launch *l, int dir_fd, struct err *err)
{
    struct arena arena;
    struct buf out;
    arena_init(&arena, 0);
    buf_init(&out, OUTPUT_MAX);
    enum status s = image_get(l, &arena, &out, err);
    if (s == STATUS_OK) {
        s = env_file(l, dir_fd, &arena, err);
    }
    if (s == STATUS_OK) {
        struct args init = podman(&arena, 0);
        arg(&init, STR("init"));
        arg(&init, container_name(l, &arena));
        struct args create = create_args(l, dir_fd, &arena);
        const struct args *const steps[] = {&create, &init};
        for (uint32_t i = 0; i < COUNT_OF(steps) && s == STATUS_OK; i++) {
            buf_clear(&out);
            if (podman_run(steps[i], ASK_MS, &out) != 0) {
                struct str why = last_line(&out);
                s = err_set(err, STATUS_UNSUPPORTED,
                            "the container of image " STR_FMT " cannot be made: " STR_FMT,
                            STR_ARG(l->spec.image), STR_ARG(why));
            }
        }
        (void)unlinkat(dir_fd, "env", 0);
    }
    buf_done(&out);
    arena_done(&arena);
    return s;
}

/* ---- afterwards ---- */

char **container_start_argv(const struct launch *l, struct arena *arena)
{
    struct args a = podman(arena, 0);
    arg(&a, STR("start"));
    arg(&a, STR("--attach"));
    arg(&a, container_name(l, arena));
    return a.items;
}

char **container_exec_argv(const struct launch *l, char *const *argv, char *const *env,
                           bool terminal, struct arena *arena)
{
    uint32_t more = 0;
    for (char *const *p = argv; *p != NULL; p++) {
        more++;
    }
    for (char *const *p = env; *p != NULL; p++) {
        more += 2;
    }
    struct args a = podman(arena, more);
    arg(&a, STR("exec"));
    arg(&a, STR("--interactive"));
    if (terminal) {
        arg(&a, STR("--tty"));
    }
    for (; *env != NULL; env++) {
        arg(&a, STR("--env"));
        arg(&a, str_from_c(*env));
    }
    arg(&a, container_name(l, arena));
    for (; *argv != NULL; argv++) {
        arg(&a, str_from_c(*argv));
    }
    return a.items;
}

static int container_tell(const struct launch *l, const char *const *words, struct buf *out)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct args a = podman(&arena, 0);
    for (; *words != NULL; words++) {
        arg(&a, str_from_c(*words));
    }
    arg(&a, container_name(l, &arena));
    int code = podman_run(&a, ASK_MS, out);
    arena_done(&arena);
    return code;
}

void container_kill(const struct launch *l)
{
    static const char *const words[] = {"kill", "--signal", "KILL", NULL};
    struct buf out;
    buf_init(&out, OUTPUT_MAX);
    (void)container_tell(l, words, &out);
    buf_done(&out);
}

void container_remove(const struct launch *l)
{
    static const char *const words[] = {"rm", "--force", "--time", "0", NULL};
    struct buf out;
    buf_init(&out, OUTPUT_MAX);
    (void)container_tell(l, words, &out);
    buf_done(&out);
}

bool container_result(const struct launch *l, int64_t *exit_code, bool *oom)
{
    static const char *const words[] = {
        "container", "inspect", "--format",
        "{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}}", NULL};
    struct buf out;
    buf_init(&out, OUTPUT_MAX);
    struct str rest, status, code;
    bool known = container_tell(l, words, &out) == 0;
    rest = str_trim(buf_view(&out));
    // podman learns of an end a moment later than the one who is attached.
    known = known && str_split(&rest, ' ', &status) && str_eq(status, STR("exited")) &&
            str_split(&rest, ' ', &code) && num_parse_i64(code, exit_code);
    *oom = known && str_eq(rest, STR("true"));
    buf_done(&out);
    return known;
}
