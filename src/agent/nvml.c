// SPDX-License-Identifier: Apache-2.0
#include "agent/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Layouts of the public interface, by our own names. */
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_pci {
    char bus_id_legacy[16];
    unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct nvml_event {
    void *device;
    unsigned long long type, data;
    unsigned int gpu_instance, compute_instance;
};
struct nvml_sample {
    unsigned long long time; /* microseconds */
    union {
        double of_double;
        unsigned int of_int;
        unsigned long long of_long;
    } value;
};
enum {
    NVML_OK = 0,
    NVML_NOT_FOUND = 6, /* no sample is newer */
    NVML_EVENT_XID = 8,
    NVML_SAMPLES_USE = 1, /* percent of the time in which a kernel ran */
    NVML_SAMPLES_MAX = 256,
    NVML_TYPE_INT = 1,
};

struct nvml {
    void *library;
    void *events; /* NULL: cannot be had */
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*count)(unsigned int *);
    int (*handle)(unsigned int, void **);
    int (*uuid)(void *, char *, unsigned int);
    int (*name)(void *, char *, unsigned int);
    int (*memory)(void *, struct nvml_memory *);
    int (*pci)(void *, struct nvml_pci *);
    int (*minor)(void *, unsigned int *);
    /* optional */
    int (*event_set_create)(void **);
    int (*event_set_free)(void *);
    int (*event_register)(void *, unsigned long long, void *);
    int (*event_wait)(void *, struct nvml_event *, unsigned int);
    int (*samples)(void *, int, unsigned long long, int *, unsigned int *, struct nvml_sample *);
};

/* dlsym gives an object pointer; POSIX says it may be a function's. */
static bool find(struct nvml *n, const char *name, void *into)
{
    void *symbol = dlsym(n->library, name);
    memcpy(into, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static bool find_all(struct nvml *n)
{
    (void)find(n, "nvmlEventSetCreate", &n->event_set_create);
    (void)find(n, "nvmlEventSetFree", &n->event_set_free);
    (void)find(n, "nvmlDeviceRegisterEvents", &n->event_register);
    (void)find(n, "nvmlEventSetWait_v2", &n->event_wait);
    (void)find(n, "nvmlDeviceGetSamples", &n->samples);
    return find(n, "nvmlInit_v2", &n->init) && find(n, "nvmlShutdown", &n->shutdown) &&
           find(n, "nvmlErrorString", &n->error_string) &&
           find(n, "nvmlDeviceGetCount_v2", &n->count) &&
           find(n, "nvmlDeviceGetHandleByIndex_v2", &n->handle) &&
           find(n, "nvmlDeviceGetUUID", &n->uuid) && find(n, "nvmlDeviceGetName", &n->name) &&
           find(n, "nvmlDeviceGetMemoryInfo", &n->memory) &&
           find(n, "nvmlDeviceGetPciInfo_v3", &n->pci) &&
           find(n, "nvmlDeviceGetMinorNumber", &n->minor);
}

enum status nvml_open(struct nvml **out, struct err *err)
{
    struct nvml *n = mem_alloc(sizeof(*n));
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (n->library == NULL) {
        mem_free(n);
        return err_set(err, STATUS_UNKNOWN, "libnvidia-ml.so.1 is not installed");
    }
    enum status s = STATUS_OK;
    int rc = 0;
    if (!find_all(n)) {
        s = err_set(err, STATUS_IO, "libnvidia-ml.so.1 lacks functions that are needed");
    } else if ((rc = n->init()) != NVML_OK) {
        s = err_set(err, STATUS_IO, "NVML does not start: %s", n->error_string(rc));
    }
    if (s != STATUS_OK) {
        (void)dlclose(n->library);
        mem_free(n);
        return s;
    }
    if (n->event_set_create == NULL || n->event_set_free == NULL || n->event_register == NULL ||
        n->event_wait == NULL || n->event_set_create(&n->events) != NVML_OK) {
        n->events = NULL;
    }
    *out = n;
    return STATUS_OK;
}

void nvml_close(struct nvml *n)
{
    if (n == NULL) {
        return;
    }
    if (n->events != NULL) {
        (void)n->event_set_free(n->events);
    }
    (void)n->shutdown();
    (void)dlclose(n->library);
    mem_free(n);
}

static bool device_read(struct nvml *n, unsigned index, struct nvml_device *d)
{
    struct nvml_memory memory = {0};
    struct nvml_pci pci = {0};
    *d = (struct nvml_device){0};
    if (n->handle(index, &d->handle) != NVML_OK ||
        n->uuid(d->handle, d->uuid, sizeof(d->uuid)) != NVML_OK ||
        n->name(d->handle, d->name, sizeof(d->name)) != NVML_OK ||
        n->memory(d->handle, &memory) != NVML_OK || n->minor(d->handle, &d->minor) != NVML_OK) {
        return false;
    }
    if (n->pci(d->handle, &pci) == NVML_OK) {
        (void)snprintf(d->bus_id, sizeof(d->bus_id), "%.31s", pci.bus_id);
    }
    d->uuid[sizeof(d->uuid) - 1] = '\0';
    d->name[sizeof(d->name) - 1] = '\0';
    d->memory_bytes = memory.total;
    if (n->events != NULL) {
        (void)n->event_register(d->handle, NVML_EVENT_XID, n->events);
    }
    return true;
}

enum status nvml_devices(struct nvml *n, struct nvml_device *out, uint32_t max, uint32_t *count,
                         struct err *err)
{
    unsigned int found = 0;
    int rc = n->count(&found);
    if (rc != NVML_OK) {
        return err_set(err, STATUS_IO, "NVML cannot count the devices: %s", n->error_string(rc));
    }
    *count = 0;
    for (unsigned int i = 0; i < found && *count < max; i++) {
        *count += device_read(n, i, &out[*count]) ? 1 : 0;
    }
    return STATUS_OK;
}

bool nvml_alive(struct nvml *n, const struct nvml_device *d)
{
    struct nvml_memory memory;
    return n->memory(d->handle, &memory) == NVML_OK;
}

bool nvml_was_used(struct nvml *n, const struct nvml_device *d, uint64_t *seen)
{
    struct nvml_sample samples[NVML_SAMPLES_MAX];
    unsigned int count = NVML_SAMPLES_MAX;
    int type = 0; /* of the values */
    if (n->samples == NULL) {
        return true;
    }
    int rc = n->samples(d->handle, NVML_SAMPLES_USE, *seen, &type, &count, samples);
    bool used = rc != NVML_OK && rc != NVML_NOT_FOUND;
    for (unsigned int i = 0; rc == NVML_OK && i < count && i < NVML_SAMPLES_MAX; i++) {
        used |= type == NVML_TYPE_INT ? samples[i].value.of_int > 0 : samples[i].value.of_long > 0;
        *seen = samples[i].time > *seen ? samples[i].time : *seen;
    }
    return used;
}

bool nvml_next_error(struct nvml *n, void **handle, uint64_t *xid)
{
    struct nvml_event event = {0};
    if (n->events == NULL || n->event_wait(n->events, &event, 0) != NVML_OK) {
        return false;
    }
    *handle = event.device;
    *xid = event.type == NVML_EVENT_XID ? event.data : NVML_XID_NONE;
    return true;
}
