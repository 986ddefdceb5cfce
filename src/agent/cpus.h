// SPDX-License-Identifier: Apache-2.0
// cpus: a process that is kept to some processors and the memory beside them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { CPUS_MAX = 8192 };

/* cpus_read reads a list as the kernel writes it ("0-3,8"), a bit each; false when it is none, is
 * empty, or names one beyond CPUS_MAX. */
MUST_USE bool cpus_read(struct str list, uint64_t out[CPUS_MAX / 64]);
/* cpus_keep keeps the calling process, and those it will start, to the processors of the list; their
 * memory comes from NUMA node numa_node as long as that has some. False with errno when the
 * processors are not to be had (EINVAL: they do not exist); the memory is not insisted on. */
MUST_USE bool cpus_keep(struct str list, int64_t numa_node);
