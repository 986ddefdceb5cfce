// SPDX-License-Identifier: Apache-2.0
// main: hands the command line to the CLI, with the programs of their own that this build holds.
// A part whose file is missing from the tree is missing here (src/cmd/meson.build).
#include <stdio.h>

#include "base/check.h"
#include "cli/cli.h"
#include "cmd/cmd.h"

static const struct external externals[] = {
#ifdef WEIR_CMD_BENCH
    {"bench",      cmd_bench    },
#endif
#ifdef WEIR_CMD_SERVER
    {"server",     cmd_server   },
#endif
#ifdef WEIR_CMD_SIM
    {"sim",        cmd_sim      },
#endif
#ifdef WEIR_CMD_SIMULATE
    {"simulate",   cmd_simulate },
#endif
#ifdef WEIR_CMD_SUPERVISE
    {"_supervise", cmd_supervise},
#endif
#ifdef WEIR_CMD_UP
    {"up",         cmd_up       },
#endif
    {NULL,         NULL         },
};

NORETURN static void on_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "weir: a mistake of ours at %s:%d: %s\n", file, line, what);
    __builtin_trap();
}

int main(int argc, char **argv)
{
    check_set_hook(on_panic);
    return cli_main(argc, argv, externals, sizeof(externals) / sizeof(externals[0]) - 1);
}
