// SPDX-License-Identifier: Apache-2.0
// main: hands the command line to the CLI, with the programs of their own that weir holds.
#include <stdio.h>

#include "base/check.h"
#include "cli/cli.h"
#include "cmd/cmd.h"
#include "io/pages.h"

static const struct external externals[] = {
    {"bench cycle",   cmd_bench_cycle  },
    {"bench decide",  cmd_bench_decide },
    {"bench packing", cmd_bench_packing},
    {"bench submit",  cmd_bench_submit },
    {"bench api",     cmd_bench_api    },
    {"replay",        cmd_replay       },
    {"server",        cmd_server       },
    {"sim",           cmd_sim          },
    {"simulate",      cmd_simulate     },
    {"_supervise",    cmd_supervise    },
    {"up",            cmd_up           },
};

NORETURN static void on_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "weir: a mistake of ours at %s:%d: %s\n", file, line, what);
    __builtin_trap();
}

int main(int argc, char **argv)
{
    check_set_hook(on_panic);
    pages_use();
    return cli_main(argc, argv, externals, COUNT_OF(externals));
}
