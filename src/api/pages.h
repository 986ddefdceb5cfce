// SPDX-License-Identifier: Apache-2.0
// pages: the web pages that are part of the executable (src/api/pages/, by tools/embed).
#pragma once

#include <stddef.h>

extern const unsigned char page_docs[]; /* the REST API, for people */
extern const size_t page_docs_len;
