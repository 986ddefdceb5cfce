// SPDX-License-Identifier: Apache-2.0
// audit: the newest entries of the audit, kept at hand as the journal is read and written. The
// journal has all of them; what is older than AUDIT_KEPT_MS, or more than AUDIT_KEPT_MAX, is not
// shown any more.
#pragma once

#include "model/audit.h"

#define AUDIT_KEPT_MS (INT64_C(90) * 24 * 3600 * 1000)
enum { AUDIT_BLOCK = 1024, AUDIT_BLOCKS = 98, AUDIT_KEPT_MAX = AUDIT_BLOCK * (AUDIT_BLOCKS - 1) };

struct audit;
struct audit *audit_new(void);
void audit_free(struct audit *a);
/* audit_record keeps the entry of an input, if it has one. A command that was stored and then
 * refused is one entry, the refusal. */
void audit_record(struct audit *a, const struct input *in);
/* Rows are in order of time, the oldest is 0. A row is good until the next audit_record. */
uint32_t audit_count(const struct audit *a);
const struct audit_entry *audit_row(const struct audit *a, uint32_t row);

struct call;
/* audit_seen: what is of a scope where the one who asks reads the audit; of what is gone since, to who
 * reads that of the tenant. */
bool audit_seen(struct call *c, const struct audit_entry *e);
