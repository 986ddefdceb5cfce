// SPDX-License-Identifier: Apache-2.0
#include "agent/machine.h"

#include <stdint.h>
#include <unistd.h>

#include "agent/host.h"
#include "agent/powers.h"
#include "base/attr.h"
#include "io/peer.h"

enum { LABELS_OWN = 4 };

static void note(struct machine *m, struct str text)
{
    if (text.len > 0 && m->node.notes_count < MACHINE_NOTES_MAX) {
        m->node.notes[m->node.notes_count++].value = text;
    }
}

static void notes_make(struct machine *m, const char *why_not_isolated, struct arena *arena)
{
    static const struct {
        enum cgroup_controller controller;
        const char *missing;
    } limits[] = {
        {CG_CPU,    "no cpu control group: CPU requests and limits of pods are not enforced"},
        {CG_MEMORY, "no memory control group: memory limits of pods are not enforced"       },
        {CG_PIDS,   "no pids control group: the number of a pod's processes is not limited" },
    };
    m->node.notes = ARENA_ARRAY(arena, struct str_item, MACHINE_NOTES_MAX);
    note(m, devices_note(m->devices));
    for (uint32_t i = 0; i < COUNT_OF(limits); i++) {
        if (m->cgroups.dir[limits[i].controller][0] == '\0') {
            note(m, str_from_c(limits[i].missing));
        }
    }
    bool filter = m->cgroups.dir[CG_DEVICES][0] != '\0';
    if (m->isolation == ISOLATION_NONE) {
        note(m, arena_printf(arena,
                             "no namespaces (%.200s): pods see each other's processes and the "
                             "files of weir%s",
                             why_not_isolated,
                             filter ? "" : ", and GPUs they were not given can be opened"));
    } else if (!filter) {
        note(m, STR("no device filter: GPUs that a pod was not given are only hidden from it"));
    }
    if (m->isolation != ISOLATION_NONE && !isolate_keeps_kernel()) {
        note(m, STR("files of the kernel cannot be made read-only as a whole (Linux 5.12): a pod "
                    "that runs as root can undo its limits"));
    }
    if (geteuid() == 0 && !powers_can_bound()) {
        note(m, STR("weir may not take powers from what it starts (CAP_SETPCAP): a pod that runs "
                    "as root can undo its limits"));
    }
    if (!peer_is_pinned()) {
        note(m, STR("who connected to a socket is known by number alone (Linux 6.5 knows more): a "
                    "pod may pass for a process that has ended"));
    }
    if (geteuid() == 0) {
        note(m, STR("weir runs as root: a pod that runs as root reads and writes the machine's "
                    "files as root does, except weir's"));
    } else {
        note(m, STR("weir does not run as root: all pods run as its user, another is refused"));
    }
}

static struct str label_text(struct arena *arena, struct str text)
{
    struct str copy = arena_str(arena, text);
    char *bytes = arena_alloc(arena, (size_t)copy.len + 1);
    for (uint32_t i = 0; i < copy.len; i++) {
        bytes[i] = copy.ptr[i] == ' ' ? '-' : copy.ptr[i];
    }
    return (struct str){bytes, copy.len};
}

static void node_make(struct machine *m, const struct agent_config *config, struct arena *arena)
{
    struct node *n = &m->node;
    uint32_t count;
    const struct device *list = devices_list(m->devices, &count);
    n->name = arena_str(arena, config->node_name);
    struct host host;
    host_find(&host, arena);
    devices_deal(m->devices, host.zones, host.zones_count);
    n->zones = host.zones;
    n->zones_count = host.zones_count;
    n->cpu_milli = host.cpu_milli;
    n->memory_bytes = host.memory_bytes;
    n->pods_max = MACHINE_PODS_MAX;
    n->ready = true;
    // The list itself, whose health changes in place.
    n->devices = (struct device *)(uintptr_t)list;
    n->devices_count = count;
    n->labels = ARENA_ARRAY(arena, struct label, config->labels_count + LABELS_OWN);
    n->labels[n->labels_count++] = (struct label){STR("kubernetes.io/hostname"), n->name};
    if (count > 0) {
        n->labels[n->labels_count++] = (struct label){STR("nvidia.com/gpu.product"),
                                                      label_text(arena, list[0].model)};
        n->labels[n->labels_count++] = (struct label){STR("nvidia.com/gpu.count"),
                                                      arena_printf(arena, "%u", count)};
        n->labels[n->labels_count++] = (struct label){
            STR("nvidia.com/gpu.memory"),
            arena_printf(arena, "%lld", (long long)(list[0].memory_bytes >> 20))};
    }
    for (uint32_t i = 0; i < config->labels_count; i++) {
        n->labels[n->labels_count++] = (struct label){arena_str(arena, config->labels[i].key),
                                                      arena_str(arena, config->labels[i].value)};
    }
}

static void hidden_make(struct machine *m, const struct agent_config *config, struct arena *arena)
{
    m->hidden = ARENA_ARRAY(arena, struct str_item, config->hidden_count + 1);
    m->hidden[m->hidden_count++].value = arena_str(arena, config->data_dir);
    for (uint32_t i = 0; i < config->hidden_count; i++) {
        m->hidden[m->hidden_count++].value = arena_str(arena, config->hidden[i]);
    }
}

enum status machine_open(struct machine *m, const struct agent_config *config, struct arena *arena,
                         struct err *err)
{
    char why[REASON_MAX];
    *m = (struct machine){0};
    enum status s = devices_open(config->gpus, config->node_name, config->device_check_ms,
                                 &m->devices, err);
    if (s != STATUS_OK) {
        return s;
    }
    cgroup_probe(&m->cgroups);
    m->isolation = isolate_probe(why);
    hidden_make(m, config, arena);
    m->secret = config->secret;
    m->secret_ctx = config->secret_ctx;
    node_make(m, config, arena);
    notes_make(m, why, arena);
    return STATUS_OK;
}

void machine_close(struct machine *m)
{
    devices_close(m->devices);
    m->devices = NULL;
}
