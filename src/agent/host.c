// SPDX-License-Identifier: Apache-2.0
// hwloc knows which processors weir may use where a cpuset narrows them. Memory is what the kernel
// says in all: hwloc adds up the nodes, which leave out memory that was added later. The locality of
// a device is read from the kernel's own file, as hwloc does too: its plugin for that leaks.
#include "agent/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef WEIR_HWLOC
#include <hwloc.h>
#endif

#include "base/buf.h"
#include "base/num.h"
#include "base/sort.h"
#include "io/file.h"
#include "model/limits.h"

#ifdef WEIR_HWLOC
enum { CPUS_TEXT_MAX = 4096 };

static int by_number(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    const struct zone *x = a;
    const struct zone *y = b;
    return x->numa_node < y->numa_node ? -1 : x->numa_node > y->numa_node;
}

static void zones_from_hwloc(hwloc_topology_t t, struct host *out, struct arena *arena)
{
    int count = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);
    if (count <= 0 || count > (int)NODE_ZONES_MAX) {
        return;
    }
    out->zones = ARENA_ARRAY(arena, struct zone, (size_t)count);
    for (hwloc_obj_t o = NULL;
         (o = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, o)) != NULL;) {
        char cpus[CPUS_TEXT_MAX];
        if (hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), o->cpuset) >= (int)sizeof(cpus)) {
            out->zones_count = 0; // too scattered to be written down
            return;
        }
        out->zones[out->zones_count++] = (struct zone){
            .numa_node = o->os_index,
            .cpu_milli = (int64_t)hwloc_bitmap_weight(o->cpuset) * 1000,
            .memory_bytes = (int64_t)o->attr->numanode.local_memory,
            .cpus = arena_str(arena, str_from_c(cpus)),
        };
    }
    sort_stable(out->zones, out->zones_count, sizeof(*out->zones), by_number, NULL, arena);
}

static void host_from_hwloc(struct host *out, struct arena *arena)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0) {
        return;
    }
    if (hwloc_topology_load(t) == 0) {
        out->cpu_milli = (int64_t)hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU) * 1000;
        zones_from_hwloc(t, out, arena);
    }
    hwloc_topology_destroy(t);
}
#endif

void host_find(struct host *out, struct arena *arena)
{
    *out = (struct host){0};
#ifdef WEIR_HWLOC
    host_from_hwloc(out, arena);
#else
    (void)arena;
#endif
    if (out->cpu_milli <= 0) {
        out->cpu_milli = num_max_i64(sysconf(_SC_NPROCESSORS_ONLN), 1) * 1000;
    }
    out->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
}

int64_t host_numa_of_pci(const char *bus_id)
{
    enum { NAME_LEN = 12 }; // 0000:3b:00.0: the kernel writes four digits of the domain
    char name[NAME_LEN + 1], path[96];
    size_t len = strlen(bus_id);
    if (len < NAME_LEN) {
        return HOST_NUMA_UNKNOWN;
    }
    for (size_t i = 0; i <= NAME_LEN; i++) {
        char c = bus_id[len - NAME_LEN + i];
        name[i] = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
    }
    (void)snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", name);
    struct buf text;
    int64_t node = HOST_NUMA_UNKNOWN;
    buf_init(&text, 64);
    if (file_read(AT_FDCWD, path, &text, NULL) == STATUS_OK &&
        !num_parse_i64(str_trim(buf_view(&text)), &node)) {
        node = HOST_NUMA_UNKNOWN;
    }
    buf_done(&text);
    return node;
}
