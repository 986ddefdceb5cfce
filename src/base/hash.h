// SPDX-License-Identifier: Apache-2.0
// hash: a fast seeded 64-bit hash for tables and state digests. Not for secrets; deterministic.
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed);
uint64_t hash_u64(uint64_t v, uint64_t seed);
