// SPDX-License-Identifier: Apache-2.0
// asset_words: assets and a template, by name, in the body of POST /api/weir/v1/workloads.
#pragma once

#include "api/call.h"

/* asset_words_lay lays the spec, which is in the words of Run:ai's API, over the assets and the template
 * that the body names. False: answered. */
MUST_USE bool asset_words_lay(struct call *c, const struct project *p, enum workload_kind kind,
                              const struct doc **spec);
