// SPDX-License-Identifier: Apache-2.0
// A hierarchy is a mount; version 1 has one for each controller, version 2 one for all. The group
// for pods is <mount><own group>/weir. Version 2 forbids processes beside groups that have
// controllers, so there the nearest group above weir's own that can hand on controllers is taken.
// Devices: version 1 has a list in a file, version 2 a small program that the kernel runs at each
// open (only for real root).
//
// Moving a process by cgroup.procs waits for an RCU grace period (10 ms measured). Two ways do not:
// being forked into the group (version 2), and a thread moving itself by `tasks` (version 1).
#include "agent/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/num.h"
#include "io/file.h"

enum { TEXT_MAX = 1 << 20, CPU_PERIOD_US = 100000 };

static const char *const controller_names[CG_COUNT] = {"cpu", "memory", "pids", "devices", ""};

static bool path_join(char out[CG_PATH_SIZE], const char *dir, const char *name)
{
    int len = snprintf(out, CG_PATH_SIZE, "%s/%s", dir, name);
    return len > 0 && len < CG_PATH_SIZE;
}

static bool file_put(const char *dir, const char *file, const char *text)
{
    char path[CG_PATH_SIZE];
    if (!path_join(path, dir, file)) {
        errno = ENAMETOOLONG;
        return false;
    }
    CLEANUP(file_close) int fd = open(path, O_WRONLY | O_CLOEXEC);
    size_t len = strlen(text);
    return fd >= 0 && write(fd, text, len) == (ssize_t)len;
}

static bool file_exists(const char *dir, const char *file)
{
    char path[CG_PATH_SIZE];
    return path_join(path, dir, file) && access(path, F_OK) == 0;
}

static struct str file_get(const char *dir, const char *file, struct buf *into)
{
    char path[CG_PATH_SIZE];
    buf_clear(into);
    if (!path_join(path, dir, file) || file_read(AT_FDCWD, path, into, NULL) != STATUS_OK) {
        buf_clear(into);
    }
    return str_trim(buf_view(into));
}

static bool word_in(struct str list, char separator, struct str word)
{
    struct str part;
    while (str_split(&list, separator, &part)) {
        if (str_eq(str_trim(part), word)) {
            return true;
        }
    }
    return false;
}

/* ---- finding the hierarchies ---- */

struct mount {
    struct str root, point, type, options;
};

/* One line of mountinfo: id parent dev root point options [optional…] - type source superoptions */
static bool mount_parse(struct str line, struct mount *out)
{
    struct str part;
    *out = (struct mount){0};
    bool behind = false;
    for (int i = 0, after = 0; str_split(&line, ' ', &part); i++) {
        if (i == 3) {
            out->root = part;
        } else if (i == 4) {
            out->point = part;
        } else if (i > 5 && str_eq(part, STR("-"))) {
            behind = true;
        } else if (behind) {
            after++;
            if (after == 1) {
                out->type = part;
            } else if (after == 3) {
                out->options = part;
            }
        }
    }
    return out->type.len > 0;
}

/* The group weir is in, in the hierarchy with this controller ("" : version 2). */
static struct str own_group(struct str groups, struct str controller)
{
    struct str line, part;
    while (str_split(&groups, '\n', &line)) {
        uint32_t first = str_find(line, ':');
        struct str rest = str_sub(line, first + 1, line.len);
        part = str_sub(rest, 0, str_find(rest, ':'));
        if (controller.len == 0 ? part.len == 0 : word_in(part, ',', controller)) {
            return str_sub(rest, part.len + 1, rest.len);
        }
    }
    return STR("/");
}

