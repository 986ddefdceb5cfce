// SPDX-License-Identifier: Apache-2.0
// random: unpredictable bytes from the kernel, for identifiers and keys.
#pragma once

#include <stddef.h>

#include "base/uuid.h"

void random_bytes(void *out, size_t len);
struct uuid random_uuid(void);
