// SPDX-License-Identifier: Apache-2.0
// memory: the store port without a disk, for tests and the simulator, with the faults of one: slow
// commits, a crash between the write and its acknowledgement, a disk that refuses, damage.
// Deterministic. Called from one thread.
#pragma once

#include "ports/store.h"

struct memory_store;

struct memory_store *memory_open(void);
void memory_close(struct memory_store *m); /* NULL is fine; calls no done function */
struct store memory_port(struct memory_store *m);

/* memory_delay: from now on each poll commits at most groups of those appended (default: all). */
void memory_delay(struct memory_store *m, uint32_t groups);
uint32_t memory_outstanding(const struct memory_store *m); /* groups appended, not acknowledged */
/* memory_crash is a kill of the process and a new start: of the groups not acknowledged the first
 * keep had reached the disk (at most all), the others are gone; no done function is called. */
void memory_crash(struct memory_store *m, uint32_t keep);
/* memory_refuse: the append after the next appends ones fails with STATUS_IO, and so do all later
 * ones until memory_crash opens the store anew. */
void memory_refuse(struct memory_store *m, uint32_t appends);
/* memory_damage: reading record seq gives STATUS_CORRUPT. */
void memory_damage(struct memory_store *m, int64_t seq);
/* memory_forget drops the records up to and including seq, which a real store keeps as history. */
void memory_forget(struct memory_store *m, int64_t seq);
