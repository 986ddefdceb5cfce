// SPDX-License-Identifier: Apache-2.0
// password: argon2id, made to be slow and large (some 50 ms and 64 MiB), so it is done by a thread of
// its own, one at a time, and the loop hears of it.
#pragma once

#include "base/err.h"
#include "io/loop.h"

enum {
    PASSWORD_HASH_SIZE = 128, /* the text of a hash with its NUL */
    PASSWORD_LEN_MIN = 8,
    PASSWORD_LEN_MAX = 1024,
    PASSWORD_WAITING_MAX = 32,
};

struct passwords;
/* ok: the password is the hash's. hash: the text of a new hash. Both good for the call. */
typedef void password_done(void *arg, bool ok, struct str hash);

MUST_USE enum status passwords_new(struct loop *loop, struct passwords **out, struct err *err);
/* passwords_free drops what waits: its done is not called. */
void passwords_free(struct passwords *p);

/* password_check asks whether the password is the hash's; with an empty hash it takes as long and
 * says no. password_hash asks for a hash. done is called from the loop, once. STATUS_BUSY: too many
 * wait; STATUS_TOO_LARGE: longer than PASSWORD_LEN_MAX. */
MUST_USE enum status password_check(struct passwords *p, struct str hash, struct str password,
                                    password_done *done, void *arg, struct err *err);
MUST_USE enum status password_hash(struct passwords *p, struct str password, password_done *done,
                                   void *arg, struct err *err);
/* password_forget: done of arg is not to be called any more. */
void password_forget(struct passwords *p, void *arg);
