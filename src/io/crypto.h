// SPDX-License-Identifier: Apache-2.0
// crypto: the digests that protocols ask for.
#pragma once

#include <stdint.h>

#include "base/str.h"

enum { CRYPTO_SHA1_SIZE = 20 };

/* crypto_sha1: for the WebSocket handshake (RFC 6455) only; it protects nothing. */
void crypto_sha1(struct str bytes, uint8_t out[CRYPTO_SHA1_SIZE]);
