// SPDX-License-Identifier: Apache-2.0
// assets: what the files about assets share.
#pragma once

#include "api/runai/people.h"
#include "model/asset.h"

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
