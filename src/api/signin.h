// SPDX-License-Identifier: Apache-2.0
// signin: passwords and secrets at the edge: made, hashed, shown once. The state has hashes only.
#pragma once

#include "api/call.h"

/* A client secret is 32 random bytes as base64url; its hash, SHA-256 in hexadecimal, is enough, since
 * nobody guesses it. Texts are in the call's arena. */
struct secret {
    struct str text, hash;
};
struct secret secret_new(struct call *c);

/* A password somebody can read out: five groups of four letters and digits, 100 bits. */
struct str password_random(struct call *c);

/* call_password hashes password for a command of the call; done goes on with the hash (in the call's
 * arena), unless the client has gone meanwhile. call_password_check says whether password is the
 * one of the hash. Errors (too short, too long, too busy) are answered. */
void call_password_hash(struct call *c, struct str password,
                        void (*done)(struct call *c, struct str hash));
void call_password_check(struct call *c, struct str hash, struct str password,
                         void (*done)(struct call *c, bool ok));

/* name_lower gives a user's name as it is kept: without capital letters of ASCII. */
struct str name_lower(struct str name, struct arena *arena);

extern const struct route_group group_tokens;
