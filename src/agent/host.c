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
#include "io/file.h"

#ifdef WEIR_HWLOC
static void host_from_hwloc(struct host *out)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0) {
        return;
    }
    if (hwloc_topology_load(t) == 0) {
        out->cpu_milli = (int64_t)hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU) * 1000;
    }
    hwloc_topology_destroy(t);
}
#endif

void host_find(struct host *out)
{
    *out = (struct host){0};
#ifdef WEIR_HWLOC
    host_from_hwloc(out);
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
