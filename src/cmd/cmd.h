// SPDX-License-Identifier: Apache-2.0
// cmd: one function for each program of its own that `weir` holds. argv[0] is the last word of the verb; the result is
// the exit status. Help and the check of flags come from the command table (cli/verbs.c).
#pragma once

int cmd_bench_cycle(int argc, char **argv);
int cmd_bench_decide(int argc, char **argv);
int cmd_bench_packing(int argc, char **argv);
int cmd_bench_submit(int argc, char **argv);
int cmd_bench_api(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_server(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_supervise(int argc, char **argv);
int cmd_up(int argc, char **argv);
