// SPDX-License-Identifier: Apache-2.0
// places: where the server and its clients meet when nobody says otherwise.
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* places_socket gives the path of the server's socket: WEIR_SOCKET; as root /run/weir/weir.sock; else
 * weir/weir.sock in XDG_RUNTIME_DIR, or in the directory of the data where there is none.
 * STATUS_UNKNOWN: neither these nor a home directory is set. */
MUST_USE enum status places_socket(struct arena *arena, struct str *path, struct err *err);
/* places_data gives the directory of the server's data: WEIR_DATA; as root /var/lib/weir; else weir
 * in XDG_STATE_HOME, or in ~/.local/state. */
MUST_USE enum status places_data(struct arena *arena, struct str *path, struct err *err);
