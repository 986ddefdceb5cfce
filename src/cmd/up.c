// SPDX-License-Identifier: Apache-2.0
// up: everything on one machine.
#include "cmd/cmd.h"
#include "cmd/serve.h"

int cmd_up(int argc, char **argv)
{
    return serve_main(argc, argv, true);
}
