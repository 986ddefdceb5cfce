// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "codec/json.h"
#include "io/file.h"

enum { SETTINGS_BYTES_MAX = 1 << 20 };

static struct str first_set(struct str flag, const char *variable, struct str otherwise)
{
    const char *value = getenv(variable);
    if (flag.len > 0) {
        return flag;
    }
    return value != NULL && value[0] != 0 ? str_from_c(value) : otherwise;
}

static struct str path_of(const struct settings *s)
{
    return arena_printf(s->arena, STR_FMT "/" STR_FMT, STR_ARG(s->directory), STR_ARG(s->file));
}

enum status settings_load(struct settings *s, struct arena *arena, struct str directory,
                          struct str name, struct err *err)
{
    const char *home = getenv("HOME");
    *s = (struct settings){
        .arena = arena,
        .directory = first_set(directory, "RUNAI_CLI_CONFIG_PATH",
                               arena_printf(arena, "%s/.weir", home != NULL ? home : "")),
        .file = first_set(name, "RUNAI_CLI_CONFIG_FILE", STR("config.json")),
        .root = ARENA_NEW(arena, struct doc),
    };
    s->root->kind = DOC_MAP;
    struct buf bytes;
    buf_init(&bytes, SETTINGS_BYTES_MAX);
    struct str path = path_of(s);
    enum status status = file_read(AT_FDCWD, arena_cstr(arena, path), &bytes, err);
    struct str text = arena_str(arena, buf_view(&bytes));
    buf_done(&bytes);
    if (status == STATUS_UNKNOWN) {
        return STATUS_OK;
    }
    struct doc *root = NULL;
    if (status == STATUS_OK) {
        status = json_doc(text, arena, &root, err);
    }
    if (status == STATUS_OK && root->kind != DOC_MAP) {
        status = err_set(err, STATUS_INVALID, "expected an object");
    }
    if (status != STATUS_OK) {
        err_wrap(err, "settings " STR_FMT, STR_ARG(path));
        err_hint(err, "mend the file or remove it");
        return status;
    }
    s->root = root;
    return STATUS_OK;
}

struct str settings_get(const struct settings *s, struct str key)
{
    const struct doc *d = doc_at(s->root, key);
    return d != NULL && d->kind == DOC_STRING ? d->text : STR("");
}

// The member of map named key, made when missing.
static struct doc *member(struct settings *s, struct doc *map, struct str key)
{
    struct doc **at = &map->child;
    while (*at != NULL && !str_eq((*at)->key, key)) {
        at = &(*at)->next;
    }
    if (*at == NULL) {
        *at = ARENA_NEW(s->arena, struct doc);
        (*at)->key = arena_str(s->arena, key);
        map->child_count++;
    }
    return *at;
}

static void drop(struct doc *map, const struct doc *gone)
{
    for (struct doc **at = &map->child; *at != NULL; at = &(*at)->next) {
        if (*at == gone) {
            *at = gone->next;
            map->child_count--;
            return;
        }
    }
}

enum status settings_set(struct settings *s, struct str key, struct str value, struct err *err)
{
    uint32_t dot = str_find(key, '.');
    struct doc *map = s->root;
    if (dot < key.len) {
        map = member(s, map, str_sub(key, 0, dot));
        map->kind = DOC_MAP;
        key = str_sub(key, dot + 1, key.len);
    }
    struct doc *d = member(s, map, key);
    d->kind = DOC_STRING;
    d->text = arena_str(s->arena, value);
    if (value.len == 0) {
        drop(map, d);
    }
    const char *path = arena_cstr(s->arena, s->directory);
    enum status status = file_mkdirs(path, 0700, err);
    CLEANUP(file_close) int dir = -1;
    if (status == STATUS_OK && (dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        status = err_set(err, STATUS_IO, "%s cannot be opened: %s", path, strerror(errno));
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct buf text;
    buf_init(&text, SETTINGS_BYTES_MAX);
    struct jw w;
    jw_init(&w, &text, true);
    jw_doc(&w, s->root);
    buf_char(&text, '\n');
    status = text.full ? err_set(err, STATUS_TOO_LARGE, "the settings would be over 1 MiB")
                       : file_write(dir, arena_cstr(s->arena, s->file), buf_view(&text), 0600,
                                    false, err);
    buf_done(&text);
    return status;
}
