// SPDX-License-Identifier: Apache-2.0
// common: what the groups of Run:ai's paths share.
#pragma once

#include "api/call.h"
#include "api/runai/list.h"
#include "api/show_parts.h"
#include "base/num.h"
#include "model/identity.h"
#include "model/plan.h"
#include "model/priority.h"
#include "model/state.h"

/* The version of the product whose API this is, for clients that look. */
#define RUNAI_VERSION "2.24.0"

static inline const struct state *state_of(const struct call *c)
{
    return engine_state(c->api->config.engine);
}
static inline const struct plan *plan_of(const struct call *c)
{
    return &engine_state(c->api->config.engine)->plan;
}

/* ---- ids ---- */

/* The row that an id of the path or of a body stands for; NULL: there is none. */
const struct project *find_project_id(const struct call *c, struct str id);
const struct department *find_department_id(const struct call *c, struct str id);
const struct pool *find_pool_id(const struct call *c, struct str id);
/* By name (projects: show_find_project). */
const struct department *find_department_name(const struct call *c, struct str name);
const struct pool *find_pool_name(const struct call *c, struct str name);
/* The same of the first parameter of the path; NULL: answered. */
const struct project *path_project(struct call *c);
const struct department *path_department(struct call *c);
const struct pool *path_pool(struct call *c);
const struct workload *path_workload(struct call *c);
bool path_cluster(struct call *c);
/* body_cluster: clusterId of the body is this cluster's, or not given; false: answered. */
bool body_cluster(struct call *c);

/* fail_unknown answers that there is none. */
void fail_unknown(struct call *c, const char *what, struct str id);
/* fail_field answers with a wrong value in a field of the body. */
PRINTF_LIKE(4, 5)
void fail_field(struct call *c, const char *field, struct str value, const char *format, ...);

void show_id(struct jw *w, struct str key, uint32_t id);
void show_cluster_id(struct call *c, struct jw *w, struct str key);
struct str department_id_text(const struct call *c, struct str name); /* "": there is none */
struct str cluster_id_text(const struct call *c);                     /* in the call's arena */
/* show_stamp writes createdAt, createdBy, updatedAt, updatedBy. */
void show_stamp(struct jw *w, const struct stamp *stamp);
void show_null(struct jw *w, struct str key);
/* show_given writes what came in a body again; null is the same as leaving it out. */
void show_given(struct jw *w, const struct doc *d);
void show_milli(struct jw *w, struct str key, int64_t thousandths);
/* A time that must be there: 1970 where it is not known. */
void show_moment(struct jw *w, struct str key, int64_t at_ms);
void answer_empty(struct call *c, int code);
/* answer_code answers {"code", "message"}. */
void answer_code(struct call *c, int code, const char *message);

/* was_just_made: a request to create this came a moment ago from the same user, who asks again
 * because the answer was lost. */
bool was_just_made(const struct call *c, const struct stamp *stamp);

/* ---- quotas ---- */

/* quotas_read reads a list of resources into quotas for all pools; those it does not name keep what
 * they have in from (patch) or get the default. false: answered. */
bool quotas_read(struct call *c, const struct doc *resources, bool patch, const struct quota *from,
                 uint32_t from_count, struct quota **out, uint32_t *count);
void quotas_show(struct call *c, struct jw *w, struct str key, const struct quota *quotas,
                 uint32_t count);
void quotas_show_total(struct call *c, struct jw *w, const struct quota *quotas, uint32_t count);
/* Devices guaranteed in all pools, in thousandths. */
int64_t quotas_gpus_milli(const struct call *c, const struct quota *quotas, uint32_t count);
/* quota_status_show writes quotaStatus, and nodePoolQuotaStatuses when with_pools. */
void quota_status_show(struct call *c, struct jw *w, struct str queue, bool department,
                       bool with_pools);
/* overtime_show writes overtimeData from the books. */
void overtime_show(struct call *c, struct jw *w, struct str queue, bool department);
/* gpu_average_milli gives the devices held on average over that long, in thousandths. */
int64_t gpu_average_milli(const struct call *c, struct str queue, bool department, int64_t back_ms);

/* ---- scheduling rules ---- */

/* rules_read reads those of the body of a department or project; rules_show writes schedulingRules
 * and nodeTypes. */
void rules_read(struct call *c, struct scheduling_rules *r);
void rules_show(struct jw *w, const struct scheduling_rules *r);

/* Names for ranks: MediumLow and so on. */
struct str rank_name(int64_t rank);
MUST_USE bool rank_find(struct str name, int64_t *rank);
