// SPDX-License-Identifier: Apache-2.0
// The kept capabilities are those a container has by default, so that a job on the host can do what
// it could in an image. What is bounded away cannot come back by any exec.
#include "agent/powers.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"

static const int kept[] = {
    CAP_CHOWN,   CAP_DAC_OVERRIDE, CAP_FOWNER,  CAP_FSETID, CAP_KILL,       CAP_NET_BIND_SERVICE,
    CAP_SETFCAP, CAP_SETGID,       CAP_SETPCAP, CAP_SETUID, CAP_SYS_CHROOT,
};

static uint64_t kept_bits(void)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < COUNT_OF(kept); i++) {
        bits |= UINT64_C(1) << kept[i];
    }
    return bits;
}

static bool powers_get(struct __user_cap_data_struct out[2])
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &head, out) == 0;
}

bool powers_can_bound(void)
{
    struct __user_cap_data_struct have[2];
    return powers_get(have) && (have[0].effective >> CAP_SETPCAP & 1u) != 0;
}

bool powers_bound(void)
{
    if (!powers_can_bound()) {
        return true; // who is not root loses all at exec
    }
    for (int c = 0; prctl(PR_CAPBSET_READ, c) >= 0; c++) {
        if ((kept_bits() >> c & 1u) == 0 && prctl(PR_CAPBSET_DROP, c) != 0) {
            return false;
        }
    }
    return true;
}

bool powers_leave(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct have[2];
    if (!powers_get(have)) {
        return false;
    }
    for (unsigned i = 0; i < COUNT_OF(have); i++) {
        uint32_t bits = (uint32_t)(kept_bits() >> (32 * i) & UINT32_MAX);
        have[i].inheritable = 0;
        have[i].permitted &= bits;
        have[i].effective &= bits;
    }
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &head, have) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}
