// SPDX-License-Identifier: Apache-2.0
#include "io/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/file.h"

static enum status say_holder(int fd, const char *dir, struct err *err)
{
    char pid[24] = {0};
    ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
    pid[strcspn(pid, "\n")] = '\0';
    err_set(err, STATUS_IN_USE, "the data directory %s is in use by another weir, process %s", dir,
            n > 0 ? pid : "unknown");
    return err_hint(err, "stop it, or choose another directory with --data");
}

enum status lock_take(const char *dir, int *fd, struct err *err)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/lock", dir) >= (int)sizeof path) {
        return err_set(err, STATUS_INVALID, "the path of the data directory is too long");
    }
    CLEANUP(file_close) int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        int reason = errno;
        err_set(err, STATUS_IO, "cannot write in the data directory %s: %s", dir, strerror(reason));
        return err_hint(err, "choose another directory with --data");
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        return say_holder(file, dir, err);
    }
    char pid[24];
    int len = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    if (ftruncate(file, 0) != 0 || pwrite(file, pid, (size_t)len, 0) != len) {
        int reason = errno;
        return err_set(err, STATUS_IO, "%scannot write %s: %s",
                       reason == ENOSPC ? "disk full: " : "", path, strerror(reason));
    }
    *fd = file;
    file = -1;
    return STATUS_OK;
}
