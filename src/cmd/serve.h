// SPDX-License-Identifier: Apache-2.0
// serve: a weir server from start to stop: the store, the engine, the API, and with an agent this
// machine. One thread, one loop.
#pragma once

#include "cmd/serve_settings.h"

/* serve_run serves until SIGTERM or SIGINT, or with_agent also runs pods (which go on after it).
 * Returns the exit status; what went wrong at start is said on stderr. */
int serve_run(const struct serve_settings *settings, bool with_agent);
/* serve_main is the main of the two verbs. */
int serve_main(int argc, char **argv, bool with_agent);
