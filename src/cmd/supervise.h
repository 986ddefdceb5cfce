// SPDX-License-Identifier: Apache-2.0
// supervise: the hidden verb `weir _supervise DIR [clean]`, started by the agent for each pod.
#pragma once

/* argv[0] is the verb, argv[1] the pod's directory. Returns the exit status. */
int cmd_supervise(int argc, char **argv);
