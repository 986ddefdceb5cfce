// SPDX-License-Identifier: Apache-2.0
// file: small whole-file operations on a directory descriptor. Every name is relative to dir_fd
// (AT_FDCWD for the working directory); errors name the file and what the system said.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* file_close is for CLEANUP: closes *fd when it is >= 0 and sets it to -1. */
void file_close(int *fd);

/* file_limit_raise lets this process have as many files open as it may at all. Returns how many it
 * could before (0: not known): a program it starts may count on the low number it was used to. */
uint64_t file_limit_raise(void);

/* file_write replaces the file `name` atomically: a temporary file beside it, then rename. With
 * `durable` the bytes and the new name are on disk when it returns STATUS_OK. On failure
 * (STATUS_IO) the old file, if any, is unchanged. */
MUST_USE enum status file_write(int dir_fd, const char *name, struct str bytes, mode_t mode,
                                bool durable, struct err *err);

/* file_read appends the whole file to out. STATUS_UNKNOWN when there is none, STATUS_TOO_LARGE when
 * it does not fit below out's maximum, STATUS_IO otherwise. */
MUST_USE enum status file_read(int dir_fd, const char *name, struct buf *out, struct err *err);

/* file_write_all writes all of bytes to fd, whatever the number of calls; STATUS_IO otherwise. */
MUST_USE enum status file_write_all(int fd, struct str bytes, struct err *err);

/* file_mkdirs makes path and the missing directories above it. STATUS_IO when it cannot. */
MUST_USE enum status file_mkdirs(const char *path, mode_t mode, struct err *err);

/* file_remove_tree removes `name` and, when it is a directory, all below it; links are removed,
 * not followed, and other file systems are not entered. Nothing there is STATUS_OK. */
MUST_USE enum status file_remove_tree(int dir_fd, const char *name, struct err *err);
