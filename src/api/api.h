// SPDX-License-Identifier: Apache-2.0
// api: weir's own REST API (docs/api.md) over an http server: who asks, which route, what is said.
// Reads are answered from the engine's state between two batches; commands go through the writer.
// One thread, the loop's.
#pragma once

#include <sys/types.h>

#include "api/writer.h"
#include "io/http.h"
#include "ports/identity.h"

struct api;
struct crypto_key;
struct passwords;

/* What only the one who runs the pods can do. May all be NULL: then said so. */
struct api_host {
    void *ctx;
    /* Path of a pod's log (io/rolled.h), in arena, with a NUL; it may not exist. */
    struct str (*log_path)(void *ctx, struct uuid pod, uint32_t attempt, struct arena *arena);
    /* Runs a command inside a running pod; *fd is a non-blocking stream socket that carries messages
     * of one byte (channel 0 to 3), four bytes of length (little-endian) and as many bytes. */
    enum status (*exec)(void *ctx, struct uuid pod, const struct str *argv, uint32_t argc,
                        bool terminal, int *fd, struct err *err);
    /* Connects to a port that a process of a running pod listens on; *fd is a non-blocking socket. */
    enum status (*forward)(void *ctx, struct uuid pod, uint16_t port, int *fd, struct err *err);
    /* The process belongs to a pod, or is gone. */
    bool (*is_pod)(void *ctx, pid_t pid);
};

struct api_config {
    struct loop *loop;
    const struct engine *engine;
    struct api_host host;
    struct str server; /* name of this server, for whoami */
    /* What tokens are signed with; NULL: nobody signs in, only the local socket is answered. */
    const struct crypto_key *key;
    struct passwords *passwords;   /* hashes them; there must be one where there is a key */
    struct identity_port identity; /* identity providers; ask NULL: none */
    struct str url;                /* of this server, as browsers know it, without a path */
    int64_t (*now_ms)(void);
};

/* api_new makes the API; api_hooks are for http_new. The writer is given afterwards, before the first
 * request, since it wants api_changed. */
struct api *api_new(const struct api_config *config);
struct http_hooks api_hooks(struct api *api);
void api_set_writer(struct api *api, struct writer *writer);
/* api_recorded is called for each input (writer_config.recorded): the audit keeps it. */
void api_recorded(void *api, const struct input *in);
/* api_changed is called after each batch (writer_config.changed): watchers hear of it. */
void api_changed(void *api);
/* api_stop ends streams and bridges; before http_free. api_free: after it. */
void api_stop(struct api *api);
void api_free(struct api *api);
