// SPDX-License-Identifier: Apache-2.0
// The hidden verb `weir _supervise`: the process that forks a supervisor for each pod. The agent
// starts it, with its socket as descriptor 3.
#include "agent/nursery.h"
#include "cmd/cmd.h"

int cmd_supervise(int argc, char **argv)
{
    (void)argv;
    return argc == 1 ? nursery_run() : 1;
}
