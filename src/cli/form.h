// SPDX-License-Identifier: Apache-2.0
// form: documents as JSON and as YAML text, in the order they have. Pure.
#pragma once

#include "base/buf.h"
#include "base/doc.h"

void form_json(const struct doc *doc, struct buf *out); /* two spaces a level, a line end behind */
/* form_yaml writes block style that yaml_parse reads back as the same document: text that could be
 * taken for something else is quoted. */
void form_yaml(const struct doc *doc, struct buf *out);
