// SPDX-License-Identifier: Apache-2.0
// picture: who is guaranteed, holds and borrows what of a node pool, drawn to scale.
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"

/* picture_pool draws one bar a project for the pool (the answer of /nodepools/NAME), below its
 * department, with what is free at the end. Projects with neither guarantee nor holdings are left
 * out. */
void picture_pool(struct arena *arena, const struct doc *pool, uint32_t width, bool colour,
                  struct buf *out);
