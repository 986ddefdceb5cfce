// SPDX-License-Identifier: Apache-2.0
// session: who somebody with a session is now, as the state has it.
#pragma once

#include "access/access.h"
#include "api/token.h"

struct who {
    struct subject subject; /* texts and groups are the state's */
    struct uuid id;         /* of the user or service account; zero: the machine's administrator */
    bool change_password;   /* may do nothing before */
};
/* session_who looks the session's subject up. STATUS_UNAUTHENTIC: it is gone or disabled, signed out
 * or has a new secret since, or the session's time is over. */
MUST_USE enum status session_who(const struct session *s, const struct identity *identity,
                                 int64_t now_ms, struct who *out, struct err *err);