/* Directory of the group weir is in, below a mount that shows the hierarchy from `root` on. */
static bool own_dir(const struct mount *m, struct str group, char out[CG_PATH_SIZE])
{
    if (m->root.len > 1 && str_starts(group, m->root)) {
        group = str_sub(group, m->root.len, group.len);
    } else if (m->root.len > 1) {
        group = STR("");
    }
    while (group.len > 0 && group.ptr[group.len - 1] == '/') {
        group.len--;
    }
    int len = snprintf(out, CG_PATH_SIZE, STR_FMT STR_FMT, STR_ARG(m->point), STR_ARG(group));
    // Seen from inside a namespace the path may not exist: then the mount's top is ours.
    if (len > 0 && len < CG_PATH_SIZE && access(out, F_OK) == 0) {
        return true;
    }
    len = snprintf(out, CG_PATH_SIZE, STR_FMT, STR_ARG(m->point));
    return len > 0 && len < CG_PATH_SIZE;
}

/* A child process moves itself into dir: the only proof that processes can be put there. */
static bool can_enter(const char *dir)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(file_put(dir, "cgroup.procs", "0") ? 0 : 1);
    }
    int how = 0;
    while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

static bool group_mkdir(const char *dir)
{
    return mkdir(dir, 0755) == 0 || errno == EEXIST;
}

static void probe_name(char out[64])
{
    (void)snprintf(out, 64, "probe.%d", (int)getpid());
}

static void probe_v1(struct cgroups *out, enum cgroup_controller c, const struct mount *m,
                     struct str groups)
{
    char own[CG_PATH_SIZE], base[CG_PATH_SIZE], probe[CG_PATH_SIZE], name[64];
    probe_name(name);
    if (!own_dir(m, own_group(groups, str_from_c(controller_names[c])), own) ||
        !path_join(base, own, "weir") || !path_join(probe, base, name) || !group_mkdir(base) ||
        !group_mkdir(probe)) {
        return;
    }
    if (can_enter(probe)) {
        (void)snprintf(out->dir[c], CG_PATH_SIZE, "%s", base);
        out->v2 &= ~(1u << c);
    }
    (void)rmdir(probe);
}

/* ---- devices, version 2 ---- */

/* As the kernel lays it out (struct bpf_insn), without bit fields. */
struct instruction {
    uint8_t code, registers; /* source << 4 | destination */
    int16_t off;
    int32_t imm;
};
_Static_assert(sizeof(struct instruction) == sizeof(struct bpf_insn), "the kernel's layout");

static struct instruction insn(int code, int dst, int src, int16_t off, int32_t imm)
{
    return (struct instruction){
        .code = (uint8_t)code, .registers = (uint8_t)(src << 4 | dst), .off = off, .imm = imm};
}

enum { RULES_MAX = 64, RULE_INSNS = 6 };
struct device_rule {
    int32_t major, minor; /* minor -1: any */
};

/* What every program needs, and no device of anyone. */
static const struct device_rule harmless[] = {
    {1,   3 },
    {1,   5 },
    {1,   7 },
    {1,   8 },
    {1,   9 },
    {5,   0 },
    {5,   2 },
    {136, -1},
};

static uint32_t device_rules(const struct cgroup_limits *limits, struct device_rule out[RULES_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNT_OF(harmless); i++) {
        out[count++] = harmless[i];
    }
    for (uint32_t i = 0; i < limits->device_nodes_count && count < RULES_MAX; i++) {
        char path[CG_PATH_SIZE];
        struct stat st;
        (void)snprintf(path, sizeof(path), STR_FMT, STR_ARG(limits->device_nodes[i].value));
        if (stat(path, &st) == 0 && S_ISCHR(st.st_mode)) {
            out[count++] = (struct device_rule){(int32_t)major(st.st_rdev),
                                                (int32_t)minor(st.st_rdev)};
        }
    }
    return count;
}

