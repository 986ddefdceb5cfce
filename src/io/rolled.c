// SPDX-License-Identifier: Apache-2.0
// rolled: the names are looked at before and after the files are opened; when nothing was put aside
// between, they belong together. A part takes long to become large, so that the second look is as
// good as always the last.
#include "io/rolled.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/num.h"
#include "io/file.h"

enum {
    NAME_SIZE = 256,
    LOOKS_MAX = 100,
    PIECE_BYTES = 64 * 1024,
};

/* Where a part put aside ends, by its name; -1: it is none. */
static int64_t end_of_name(const char *file, const char *name)
{
    struct str rest = str_from_c(file);
    struct str before = str_from_c(name);
    int64_t end;
    if (!str_starts(rest, before) || rest.len < before.len + 2 || rest.ptr[before.len] != '.' ||
        !num_parse_i64(str_sub(rest, before.len + 1, rest.len), &end)) {
        return -1;
    }
    return end;
}

static void part_name(char out[NAME_SIZE], const char *name, int64_t end)
{
    (void)snprintf(out, NAME_SIZE, "%s.%lld", name, (long long)end);
}

static DIR *list(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        file_close(&fd);
    }
    return dir;
}

/* Where the last part that was put aside ends; -1: there is none. */
static int64_t last_end(int dir_fd, const char *name)
{
    int64_t last = -1;
    DIR *dir = list(dir_fd);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        last = num_max_i64(last, end_of_name(e->d_name, name));
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return last;
}

/* ---- writing ---- */

static void drop_before(const struct rolled_writer *w)
{
    DIR *dir = list(w->dir_fd);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        int64_t end = end_of_name(e->d_name, w->name);
        if (end >= 0 && end < w->from) {
            (void)unlinkat(w->dir_fd, e->d_name, 0);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
}

static int64_t size_of(int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 ? st.st_size : 0;
}

void rolled_writer_open(struct rolled_writer *w, int dir_fd, const char *name)
{
    *w = (struct rolled_writer){.dir_fd = dir_fd, .name = name};
    w->from = num_max_i64(last_end(dir_fd, name), 0);
    w->fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    w->bytes = size_of(w->fd);
}

bool rolled_writer_add(struct rolled_writer *w, struct str bytes)
{
    if (w->fd < 0) { /* the disk may have had no room for a new file */
        rolled_writer_open(w, w->dir_fd, w->name);
    }
    bool whole = w->fd >= 0 && file_write_all(w->fd, bytes, NULL) == STATUS_OK;
    w->bytes = whole ? w->bytes + bytes.len : size_of(w->fd);
    return whole;
}

void rolled_writer_next(struct rolled_writer *w)
{
    char aside[NAME_SIZE];
    part_name(aside, w->name, w->from + w->bytes);
    if (renameat(w->dir_fd, w->name, w->dir_fd, aside) == 0) {
        file_close(&w->fd);
        rolled_writer_open(w, w->dir_fd, w->name);
        drop_before(w);
    }
}

/* ---- reading ---- */

static int open_part(int dir_fd, const char *name)
{
    return openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* The file is the one of that name, or neither is there. */
static bool is_named(int fd, int dir_fd, const char *name)
{
    struct stat ours, named;
    bool there = fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0;
    if (fd < 0 || !there) {
        return fd < 0 && !there;
    }
    return fstat(fd, &ours) == 0 && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

/* The directory of a path, opened, and the name in it. */
static int open_dir(const char *path, const char **name)
{
    char dir[4096];
    const char *slash = strrchr(path, '/');
    CHECK(slash != NULL);
    *name = slash + 1;
    size_t len = (size_t)(slash - path);
    if (len >= sizeof dir) {
        return -1;
    }
    memcpy(dir, path, len);
    dir[len] = 0;
    return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void rolled_open(struct rolled *r, const char *path)
{
    char older[NAME_SIZE];
    const char *name;
    CLEANUP(file_close) int dir_fd = open_dir(path, &name);
    *r = (struct rolled){.older_fd = -1, .fd = -1};
    for (int look = 0; dir_fd >= 0 && look < LOOKS_MAX; look++) {
        int64_t end = last_end(dir_fd, name);
        part_name(older, name, end);
        r->older_fd = end >= 0 ? open_part(dir_fd, older) : -1;
        r->fd = open_part(dir_fd, name);
        r->from = num_max_i64(end, 0);
        r->first = num_max_i64(r->from - size_of(r->older_fd), 0);
        if (last_end(dir_fd, name) == end && is_named(r->fd, dir_fd, name)) {
            return;
        }
        rolled_close(r);
    }
}

void rolled_close(struct rolled *r)
{
    file_close(&r->older_fd);
    file_close(&r->fd);
}

bool rolled_is_old(const struct rolled *r, const char *path)
{
    return !is_named(r->fd, AT_FDCWD, path);
}

int64_t rolled_end(const struct rolled *r)
{
    return r->from + size_of(r->fd);
}

size_t rolled_read(const struct rolled *r, char *out, size_t len, int64_t at)
{
    CHECK(at >= r->first);
    bool older = at < r->from;
    int fd = older ? r->older_fd : r->fd;
    if (older && (int64_t)len > r->from - at) {
        len = (size_t)(r->from - at);
    }
    ssize_t n = fd >= 0 ? pread(fd, out, len, at - (older ? r->first : r->from)) : 0;
    return n > 0 ? (size_t)n : 0;
}

int64_t rolled_tail(const struct rolled *r, int64_t lines, int64_t bytes_max)
{
    char piece[PIECE_BYTES];
    int64_t end = rolled_end(r);
    int64_t at = end;
    int64_t found = 0;
    while (lines > 0 && at > r->first && end - at < bytes_max) {
        /* The pieces are of one part each, so that one reading is enough for each. */
        int64_t part = at > r->from ? r->from : r->first;
        int64_t len = num_min_i64(at - part, PIECE_BYTES);
        at -= len;
        size_t n = rolled_read(r, piece, (size_t)len, at);
        for (int64_t i = (int64_t)n - 1; i >= 0; i--) {
            bool last = at + i == end - 1; /* the end of the last line begins no new one */
            if (piece[i] == '\n' && !last && ++found == lines) {
                return at + i + 1;
            }
        }
    }
    return at;
}
