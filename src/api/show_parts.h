// SPDX-License-Identifier: Apache-2.0
// show_parts: single members, shared by show.c and show_tenants.c.
#pragma once

#include "base/rfc3339.h"
#include "codec/json.h"
#include "model/resources.h"
#include "model/state.h"

void show_time(struct jw *w, struct str key, int64_t at_ms); /* null when it has not been */
void show_uuid(struct jw *w, struct str key, struct uuid id);
/* Devices and cores as decimal numbers, memory in bytes; null when unlimited. */
void show_amount(struct jw *w, struct str key, enum resource resource, int64_t amount);
void show_pairs(struct jw *w, struct str key, const struct label *pairs, uint32_t count);
void show_strings(struct jw *w, struct str key, const struct str_item *items, uint32_t count);