/* Loads "making a node is fine; reading or writing is for these character devices alone". */
static int device_program(const struct device_rule *rules, uint32_t count)
{
    struct instruction code[RULES_MAX * RULE_INSNS + 16];
    uint32_t n = 0;
    const int load = BPF_LDX | BPF_MEM | BPF_W, jne = BPF_JMP | BPF_JNE | BPF_K;
    const int mov = BPF_ALU64 | BPF_MOV | BPF_K, movr = BPF_ALU64 | BPF_MOV | BPF_X;
    const int and = BPF_ALU64 | BPF_AND | BPF_K, leave = BPF_JMP | BPF_EXIT;
    code[n++] = insn(load, BPF_REG_2, BPF_REG_1, 0, 0); // access << 16 | type
    code[n++] = insn(load, BPF_REG_4, BPF_REG_1, 4, 0); // major
    code[n++] = insn(load, BPF_REG_5, BPF_REG_1, 8, 0); // minor
    code[n++] = insn(movr, BPF_REG_3, BPF_REG_2, 0, 0);
    code[n++] = insn(and, BPF_REG_3, 0, 0, 0xFFFF);
    code[n++] = insn(and, BPF_REG_2, 0, 0, (BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE) << 16);
    code[n++] = insn(jne, BPF_REG_2, 0, 2, 0);
    code[n++] = insn(mov, BPF_REG_0, 0, 0, 1);
    code[n++] = insn(leave, 0, 0, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        bool any = rules[i].minor < 0;
        code[n++] = insn(jne, BPF_REG_3, 0, any ? 3 : 4, BPF_DEVCG_DEV_CHAR);
        code[n++] = insn(jne, BPF_REG_4, 0, any ? 2 : 3, rules[i].major);
        if (!any) {
            code[n++] = insn(jne, BPF_REG_5, 0, 2, rules[i].minor);
        }
        code[n++] = insn(mov, BPF_REG_0, 0, 0, 1);
        code[n++] = insn(leave, 0, 0, 0, 0);
    }
    code[n++] = insn(mov, BPF_REG_0, 0, 0, 0);
    code[n++] = insn(leave, 0, 0, 0, 0);
    union bpf_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attr.insns = (uintptr_t)code;
    attr.insn_cnt = n;
    attr.license = (uintptr_t)"Apache-2.0";
    return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static bool device_filter_v2(const char *dir, const struct cgroup_limits *limits)
{
    struct device_rule rules[RULES_MAX];
    CLEANUP(file_close) int program = device_program(rules, device_rules(limits, rules));
    CLEANUP(file_close) int group = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (program < 0 || group < 0) {
        return false;
    }
    union bpf_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.target_fd = (uint32_t)group;
    attr.attach_bpf_fd = (uint32_t)program;
    attr.attach_type = BPF_CGROUP_DEVICE;
    return syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr)) == 0;
}

static bool device_filter_v1(const char *dir, const struct cgroup_limits *limits)
{
    struct device_rule rules[RULES_MAX];
    uint32_t count = device_rules(limits, rules);
    bool ok = file_put(dir, "devices.deny", "a") && file_put(dir, "devices.allow", "c *:* m") &&
              file_put(dir, "devices.allow", "b *:* m");
    for (uint32_t i = 0; i < count && ok; i++) {
        char line[64];
        if (rules[i].minor < 0) {
            (void)snprintf(line, sizeof(line), "c %d:* rwm", rules[i].major);
        } else {
            (void)snprintf(line, sizeof(line), "c %d:%d rwm", rules[i].major, rules[i].minor);
        }
        ok = file_put(dir, "devices.allow", line);
    }
    return ok;
}

/* ---- probing version 2 ---- */

/* Hands the controllers on from dir to its groups; true when cpu and memory could be. */
static bool hand_on(const char *dir)
{
    bool ok = true;
    for (int c = CG_CPU; c <= CG_PIDS; c++) {
        char text[32];
        (void)snprintf(text, sizeof(text), "+%s", controller_names[c]);
        ok = (file_put(dir, "cgroup.subtree_control", text) || c == CG_PIDS) && ok;
    }
    return ok;
}

