// SPDX-License-Identifier: Apache-2.0
// Atomic replacement is write to a temporary name, fsync, rename, fsync of the directory; the
// temporary name carries the process id, so that two writers never share one. Removal walks with
// an explicit stack of open directories, so that its depth is bounded and no path is ever built.
#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_DEPTH_MAX = 64, FILE_PATH_MAX = 4096 };

void file_close(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

static enum status file_fail(struct err *err, const char *what, const char *name)
{
    int saved = errno;
    return err_set(err, STATUS_IO, "cannot %s %s: %s", what, name, strerror(saved));
}

enum status file_write_all(int fd, struct str bytes, struct err *err)
{
    size_t done = 0;
    while (done < bytes.len) {
        ssize_t n = write(fd, bytes.ptr + done, bytes.len - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return file_fail(err, "write", "the file");
        }
        done += (size_t)n;
    }
    return STATUS_OK;
}

uint64_t file_limit_raise(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return 0;
    }
    const struct rlimit raised = {.rlim_cur = files.rlim_max, .rlim_max = files.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &raised);
    return files.rlim_cur;
}

enum status file_write(int dir_fd, const char *name, struct str bytes, mode_t mode, bool durable,
                       struct err *err)
{
    char temporary[300];
    int len = snprintf(temporary, sizeof(temporary), ".%s.%d.tmp", name, (int)getpid());
    if (len < 0 || (size_t)len >= sizeof(temporary)) {
        return err_set(err, STATUS_INVALID, "the file name %s is too long", name);
    }
    CLEANUP(file_close)
    int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) {
        return file_fail(err, "create", temporary);
    }
    enum status s = file_write_all(fd, bytes, err);
    if (s == STATUS_OK && durable && fsync(fd) != 0) {
        s = file_fail(err, "write", name);
    }
    if (s == STATUS_OK && renameat(dir_fd, temporary, dir_fd, name) != 0) {
        s = file_fail(err, "replace", name);
    }
    if (s != STATUS_OK) {
        (void)unlinkat(dir_fd, temporary, 0);
        return s;
    }
    if (durable) {
        CLEANUP(file_close) int dir = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0 || fsync(dir) != 0) {
            return file_fail(err, "make durable", name);
        }
    }
    return STATUS_OK;
}

enum status file_read(int dir_fd, const char *name, struct buf *out, struct err *err)
{
    CLEANUP(file_close) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT) {
            return err_set(err, STATUS_UNKNOWN, "there is no file %s", name);
        }
        return file_fail(err, "open", name);
    }
    char chunk[8192];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return file_fail(err, "read", name);
        }
        if (n == 0) {
            return STATUS_OK;
        }
        buf_add(out, chunk, (size_t)n);
        if (out->full) {
            return err_set(err, STATUS_TOO_LARGE, "%s is larger than %zu bytes", name, out->max);
        }
    }
}

enum status file_mkdirs(const char *path, mode_t mode, struct err *err)
{
    char part[FILE_PATH_MAX];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof(part)) {
        return err_set(err, STATUS_INVALID, "the directory name is empty or longer than %d bytes",
                       FILE_PATH_MAX - 1);
    }
    memcpy(part, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (part[i] != '/' && part[i] != '\0') {
            continue;
        }
        char kept = part[i];
        part[i] = '\0';
        if (mkdir(part, mode) != 0 && errno != EEXIST) {
            return file_fail(err, "make the directory", part);
        }
        part[i] = kept;
    }
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        return file_fail(err, "make the directory", path);
    }
    return STATUS_OK;
}

struct level {
    DIR *dir;
    char name[256];
};

/* Opens the directory `name` in dir_fd unless it is on another device; NULL with errno. */
static DIR *level_open(int dir_fd, const char *name, dev_t device)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &st) != 0 || st.st_dev != device) {
        (void)close(fd);
        errno = EXDEV;
        return NULL;
    }
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        (void)close(fd);
    }
    return dir;
}

enum status file_remove_tree(int dir_fd, const char *name, struct err *err)
{
    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT) {
        return STATUS_OK;
    }
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode)) {
        return file_fail(err, "remove", name);
    }
    struct level levels[FILE_DEPTH_MAX];
    int depth = 0;
    int failure = 0;
    levels[0].dir = level_open(dir_fd, name, st.st_dev);
    if (levels[0].dir == NULL) {
        return file_fail(err, "open", name);
    }
    while (depth >= 0) {
        int here = dirfd(levels[depth].dir);
        errno = 0;
        struct dirent *entry = readdir(levels[depth].dir);
        if (entry == NULL) {
            (void)closedir(levels[depth].dir);
            depth--;
            if (depth >= 0 && failure == 0 &&
                unlinkat(dirfd(levels[depth].dir), levels[depth + 1].name, AT_REMOVEDIR) != 0) {
                failure = errno;
            }
            continue;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || failure != 0 ||
            unlinkat(here, entry->d_name, 0) == 0) {
            continue;
        }
        if (errno != EISDIR && errno != EPERM) {
            failure = errno;
            continue;
        }
        DIR *below = NULL;
        errno = ELOOP;
        if (depth + 1 < FILE_DEPTH_MAX) {
            below = level_open(here, entry->d_name, st.st_dev);
        }
        if (below == NULL) {
            failure = errno;
            continue;
        }
        depth++;
        levels[depth].dir = below;
        (void)snprintf(levels[depth].name, sizeof(levels[depth].name), "%s", entry->d_name);
    }
    if (failure == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) != 0) {
        failure = errno;
    }
    if (failure != 0) {
        errno = failure;
        return file_fail(err, "remove", name);
    }
    return STATUS_OK;
}
