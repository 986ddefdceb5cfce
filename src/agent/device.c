// SPDX-License-Identifier: Apache-2.0
// A device that reported a hardware error (Xid) stays unhealthy until weir starts again: the card
// may answer and still be broken. One that only stopped answering is healthy again when it answers.
#include "agent/device.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "agent/host.h"
#include "agent/nvml.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/quantity.h"
#include "io/clock.h"
#include "io/file.h"

struct devices {
    struct arena arena;
    struct device *list;
    uint32_t count;
    bool real;
    struct str note;
    struct nvml *nvml;
    struct nvml_device *of_nvml; /* as list */
    int event_fd;
    int64_t check_ms;
    /* shared with the watcher */
    pthread_t watcher;
    bool watching;
    pthread_mutex_t lock; /* guards stop */
    pthread_cond_t wake;
    bool stop;
    atomic_ullong fault[DEVICES_MAX];
    atomic_llong used_ms[DEVICES_MAX];
};

/* What is wrong with a device: nothing, no answer, or FAULT_XID and the number of the error. */
enum { FAULT_NONE = 0, FAULT_SILENT = 1, FAULT_XID = 2 };

/* ---- simulated ---- */

static struct str fake_uuid(struct str node, uint32_t index, struct arena *arena)
{
    struct str named = arena_printf(arena, STR_FMT "/gpu/%u", STR_ARG(node), index);
    uint64_t halves[2] = {hash_bytes(named.ptr, named.len, 1), hash_bytes(named.ptr, named.len, 2)};
    uint8_t bytes[16];
    memcpy(bytes, halves, sizeof(bytes));
    return arena_printf(arena, "GPU-" STR_FMT, STR_ARG(uuid_str(uuid_from_random(bytes), arena)));
}

static enum status open_fake(struct devices *d, struct str text, struct str node, struct err *err)
{
    uint32_t colon = str_find(text, ':');
    int64_t count, size = INT64_C(80) << 30;
    if (!num_parse_i64(str_sub(text, 0, colon), &count) || count < 0 || count > DEVICES_MAX) {
        (void)err_set(err, STATUS_INVALID,
                      "expected fake:COUNT with a count from 0 to %d, got "
                      "\"fake:" STR_FMT "\"",
                      DEVICES_MAX, STR_ARG(text));
        return err_hint(err, "for example --gpus fake:4:80GiB");
    }
    if (colon < text.len) {
        struct str amount = str_sub(text, colon + 1, text.len);
        enum status s = quantity_parse_bytes(amount, &size, err);
        if (s != STATUS_OK) {
            return err_wrap(err, "memory of a simulated device");
        }
        if (size <= 0) {
            return err_set(err, STATUS_INVALID,
                           "memory of a simulated device: expected more than "
                           "0, got " STR_FMT,
                           STR_ARG(amount));
        }
    }
    d->count = (uint32_t)count;
    d->list = ARENA_ARRAY(&d->arena, struct device, d->count);
    for (uint32_t i = 0; i < d->count; i++) {
        d->list[i] = (struct device){
            .uuid = fake_uuid(node, i, &d->arena),
            .model = STR("simulated"),
            .memory_bytes = size,
            .index = i,
            .numa_node = -1,
            .healthy = true,
        };
    }
    d->note = d->count > 0 ? STR("the devices are simulated") : STR("");
    return STATUS_OK;
}

/* ---- NVML ---- */

/* Errors of a program, not of the card: a fault in a kernel, a reset channel, a stop asked for. */
static bool xid_is_programs(uint64_t xid)
{
    static const uint64_t programs[] = {NVML_XID_NONE, 13, 31, 43, 45, 68, 69, 109};
    for (uint32_t i = 0; i < COUNT_OF(programs); i++) {
        if (programs[i] == xid) {
            return true;
        }
    }
    return false;
}