/* Tries one group as the place for pods; true when it gives controllers (then it is taken). */
static bool probe_v2_at(struct cgroups *out, const char *own, struct buf *text)
{
    char base[CG_PATH_SIZE], probe[CG_PATH_SIZE], name[64];
    probe_name(name);
    if (!path_join(base, own, "weir") || !path_join(probe, base, name)) {
        return false;
    }
    bool handed = hand_on(own);
    if (!group_mkdir(base)) {
        return false;
    }
    handed = hand_on(base) && handed;
    if (!group_mkdir(probe)) {
        return false;
    }
    bool enters = can_enter(probe);
    struct str have = file_get(probe, "cgroup.controllers", text);
    for (int c = CG_CPU; c <= CG_PIDS && enters; c++) {
        if (word_in(have, ' ', str_from_c(controller_names[c]))) {
            (void)snprintf(out->dir[c], CG_PATH_SIZE, "%s", base);
            out->v2 |= 1u << c;
        }
    }
    bool kills = enters && file_exists(probe, "cgroup.kill");
    bool filters = enters && device_filter_v2(probe, &(struct cgroup_limits){0});
    (void)rmdir(probe);
    if (kills && (handed || out->dir[CG_KILL][0] == '\0')) {
        (void)snprintf(out->dir[CG_KILL], CG_PATH_SIZE, "%s", base);
        out->v2 |= 1u << CG_KILL;
    }
    if (filters && (handed || out->dir[CG_DEVICES][0] == '\0')) {
        (void)snprintf(out->dir[CG_DEVICES], CG_PATH_SIZE, "%s", base);
        out->v2 |= 1u << CG_DEVICES;
    }
    return handed && enters;
}

static void probe_v2(struct cgroups *out, const struct mount *m, struct str groups)
{
    char own[CG_PATH_SIZE];
    if (!own_dir(m, own_group(groups, STR("")), own)) {
        return;
    }
    struct buf text;
    buf_init(&text, TEXT_MAX);
    size_t top = m->point.len;
    for (;;) {
        if (probe_v2_at(out, own, &text) || strlen(own) <= top) {
            break;
        }
        *strrchr(own, '/') = '\0';
    }
    buf_done(&text);
}

void cgroup_probe(struct cgroups *out)
{
    *out = (struct cgroups){0};
    struct buf mounts, groups;
    buf_init(&mounts, TEXT_MAX);
    buf_init(&groups, TEXT_MAX);
    if (file_read(AT_FDCWD, "/proc/self/mountinfo", &mounts, NULL) == STATUS_OK &&
        file_read(AT_FDCWD, "/proc/self/cgroup", &groups, NULL) == STATUS_OK) {
        struct str rest = buf_view(&mounts), line;
        struct mount m;
        while (str_split(&rest, '\n', &line)) {
            if (!mount_parse(line, &m)) {
                continue;
            }
            if (str_eq(m.type, STR("cgroup2")) && out->dir[CG_KILL][0] == '\0') {
                probe_v2(out, &m, buf_view(&groups));
            }
            for (int c = CG_CPU; c <= CG_DEVICES && str_eq(m.type, STR("cgroup")); c++) {
                if (word_in(m.options, ',', str_from_c(controller_names[c])) &&
                    out->dir[c][0] == '\0') {
                    probe_v1(out, (enum cgroup_controller)c, &m, buf_view(&groups));
                }
            }
        }
    }
    buf_done(&mounts);
    buf_done(&groups);
}

/* ---- one pod's group ---- */

void cgroup_at(struct cgroup *cg, const struct cgroups *in, const char *name)
{
    *cg = (struct cgroup){.at.v2 = in->v2, .v2_dir = -1};
    for (int c = 0; c < CG_COUNT; c++) {
        cg->join[c] = -1;
        if (in->dir[c][0] != '\0' && !path_join(cg->at.dir[c], in->dir[c], name)) {
            cg->at.dir[c][0] = '\0';
        }
    }
}

