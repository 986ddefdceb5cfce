// SPDX-License-Identifier: Apache-2.0
// permit: who may ask what, said in the route's row and decided before its handler runs.
//
//   open                              everyone, signed in or not
//   self                              everyone signed in: it is about oneself
//   read project                      who may read projects somewhere; a list leaves out the rest
//                                     (call_sees), a command whose scope is not plain from the
//                                     request asks call_may before call_command
//   update nodes at cluster           also: at tenant
//   create users anywhere             to whom it is given somewhere, and that is enough: what is not
//                                     in any scope itself
//   read project at project name      the project whose name is the parameter, body's member or
//                                     argument `name`; department the same; call_row has its row
//   … at project-id projectId         the same by its id
//   update workload at workload id    a workload by its id or PROJECT/NAME, as what it is (a
//                                     training, a workspace …); call_workload has it
//
// Several may be asked at once: "update department, change project at cluster"; change is create,
// update and delete. What one may not read is answered as what is not there.
#pragma once

#include "access/access.h"

enum permit_where {
    PERMIT_OPEN,
    PERMIT_SELF,
    PERMIT_SOMEWHERE,
    PERMIT_ANYWHERE,
    PERMIT_TENANT,
    PERMIT_CLUSTER,
    PERMIT_DEPARTMENT,
    PERMIT_PROJECT,
    PERMIT_WORKLOAD,
};
enum { PERMIT_ASKS_MAX = 4 };
struct permit {
    enum permit_where where;
    bool by_id;
    struct str from; /* name of a parameter, a member (a.b), an argument */
    struct permit_ask {
        enum entity entity;
        unsigned rights;
    } asks[PERMIT_ASKS_MAX];
    uint32_t asks_count;
};
/* permit_read reads such a text; one that cannot be read is our bug: CHECK. */
struct permit permit_read(const char *text);

struct call;
struct workload;
/* permit_owns: nobody's protection keeps the one who asks from changing the workload, which is in that
 * scope: it is not protected, or theirs, or they administer access there. STATUS_DENIED says so. */
MUST_USE enum status permit_owns(struct call *c, const struct workload *wl, struct scope scope,
                                 struct err *err);
/* permit_decide answers the call and returns false when it may not go on. */
MUST_USE bool permit_decide(struct call *c);
