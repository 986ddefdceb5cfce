// SPDX-License-Identifier: Apache-2.0
// assets: what the files about assets share.
#pragma once

#include "api/runai/people.h"
#include "model/asset.h"

const struct assets *assets_of(const struct call *c);
/* asset_just_made: the same one, made by the same user a moment ago: the answer was lost. NULL: none. */
const struct asset *asset_just_made(struct call *c, const struct asset *a);
/* asset_seen: the one who asks may read it. */
bool asset_seen(struct call *c, const struct asset *a);
/* asset_change sends the change; done answers when it is there. What is refused is answered here. */
void asset_change_send(struct call *c, const struct asset_change *change,
                       void (*done)(struct call *c, const struct outcome *outcome));
/* asset_text writes what came in a body as it is kept: JSON, without nulls, in the call's arena. NULL: {} */
struct str asset_text(struct call *c, const struct doc *d);
/* asset_doc reads JSON that the state has. */
const struct doc *asset_doc(struct call *c, struct str text);

/* credentials.c: the spec of the body without what is secret, and the secrets sealed for the asset;
 * false: answered. */
MUST_USE bool credential_read(struct call *c, struct asset *a);
/* credential_show writes the spec, with keyId for what is secret. */
void credential_show(struct call *c, struct jw *w, const struct asset *a);

/* credential_use.c: credential_use has the secret `key` ("": its only one) of a credential, by name or id,
 * stand for the variable of a workload in that scope; own: of one's own private ones. False: err says why
 * not. */
MUST_USE bool credential_use(struct call *c, struct str text, struct str key, bool own,
                             struct scope scope, struct env_var *v, struct err *err);

/* asset_use.c */

/* asset_named finds one of a class, and kind (ASSET_KINDS: any), by name or id that the one who asks may use
 * in that scope; of several of one name the nearest. NULL: none. */
const struct asset *asset_named(struct call *c, struct str text, enum asset_class class,
                                enum asset_kind kind, struct scope scope);

/* assets_combine lays a spec over what the assets (a schema Assets, NULL: none) say, where they may be
 * used by the one who asks in that scope. NULL: err says which may not. */
const struct doc *assets_combine(struct call *c, const struct doc *spec, const struct doc *assets,
                                 struct scope scope, struct err *err);
/* asset_impose gives a spec with a data source in its storage, in place of what has its name there. */
const struct doc *asset_impose(struct call *c, const struct doc *spec, const struct asset *a);
/* assets_lay_under replaces the spec of a submit's body by itself laid over its assets, and both over its
 * template, which must be of that kind. False: answered. */
MUST_USE bool assets_lay_under(struct call *c, enum workload_kind kind, struct scope scope);
