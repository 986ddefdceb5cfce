// SPDX-License-Identifier: Apache-2.0
// work: effects wait here until they are acted on, a slice at a time, so that the loop they run in
// goes on answering however many there are. Ends go before starts. Few pods start at a time, and few
// stop: the machine's processors are there for what runs too.
#pragma once

#include "agent/pods.h"

/* work_add copies the effects. */
void work_add(struct agent *a, const struct effect *effects, uint32_t count);
/* work_run acts on some of them; wakes the agent when more can be done at once. */
void work_run(struct agent *a);
/* work_drop lets go of what was not acted on; the engine asks for it again. */
void work_drop(struct agent *a);
