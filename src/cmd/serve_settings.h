// SPDX-License-Identifier: Apache-2.0
// serve_settings: what `weir up` and `weir server` are told: by flag, else by environment, else by
// weir.yaml in the data directory, else by default.
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "io/log.h"
#include "model/state.h"

struct serve_settings {
    struct str data_dir;
    struct str socket;
    struct str socket_dir; /* where it is, when that is weir's own directory, else empty */
    struct str listen;     /* HOST:PORT */
    struct str tls;        /* CERTIFICATE,KEY; "self-signed"; "off"; "": off on this machine only */
    struct str url; /* of this server, as browsers know it; "": of the address it listens on */
    struct str
        idp_ca; /* file of certificates by which identity providers are trusted; "": the system's */
    struct str gpus; /* for the agent: auto, none, fake:COUNT[:SIZE] */
    struct str node_name;
    struct label *labels; /* of the node */
    uint32_t labels_count;
    enum log_level log_level;
    bool help; /* asked for, nothing else is read */
};

/* serve_settings_read: with_agent allows the flags about this machine. argv[0] is the verb.
 * STATUS_INVALID: err says which flag, variable or line of weir.yaml. All in arena. */
MUST_USE enum status serve_settings_read(int argc, char **argv, bool with_agent,
                                         struct arena *arena, struct serve_settings *out,
                                         struct err *err);
/* serve_settings_help writes the flags to stdout. */
void serve_settings_help(const char *verb, bool with_agent);
