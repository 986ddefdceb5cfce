// SPDX-License-Identifier: Apache-2.0
// By system calls: the C library's functions stop at 1024 processors, and libnuma would be needed
// for a single call. Called in a child before it becomes the job, so without allocation.
#include "agent/cpus.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/num.h"

enum { WORD_BITS = 64, PREFER_NODE = 1 /* MPOL_PREFERRED of linux/mempolicy.h */ };

bool cpus_read(struct str list, uint64_t out[CPUS_MAX / 64])
{
    struct str rest = list;
    struct str range;
    memset(out, 0, CPUS_MAX / 8);
    while (str_split(&rest, ',', &range)) {
        uint32_t dash = str_find(range, '-');
        uint64_t first, last;
        if (!num_parse_u64(str_sub(range, 0, dash), &first)) {
            return false;
        }
        last = first;
        if (dash < range.len && !num_parse_u64(str_sub(range, dash + 1, range.len), &last)) {
            return false;
        }
        if (last < first || last >= CPUS_MAX) {
            return false;
        }
        for (uint64_t i = first; i <= last; i++) {
            out[i / WORD_BITS] |= UINT64_C(1) << (i % WORD_BITS);
        }
    }
    return list.len > 0;
}

bool cpus_keep(struct str list, int64_t numa_node)
{
    uint64_t cpus[CPUS_MAX / WORD_BITS];
    if (!cpus_read(list, cpus)) {
        errno = EINVAL;
        return false;
    }
    if (syscall(SYS_sched_setaffinity, 0, sizeof(cpus), cpus) < 0) {
        return false;
    }
    if (numa_node >= 0 && numa_node < WORD_BITS) {
        uint64_t node = UINT64_C(1) << numa_node;
        (void)syscall(SYS_set_mempolicy, PREFER_NODE, &node, WORD_BITS + 1);
    }
    return true;
}
