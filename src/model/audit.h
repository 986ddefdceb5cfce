// SPDX-License-Identifier: Apache-2.0
// audit: who did what, and who was refused what, as the journal's inputs tell it.
#pragma once

#include "model/input.h"

enum audit_action {
    AUDIT_CREATE,
    AUDIT_UPDATE,
    AUDIT_DELETE,
    AUDIT_SIGN_IN,
    AUDIT_SIGN_OUT,
    AUDIT_RESET_PASSWORD,
    AUDIT_ACTION_COUNT
};

struct audit_entry {
    int64_t seq, at_ms;
    struct str subject; /* who asked; "": nobody known */
    enum subject_kind subject_kind;
    struct str source; /* address; "": over the local socket */
    enum audit_action action;
    enum entity entity;
    struct scope scope;
    struct str name; /* of the thing, "" where the request did not say */
    struct str method, path;
    struct uuid request;
    bool refused;
    enum status status; /* of a refusal, with its text */
    struct str text;
};

/* record_audited reads of a journal's record only what audit_of asks for, which is much quicker. */
extern const struct record record_audited;

/* audit_of makes the entry of an input; texts are the input's. False: it is none for the audit
 * (observations, ticks, weir's own commands). */
MUST_USE bool audit_of(const struct input *in, struct audit_entry *out);

struct str audit_action_name(enum audit_action action); /* "create", "sign-in" … */
