// SPDX-License-Identifier: Apache-2.0
// args: the arguments of a query as a document, for a schema to check. Lists are split at commas
// (after decoding); words are found without regard to case and underscores, and behind a name and
// a point (ProjectFilterSortFields.NAME); what is empty is left out; presets are filled in.
#pragma once

#include "api/schema.h"

struct http_request;
/* args_doc makes a map of the request's arguments; arguments that the schema has not are kept, for
 * the check to complain. */
struct doc *args_doc(const struct schema *type, const struct http_request *request,
                     struct arena *arena);
