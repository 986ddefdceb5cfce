// SPDX-License-Identifier: Apache-2.0
// intern: names to small dense ids and back. Ids count up from 0 in order of first appearance.
#pragma once

#include "base/map.h"

struct intern {
    struct map map;
    struct str *names; /* [count] */
    uint32_t count, cap;
};

void intern_init(struct intern *n, struct arena *a);
uint32_t intern_id(struct intern *n, struct str name); /* copies the name when new */
bool intern_find(const struct intern *n, struct str name, uint32_t *id);
struct str intern_name(const struct intern *n, uint32_t id);
