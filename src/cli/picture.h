// SPDX-License-Identifier: Apache-2.0
// picture: who is guaranteed, holds and borrows what of a node pool, drawn to scale.
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"

/* picture_pool draws one bar a project for the pool (an item of /nodepools), with what is free at the
 * end; projects are items of /projects. Projects with neither guarantee nor holdings are left out. */
void picture_pool(struct arena *arena, const struct doc *pool, const struct doc *projects,
                  uint32_t width, bool colour, struct buf *out);
