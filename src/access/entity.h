// SPDX-License-Identifier: Apache-2.0
// entity: what there is to say about each kind of thing that permissions are about.
#pragma once

#include "model/identity.h"

struct entity_info {
    struct str name;    /* resourceType on the wire; "clusters-minimal" and "nodepools-minimal" are
                         * ours */
    struct str set;     /* its permission sets are SETReadAccess and SETEditAccess */
    struct str display; /* as the product's tables name it */
    struct str group;   /* groupId on the wire */
    uint32_t rights;    /* that exist for it */
    bool inherited;     /* what is above one's scope may be read too: it serves those below */
};
const struct entity_info *entity_info(enum entity e);
/* entity_find finds one by its name on the wire, '_' and '-' being equal; false: there is none. */
MUST_USE bool entity_find(struct str name, enum entity *out);

/* right_name: "create", "read", "update" or "delete". */
struct str right_name(enum right a);
MUST_USE bool right_find(struct str name, enum right *out);