/* The same directory serves several controllers in version 2. */
static bool first_of_dir(const struct cgroup *cg, int c)
{
    for (int before = 0; before < c; before++) {
        if (strcmp(cg->at.dir[before], cg->at.dir[c]) == 0) {
            return false;
        }
    }
    return cg->at.dir[c][0] != '\0';
}

static bool limit_put(const char *dir, const char *file, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    return file_put(dir, file, text);
}

static bool limit_cpu(const char *dir, bool v2, const struct cgroup_limits *l)
{
    enum { SHARES_MIN = 2, SHARES_MAX = 262144, WEIGHT_MAX = 10000, QUOTA_MIN_US = 1000 };
    int64_t shares = num_muldiv_floor(num_max_i64(l->cpu_milli, 0), 1024, 1000);
    shares = num_min_i64(num_max_i64(shares, SHARES_MIN), SHARES_MAX);
    bool ok = v2 ? limit_put(dir, "cpu.weight",
                             1 + num_muldiv_floor(shares - SHARES_MIN, WEIGHT_MAX - 1,
                                                  SHARES_MAX - SHARES_MIN))
                 : limit_put(dir, "cpu.shares", shares);
    if (l->cpu_limit_milli <= 0 || !ok) {
        return ok;
    }
    int64_t quota = num_max_i64(num_muldiv_floor(l->cpu_limit_milli, CPU_PERIOD_US, 1000),
                                QUOTA_MIN_US);
    if (!v2) {
        return limit_put(dir, "cpu.cfs_period_us", CPU_PERIOD_US) &&
               limit_put(dir, "cpu.cfs_quota_us", quota);
    }
    char text[64];
    (void)snprintf(text, sizeof(text), "%lld %d", (long long)quota, CPU_PERIOD_US);
    return file_put(dir, "cpu.max", text);
}

static bool limit_memory(const char *dir, bool v2, const struct cgroup_limits *l)
{
    if (l->memory_limit_bytes <= 0) {
        return true;
    }
    // Swap is not extra room; without swap accounting there is no such file, and nothing to limit.
    if (v2) {
        (void)file_put(dir, "memory.swap.max", "0");
        return limit_put(dir, "memory.max", l->memory_limit_bytes);
    }
    bool ok = limit_put(dir, "memory.limit_in_bytes", l->memory_limit_bytes);
    (void)limit_put(dir, "memory.memsw.limit_in_bytes", l->memory_limit_bytes);
    return ok;
}

static bool limit_set(const struct cgroup *cg, int c, const struct cgroup_limits *l)
{
    const char *dir = cg->at.dir[c];
    bool v2 = (cg->at.v2 >> c & 1u) != 0;
    switch ((enum cgroup_controller)c) {
    case CG_CPU:
        return limit_cpu(dir, v2, l);
    case CG_MEMORY:
        return limit_memory(dir, v2, l);
    case CG_PIDS:
        return limit_put(dir, "pids.max", CG_PIDS_MAX);
    case CG_DEVICES:
        return v2 ? device_filter_v2(dir, l) : device_filter_v1(dir, l);
    case CG_KILL:
    case CG_COUNT:
        break;
    }
    return true;
}

