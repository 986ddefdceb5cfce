// SPDX-License-Identifier: Apache-2.0
// policy_words: policies on the body of POST /api/weir/v1/workloads. They are written in the words of
// Run:ai's API; the spec is put into those, and what they fill in is put back into ours.
#pragma once

#include "api/call.h"

/* policy_words_lay replaces the spec of the body by itself with the defaults of the project's policies
 * under it. False: they do not allow it, and the call is answered. */
MUST_USE bool policy_words_lay(struct call *c, const struct project *p, enum workload_kind kind);
