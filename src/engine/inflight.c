// SPDX-License-Identifier: Apache-2.0
// inflight: what was asked of the cluster and is not confirmed. Nothing is kept for it: a pod that
// is binding waits for its start, one that is releasing for its end, so the state says it.
#include "base/array.h"
#include "engine/machine.h"

static struct effect *add(struct effects *fx, enum effect_kind kind)
{
    struct effect *f = ARRAY_PUSH(fx->arena, fx);
    f->kind = kind;
    return f;
}

static void name_pod(struct effect *f, const struct workload *w, const struct pod *p)
{
    f->pod = p->id;
    f->attempt = p->attempt;
    f->node = p->node;
    f->grace_ms = workload_pod(w, (uint32_t)(p - w->pods))->grace_ms;
}

void effect_start(struct effects *fx, const struct workload *w, uint32_t pod)
{
    struct effect *f = add(fx, EFFECT_START);
    name_pod(f, w, &w->pods[pod]);
    f->workload = w;
    f->pod_state = &w->pods[pod];
    f->pod_index = pod;
}

void effect_stop(struct effects *fx, const struct workload *w, const struct pod *p)
{
    name_pod(add(fx, EFFECT_STOP), w, p);
}

static struct effect *name_unknown(struct effect *f, const struct pod_report *r)
{
    f->pod = r->pod;
    f->attempt = r->attempt;
    f->node = r->node;
    return f;
}

void effect_stop_unknown(struct effects *fx, const struct pod_report *r)
{
    name_unknown(add(fx, EFFECT_STOP), r)->grace_ms = GRACE_DEFAULT_MS;
}

void effect_forget_unknown(struct effects *fx, const struct pod_report *r)
{
    (void)name_unknown(add(fx, EFFECT_FORGET), r);
}

void effect_forget(struct effects *fx, const struct workload *w, uint32_t pod)
{
    name_pod(add(fx, EFFECT_FORGET), w, &w->pods[pod]);
}

void engine_outstanding(const struct engine *e, struct effects *effects)
{
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        const struct workload *w = &e->s.workloads[i];
        for (uint32_t k = 0; k < w->pods_count; k++) {
            if (w->pods[k].phase == POD_BINDING) {
                effect_start(effects, w, k);
            } else if (w->pods[k].phase == POD_RELEASING) {
                effect_stop(effects, w, &w->pods[k]);
            }
        }
    }
}
