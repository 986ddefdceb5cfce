// SPDX-License-Identifier: Apache-2.0
// role: what a subject may do, as sets of permissions: the predefined ones of the product and those
// an organisation usually hands out, and any other that the state holds.
#pragma once

#include "access/entity.h"

/* What a role may, by entity: bits of enum right. */
struct permissions {
    uint8_t may[ENTITY_COUNT];
};

struct role_info {
    struct str name, description;
    struct permissions permissions;
};
/* role_predefined gives the role of that id, of [1, ROLE_PREDEFINED_END); false: it is none. */
MUST_USE bool role_predefined(uint32_t id, struct role_info *out);
/* role_custom gives one of the state's. Entities and rights unknown here are left out; a disabled
 * role may nothing. */
struct role_info role_custom(const struct role *role);