static bool group_open(struct cgroup *cg, int c)
{
    const char *dir = cg->at.dir[c];
    bool v2 = (cg->at.v2 >> c & 1u) != 0;
    char path[CG_PATH_SIZE];
    if (!group_mkdir(dir) || !path_join(path, dir, v2 ? "cgroup.procs" : "tasks")) {
        return false;
    }
    cg->join[c] = open(path, O_WRONLY | O_CLOEXEC);
    if (v2) {
        cg->v2_dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return cg->join[c] >= 0;
}

enum status cgroup_make(struct cgroup *cg, const struct cgroups *in, const char *name,
                        const struct cgroup_limits *limits, struct err *err)
{
    cgroup_at(cg, in, name);
    for (int c = 0; c < CG_COUNT; c++) {
        if (cg->at.dir[c][0] == '\0') {
            continue;
        }
        if (first_of_dir(cg, c) && !group_open(cg, c)) {
            return err_set(err, STATUS_UNSUPPORTED, "cannot make the control group %s: %s",
                           cg->at.dir[c], strerror(errno));
        }
        if (!limit_set(cg, c, limits)) {
            return err_set(err, STATUS_UNSUPPORTED, "cannot limit %s in %s: %s",
                           controller_names[c], cg->at.dir[c], strerror(errno));
        }
    }
    return STATUS_OK;
}

pid_t cgroup_fork(const struct cgroup *cg, bool *forked_in)
{
    *forked_in = false;
    if (cg != NULL && cg->v2_dir >= 0) {
        struct clone_args how = {
            .flags = CLONE_INTO_CGROUP,
            .exit_signal = SIGCHLD,
            .cgroup = (unsigned)cg->v2_dir,
        };
        *forked_in = true; // before, so that the child knows it too
        pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof(how));
        if (pid >= 0) {
            return pid;
        }
        *forked_in = false;
    }
    return fork();
}

bool cgroup_join(const struct cgroup *cg, bool forked_in)
{
    for (int c = 0; c < CG_COUNT; c++) {
        bool done = forked_in && (cg->at.v2 >> c & 1u) != 0;
        if (!done && cg->join[c] >= 0 && write(cg->join[c], "0", 1) != 1) {
            return false;
        }
    }
    return true;
}

/* Version 1 has no way to kill a group at once: signal all that is listed until nothing is. */
static bool kill_listed(const char *dir)
{
    enum { ROUNDS_MAX = 100 };
    struct buf text;
    buf_init(&text, TEXT_MAX);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        struct str rest = file_get(dir, "cgroup.procs", &text), line;
        if (rest.len == 0) {
            break;
        }
        while (str_split(&rest, '\n', &line)) {
            int64_t pid;
            if (num_parse_i64(line, &pid) && pid > 1) {
                // Read from the group a moment ago; a pidfd then makes sure it is still in it.
                CLEANUP(file_close) int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
                struct buf again;
                buf_init(&again, TEXT_MAX);
                if (fd >= 0 && word_in(file_get(dir, "cgroup.procs", &again), '\n', line)) {
                    (void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
                }
                buf_done(&again);
            }
        }
    }
    buf_done(&text);
    return true;
}

bool cgroup_kill(const struct cgroup *cg)
{
    if (cg->at.dir[CG_KILL][0] != '\0') {
        return file_put(cg->at.dir[CG_KILL], "cgroup.kill", "1");
    }
    for (int c = 0; c < CG_KILL; c++) {
        if (cg->at.dir[c][0] != '\0') {
            return kill_listed(cg->at.dir[c]);
        }
    }
    return false;
}

bool cgroup_oom(const struct cgroup *cg)
{
    const char *dir = cg->at.dir[CG_MEMORY];
    if (dir[0] == '\0') {
        return false;
    }
    bool v2 = (cg->at.v2 >> CG_MEMORY & 1u) != 0;
    struct buf text;
    buf_init(&text, TEXT_MAX);
    struct str rest = file_get(dir, v2 ? "memory.events" : "memory.oom_control", &text), line;
    bool oom = false;
    while (str_split(&rest, '\n', &line)) {
        int64_t count;
        if (str_starts(line, STR("oom_kill ")) &&
            num_parse_i64(str_sub(line, (uint32_t)strlen("oom_kill "), line.len), &count)) {
            oom = count > 0;
        }
    }
    buf_done(&text);
    return oom;
}

void cgroup_remove(struct cgroup *cg)
{
    file_close(&cg->v2_dir);
    for (int c = 0; c < CG_COUNT; c++) {
        file_close(&cg->join[c]);
        if (first_of_dir(cg, c)) {
            (void)rmdir(cg->at.dir[c]);
        }
    }
}
