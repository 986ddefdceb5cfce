// SPDX-License-Identifier: Apache-2.0
// properties: categories, priorities and types of workloads, as their files share them.
#pragma once

#include "api/runai/workloads.h"

/* property_id: categories, priorities and weir's own types have ids that are made of their names;
 * what: "category", "priority", "type". */
struct uuid property_id(const char *what, struct str name);
struct str category_name(enum category category); /* "Build" */
MUST_USE bool category_find(struct uuid id, enum category *category);
