// SPDX-License-Identifier: Apache-2.0
#include "io/places.h"

#include <stdlib.h>
#include <unistd.h>

// The variable when it is set and an absolute path, as the XDG base directories want it.
static const char *directory(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] == '/' ? value : NULL;
}

enum status places_data(struct arena *arena, struct str *path, struct err *err)
{
    const char *said = getenv("WEIR_DATA");
    if (said != NULL && said[0] != 0) {
        *path = arena_str(arena, str_from_c(said));
        return STATUS_OK;
    }
    if (geteuid() == 0) {
        *path = STR("/var/lib/weir");
        return STATUS_OK;
    }
    const char *state = directory("XDG_STATE_HOME"), *home = directory("HOME");
    if (state != NULL) {
        *path = arena_printf(arena, "%s/weir", state);
        return STATUS_OK;
    }
    if (home != NULL) {
        *path = arena_printf(arena, "%s/.local/state/weir", home);
        return STATUS_OK;
    }
    enum status status = err_set(err, STATUS_UNKNOWN, "there is no home directory to keep data in");
    err_hint(err, "set HOME, or WEIR_DATA and WEIR_SOCKET");
    return status;
}

enum status places_socket(struct arena *arena, struct str *path, struct err *err)
{
    const char *said = getenv("WEIR_SOCKET"), *runtime = directory("XDG_RUNTIME_DIR");
    if (said != NULL && said[0] != 0) {
        *path = arena_str(arena, str_from_c(said));
        return STATUS_OK;
    }
    if (geteuid() == 0) {
        *path = STR("/run/weir/weir.sock");
        return STATUS_OK;
    }
    if (runtime != NULL) {
        *path = arena_printf(arena, "%s/weir/weir.sock", runtime);
        return STATUS_OK;
    }
    struct str data;
    enum status status = places_data(arena, &data, err);
    if (status == STATUS_OK) {
        *path = arena_printf(arena, STR_FMT "/weir.sock", STR_ARG(data));
    }
    return status;
}
