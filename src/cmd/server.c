// SPDX-License-Identifier: Apache-2.0
// server: the control plane alone.
#include "cmd/cmd.h"
#include "cmd/serve.h"

int cmd_server(int argc, char **argv)
{
    return serve_main(argc, argv, false);
}
