// SPDX-License-Identifier: Apache-2.0
#include "cmd/supervise.h"

#include <string.h>

#include "agent/supervise.h"

int cmd_supervise(int argc, char **argv)
{
    if (argc == 2) {
        return supervise_run(argv[1]);
    }
    if (argc == 3 && strcmp(argv[2], "clean") == 0) {
        return supervise_clean(argv[1]);
    }
    return 1;
}