static bool check_health(struct devices *d, uint64_t broken[DEVICES_MAX])
{
    void *handle;
    uint64_t xid;
    while (nvml_next_error(d->nvml, &handle, &xid)) {
        for (uint32_t i = 0; i < d->count; i++) {
            if (d->of_nvml[i].handle == handle && !xid_is_programs(xid) && broken[i] == 0) {
                broken[i] = FAULT_XID + xid;
            }
        }
    }
    bool changed = false;
    for (uint32_t i = 0; i < d->count; i++) {
        uint64_t fault = broken[i] != 0                        ? broken[i]
                         : nvml_alive(d->nvml, &d->of_nvml[i]) ? FAULT_NONE
                                                               : FAULT_SILENT;
        changed |= atomic_exchange(&d->fault[i], fault) != fault;
    }
    return changed;
}

static void check_use(struct devices *d, uint64_t seen[DEVICES_MAX])
{
    for (uint32_t i = 0; i < d->count; i++) {
        if (nvml_was_used(d->nvml, &d->of_nvml[i], &seen[i])) {
            atomic_store(&d->used_ms[i], clock_mono_ms());
        }
    }
}

static void *watch(void *arg)
{
    struct devices *d = arg;
    uint64_t broken[DEVICES_MAX] = {0};
    uint64_t seen[DEVICES_MAX] = {0};
    (void)pthread_mutex_lock(&d->lock);
    while (!d->stop) {
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += d->check_ms / 1000;
        until.tv_nsec += d->check_ms % 1000 * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (!d->stop && pthread_cond_timedwait(&d->wake, &d->lock, &until) != ETIMEDOUT) {
        }
        if (d->stop) {
            break;
        }
        (void)pthread_mutex_unlock(&d->lock);
        check_use(d, seen);
        if (check_health(d, broken)) {
            (void)!write(d->event_fd, &(uint64_t){1}, sizeof(uint64_t));
        }
        (void)pthread_mutex_lock(&d->lock);
    }
    (void)pthread_mutex_unlock(&d->lock);
    return NULL;
}

static bool watcher_start(struct devices *d)
{
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&d->lock, NULL);
    (void)pthread_cond_init(&d->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    d->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    d->watching = d->event_fd >= 0 && pthread_create(&d->watcher, NULL, watch, d) == 0;
    return d->watching;
}

static enum status open_nvml(struct devices *d, struct err *err)
{
    struct err why = {0};
    enum status s = nvml_open(&d->nvml, &why);
    if (s != STATUS_OK) {
        d->note = arena_printf(&d->arena, "no GPUs: %s", why.text);
        return STATUS_OK;
    }
    d->of_nvml = ARENA_ARRAY(&d->arena, struct nvml_device, DEVICES_MAX);
    s = nvml_devices(d->nvml, d->of_nvml, DEVICES_MAX, &d->count, &why);
    if (s != STATUS_OK) {
        d->note = arena_printf(&d->arena, "no GPUs: %s", why.text);
        d->count = 0;
    }
    d->real = true;
    d->list = ARENA_ARRAY(&d->arena, struct device, d->count);
    for (uint32_t i = 0; i < d->count; i++) {
        const struct nvml_device *from = &d->of_nvml[i];
        d->list[i] = (struct device){
            .uuid = str_from_c(from->uuid),
            .model = str_from_c(from->name),
            .memory_bytes = (int64_t)from->memory_bytes,
            .index = i,
            .numa_node = host_numa_of_pci(from->bus_id),
            .healthy = true,
        };
    }
    if (d->count > 0 && !watcher_start(d)) {
        return err_set(err, STATUS_INTERNAL, "cannot start the watcher of the devices: %s",
                       strerror(errno));
    }
    return STATUS_OK;
}

/* ---- public ---- */

