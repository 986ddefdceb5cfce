// SPDX-License-Identifier: Apache-2.0
#include "api/session.h"

static enum status ended(struct err *err)
{
    err_set(err, STATUS_UNAUTHENTIC, "this session has ended");
    return err_hint(err, "sign in again: weir login");
}

static void be_user(const struct user *u, struct who *out)
{
    *out = (struct who){
        .id = u->id,
        .change_password = u->change_password,
        .subject = {.kind = SUBJECT_USER,
                    .name = u->name,
                    .groups = u->groups,
                    .groups_count = u->groups_count},
    };
}

static bool find(const struct session *s, const struct identity *identity, struct who *out)
{
    const struct user *u = NULL;
    const struct application *a = NULL;
    const struct access_key *k = NULL;
    switch (s->kind) {
    case SESSION_USER:
        u = identity_user(identity, s->id);
        if (u == NULL || u->generation != s->generation) {
            return false;
        }
        be_user(u, out);
        return true;
    case SESSION_KEY:
        k = identity_key(identity, s->id);
        u = k != NULL ? identity_user(identity, k->user) : NULL;
        if (u == NULL || k->generation != s->generation) {
            return false;
        }
        be_user(u, out);
        return true;
    case SESSION_APPLICATION:
        a = identity_application(identity, s->id);
        if (a == NULL || !a->enabled || a->generation != s->generation) {
            return false;
        }
        *out = (struct who){
            .id = a->id, .subject = {.kind = SUBJECT_APPLICATION, .name = a->name}
        };
        return true;
    case SESSION_NONE:
    case SESSION_MACHINE:
        return false;
    }
    return false;
}

enum status session_who(const struct session *s, const struct identity *identity, int64_t now_ms,
                        struct who *out, struct err *err)
{
    return s->exp_ms > now_ms && find(s, identity, out) ? STATUS_OK : ended(err);
}
