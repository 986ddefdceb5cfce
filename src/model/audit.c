// SPDX-License-Identifier: Apache-2.0
#include "model/audit.h"

#include "base/check.h"

struct str audit_action_name(enum audit_action action)
{
    static const struct str names[AUDIT_ACTION_COUNT] = {
        [AUDIT_CREATE] = STRS("create"),     [AUDIT_UPDATE] = STRS("update"),
        [AUDIT_DELETE] = STRS("delete"),     [AUDIT_SIGN_IN] = STRS("sign-in"),
        [AUDIT_SIGN_OUT] = STRS("sign-out"), [AUDIT_RESET_PASSWORD] = STRS("reset-password"),
    };
    DCHECK(action < AUDIT_ACTION_COUNT);
    return names[action];
}

// What right was asked for; where the edge did not get that far, what the method asks for.
static enum audit_action by_right(const struct origin *o)
{
    if (o->right == RIGHT_CREATE || (o->right == 0 && str_eq(o->method, STR("POST")))) {
        return AUDIT_CREATE;
    }
    if (o->right == RIGHT_DELETE || (o->right == 0 && str_eq(o->method, STR("DELETE")))) {
        return AUDIT_DELETE;
    }
    return AUDIT_UPDATE;
}

static enum audit_action action_of(const struct input *in)
{
    if (in->kind == INPUT_REFUSED && str_eq(in->refused.what, STR("sign-in"))) {
        return AUDIT_SIGN_IN;
    }
    if (in->kind == INPUT_IDENTITY && in->identity.op == IDENTITY_SIGN_IN) {
        return AUDIT_SIGN_IN;
    }
    if (in->kind == INPUT_IDENTITY && in->identity.op == IDENTITY_SIGN_OUT) {
        return AUDIT_SIGN_OUT;
    }
    if (in->kind == INPUT_IDENTITY && in->identity.op == IDENTITY_USER_PASSWORD) {
        return AUDIT_RESET_PASSWORD;
    }
    return by_right(&in->origin);
}

bool audit_of(const struct input *in, struct audit_entry *out)
{
    bool refused = in->kind == INPUT_REFUSED;
    if ((!refused && !input_is_command(in->kind)) || in->kind == INPUT_NAME_CLUSTER) {
        return false;
    }
    *out = (struct audit_entry){
        .seq = in->seq,
        .at_ms = in->now_ms,
        .subject = in->author,
        .subject_kind = in->origin.author_kind,
        .source = in->origin.source,
        .action = action_of(in),
        .entity = in->origin.entity,
        .scope = in->origin.scope,
        .name = in->origin.name,
        .method = in->origin.method,
        .path = in->origin.path,
        .request = in->origin.request,
        .refused = refused,
        .status = refused ? (enum status)in->refused.status : STATUS_OK,
        .text = in->refused.text,
    };
    if (in->kind == INPUT_ASSET && in->asset.asset.name.len > 0) {
        out->name = in->asset.asset.name; /* the path has its id */
    }
    if (in->kind == INPUT_POLICY) {
        out->name = in->policy.policy.name;
    }
    if (out->name.len == 0) {
        out->name = in->kind == INPUT_SUBMIT ? in->submit.name : in->node_name;
    }
    return true;
}