enum status devices_open(struct str spec, struct str node_name, int64_t check_ms,
                         struct devices **out, struct err *err)
{
    struct devices *d = mem_alloc(sizeof(*d));
    d->event_fd = -1;
    d->check_ms = check_ms > 0 ? check_ms : DEVICES_HEALTH_MS;
    arena_init(&d->arena, 0);
    enum status s = STATUS_OK;
    if (str_starts(spec, STR("fake:"))) {
        s = open_fake(d, str_sub(spec, 5, spec.len), node_name, err);
    } else if (str_eq(spec, STR("auto")) || spec.len == 0) {
        s = open_nvml(d, err);
    } else if (!str_eq(spec, STR("none"))) {
        (void)err_set(err, STATUS_INVALID,
                      "expected auto, none or fake:COUNT[:SIZE] for the GPUs, "
                      "got \"" STR_FMT "\"",
                      STR_ARG(spec));
        s = err_hint(err, "for example --gpus fake:4:80GiB");
    }
    if (s != STATUS_OK) {
        devices_close(d);
        return s;
    }
    *out = d;
    return STATUS_OK;
}

void devices_close(struct devices *d)
{
    if (d == NULL) {
        return;
    }
    if (d->watching) {
        (void)pthread_mutex_lock(&d->lock);
        d->stop = true;
        (void)pthread_cond_signal(&d->wake);
        (void)pthread_mutex_unlock(&d->lock);
        (void)pthread_join(d->watcher, NULL);
        (void)pthread_cond_destroy(&d->wake);
        (void)pthread_mutex_destroy(&d->lock);
    }
    file_close(&d->event_fd);
    nvml_close(d->nvml);
    arena_done(&d->arena);
    mem_free(d);
}

void devices_deal(struct devices *d, const struct zone *zones, uint32_t zones_count)
{
    for (uint32_t i = 0; i < d->count && !d->real; i++) {
        d->list[i].numa_node = zones_count > 0
                                   ? zones[(uint64_t)i * zones_count / d->count].numa_node
                                   : 0;
    }
}

const struct device *devices_list(struct devices *d, uint32_t *count)
{
    *count = d->count;
    return d->list;
}

struct str devices_note(const struct devices *d)
{
    return d->note;
}

int devices_fd(const struct devices *d)
{
    return d->event_fd;
}

static struct str fault_text(struct devices *d, uint64_t fault)
{
    if (fault >= FAULT_XID) {
        return arena_printf(&d->arena, "Xid %llu", (unsigned long long)(fault - FAULT_XID));
    }
    return fault == FAULT_SILENT ? STR("does not answer") : STR("");
}

bool devices_changed(struct devices *d)
{
    uint64_t times;
    if (d->event_fd < 0 || read(d->event_fd, &times, sizeof(times)) != (ssize_t)sizeof(times)) {
        return false;
    }
    bool changed = false;
    for (uint32_t i = 0; i < d->count; i++) {
        struct str fault = fault_text(d, atomic_load(&d->fault[i]));
        changed |= !str_eq(fault, d->list[i].fault);
        d->list[i].fault = fault;
        d->list[i].healthy = fault.len == 0;
    }
    return changed;
}

int64_t devices_used_ms(const struct devices *d, struct str uuid)
{
    for (uint32_t i = 0; i < d->count; i++) {
        if (str_eq(d->list[i].uuid, uuid)) {
            return atomic_load(&d->used_ms[i]);
        }
    }
    return clock_mono_ms();
}

bool devices_are_real(const struct devices *d)
{
    return d->real;
}

void devices_nodes(const struct devices *d, const struct held_device *held, uint32_t held_count,
                   struct arena *arena, struct str_item **out, uint32_t *count)
{
    static const char *const shared[] = {"/dev/nvidiactl", "/dev/nvidia-uvm",
                                         "/dev/nvidia-uvm-tools"};
    *count = 0;
    *out = ARENA_ARRAY(arena, struct str_item, held_count + COUNT_OF(shared));
    for (uint32_t h = 0; h < held_count && d->real; h++) {
        for (uint32_t i = 0; i < d->count; i++) {
            if (str_eq(d->list[i].uuid, held[h].uuid)) {
                (*out)[(*count)++].value = arena_printf(arena, "/dev/nvidia%u",
                                                        d->of_nvml[i].minor);
            }
        }
    }
    for (uint32_t i = 0; i < COUNT_OF(shared) && *count > 0; i++) {
        (*out)[(*count)++].value = str_from_c(shared[i]);
    }
}
