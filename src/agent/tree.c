// SPDX-License-Identifier: Apache-2.0
#include "agent/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/process.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/num.h"
#include "base/sort.h"
#include "io/file.h"

enum { ENVIRON_MAX = 4 << 20 };

struct candidate {
    pid_t pid, parent;
    bool found;
};

static pid_t process_parent(pid_t pid)
{
    struct process p;
    return process_read(pid, &p) ? p.parent : -1;
}

static bool process_is_marked(pid_t pid, struct str assignment)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    struct buf text;
    buf_init(&text, ENVIRON_MAX);
    bool marked = false;
    if (file_read(AT_FDCWD, path, &text, NULL) == STATUS_OK) {
        struct str rest = buf_view(&text), part;
        while (!marked && str_split(&rest, '\0', &part)) {
            marked = str_eq(part, assignment);
        }
    }
    buf_done(&text);
    return marked;
}

typedef ARRAY(struct candidate) process_list;

static process_list processes(struct arena *arena)
{
    process_list list = {0};
    DIR *dir = opendir("/proc");
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        int64_t pid;
        if (num_parse_i64(str_from_c(e->d_name), &pid) && pid > 1) {
            struct candidate *p = ARRAY_PUSH(arena, &list);
            p->pid = (pid_t)pid;
            p->parent = process_parent((pid_t)pid);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return list;
}

static int process_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    const struct candidate *one = a, *other = b;
    return (one->pid > other->pid) - (one->pid < other->pid);
}

static const struct candidate *process_find(const process_list *list, pid_t pid)
{
    uint32_t at = 0, end = list->count;
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (list->items[middle].pid < pid) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    return at < list->count && list->items[at].pid == pid ? &list->items[at] : NULL;
}

/* Marks all below root; repeated, because a child may have a lower number than its parent. */
static void find_below(process_list *list, pid_t root, struct arena *arena)
{
    sort_stable(list->items, list->count, sizeof(*list->items), process_order, NULL, arena);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < list->count; i++) {
            struct candidate *p = &list->items[i];
            const struct candidate *parent = p->found ? NULL : process_find(list, p->parent);
            if (!p->found && (p->parent == root || (parent != NULL && parent->found))) {
                p->found = more = true;
            }
        }
    }
}

static int pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void pidfd_kill(int fd)
{
    (void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

int tree_kill(pid_t root)
{
    struct arena arena;
    arena_init(&arena, 0);
    process_list list = processes(&arena);
    find_below(&list, root, &arena);
    int count = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        struct candidate *p = &list.items[i];
        CLEANUP(file_close) int fd = p->found ? pidfd(p->pid) : -1;
        // A parent that died meanwhile leaves its children to root: still below it.
        pid_t parent = fd >= 0 ? process_parent(p->pid) : -1;
        if (parent > 0 && (parent == p->parent || parent == root)) {
            pidfd_kill(fd);
            count++;
        }
    }
    arena_done(&arena);
    return count;
}

int tree_kill_marked(struct str assignment)
{
    struct arena arena;
    arena_init(&arena, 0);
    process_list list = processes(&arena);
    int count = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        pid_t pid = list.items[i].pid;
        if (pid == getpid() || !process_is_marked(pid, assignment)) {
            continue;
        }
        CLEANUP(file_close) int fd = pidfd(pid);
        if (fd >= 0 && process_is_marked(pid, assignment)) {
            pidfd_kill(fd);
            count++;
        }
    }
    arena_done(&arena);
    return count;
}
