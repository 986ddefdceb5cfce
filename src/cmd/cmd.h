// SPDX-License-Identifier: Apache-2.0
// cmd: one function for each group of verbs. argv[0] is the verb; the result is the exit status.
#pragma once

int cmd_simulate(int argc, char **argv);
