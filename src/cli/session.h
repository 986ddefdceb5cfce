// SPDX-License-Identifier: Apache-2.0
// session: which server the CLI talks to, and as whom. The address is in the settings
// (control_plane.url, as Run:ai's SDK reads it), what login got in authentication.json beside them
// (accessToken in base64, as the SDK reads it), with the address it was got from: a token is shown to
// no other server.
#pragma once

#include "cli/cli.h"

/* session_open makes cli->client: of --socket or --server, WEIR_SOCKET or WEIR_SERVER, the settings,
 * else the usual socket; with WEIR_TOKEN, or what login kept for that address. */
MUST_USE enum status session_open(struct cli *cli, const struct args *args, struct err *err);

/* What may be shown for a token: a user with a password, or a key or service account with a secret. */
struct credential {
    struct str user, password;
    struct str client_id, secret;
    bool save; /* keep the secret as well, to get other tokens when this one is over */
};
/* session_sign_in gets a token for it from the server of cli->client and keeps it. */
MUST_USE enum status session_sign_in(struct cli *cli, const struct credential *who,
                                     struct err *err);
/* The same in steps, for who has something else to show. session_aim: to this machine where no server
 * is said. session_trade: request is the body of /api/v2/token; what comes is kept and used from now
 * on. session_keep: so is the server's address (key: NULL, or one that may be to be saved). */
MUST_USE enum status session_aim(struct cli *cli, struct err *err);
MUST_USE enum status session_trade(struct cli *cli, struct str request, struct err *err);
MUST_USE enum status session_keep(struct cli *cli, const struct credential *key, struct err *err);
/* login_greet (run_login.c) says whom the server takes one for; the exit status. */
int login_greet(struct cli *cli);
/* session_forget drops what sign-in kept. *had: there was something. */
MUST_USE enum status session_forget(struct cli *cli, bool *had, struct err *err);

/* session_ask reads a line without showing it on a terminal, and without a prompt from anything else.
 * STATUS_INVALID: there is none. */
MUST_USE enum status session_ask(struct cli *cli, const char *prompt, bool secret, struct str *out,
                                 struct err *err);
