// SPDX-License-Identifier: Apache-2.0
// remedy: the stable names of the kinds.
#include "model/remedy.h"

#include "base/attr.h"
#include "base/check.h"

static const struct str names[] = {
#define X(code, name) STRS(name),
    REMEDIES(X)
#undef X
};
_Static_assert(COUNT_OF(names) == REMEDY_COUNT, "a name for each kind");

struct str remedy_name(enum remedy_kind kind)
{
    CHECK(kind < REMEDY_COUNT);
    return names[kind];
}

struct str remedy_outcome_name(enum remedy_outcome outcome)
{
    static const struct str of[REMEDY_OUTCOME_COUNT] = {STRS("found"), STRS("not-needed"),
                                                        STRS("not-waiting"), STRS("none")};
    CHECK(outcome < REMEDY_OUTCOME_COUNT);
    return of[outcome];
}
