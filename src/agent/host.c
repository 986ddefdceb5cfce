// SPDX-License-Identifier: Apache-2.0
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
/* Loads the topology, with PCI devices when asked; NULL when hwloc cannot. */
static hwloc_topology_t topology_load(int with_devices)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0) {
        return NULL;
    }
    if (with_devices) {
        (void)hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    }
    if (hwloc_topology_load(t) != 0) {
        hwloc_topology_destroy(t);
        return NULL;
    }
    return t;
}
#endif

int64_t host_cpu_milli(void)
{
    int64_t count = 0;
#ifdef WEIR_HWLOC
    hwloc_topology_t t = topology_load(0);
    if (t != NULL) {
        count = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
        hwloc_topology_destroy(t);
    }
#endif
    if (count <= 0) {
        count = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return (count > 0 ? count : 1) * 1000;
}

int64_t host_memory_bytes(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
}

/* /sys/bus/pci/devices/0000:3b:00.0/numa_node, without hwloc or where it does not know. */
static int64_t numa_from_sysfs(const char *bus_id)
{
    char name[32], path[96];
    size_t len = strlen(bus_id);
    if (len < 12 || len >= sizeof(name)) {
        return HOST_NUMA_UNKNOWN;
    }
    const char *from = bus_id + (len - 12); // four digits of the domain are enough for the kernel
    for (size_t i = 0; i <= 12; i++) {
        name[i] = from[i] >= 'A' && from[i] <= 'F' ? (char)(from[i] - 'A' + 'a') : from[i];
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

int64_t host_numa_of_pci(const char *bus_id)
{
#ifdef WEIR_HWLOC
    hwloc_topology_t t = topology_load(1);
    if (t != NULL) {
        hwloc_obj_t pci = hwloc_get_pcidev_by_busidstring(t, bus_id);
        hwloc_obj_t near = pci != NULL ? hwloc_get_non_io_ancestor_obj(t, pci) : NULL;
        int64_t node = HOST_NUMA_UNKNOWN;
        // Near all nodes is near none.
        if (near != NULL && near->nodeset != NULL && hwloc_bitmap_weight(near->nodeset) == 1) {
            node = hwloc_bitmap_first(near->nodeset);
        }
        hwloc_topology_destroy(t);
        if (node != HOST_NUMA_UNKNOWN) {
            return node;
        }
    }
#endif
    return numa_from_sysfs(bus_id);
}
