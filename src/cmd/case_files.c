// SPDX-License-Identifier: Apache-2.0
#include "cmd/case_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/file.h"

static int is_case(const struct dirent *entry)
{
    return str_ends(str_from_c(entry->d_name), STR(".json"));
}

enum status case_files_find(const char *path, struct arena *arena, struct case_paths *out,
                            struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return err_set(err, errno == ENOENT ? STATUS_UNKNOWN : STATUS_IO, "%s: %s", path,
                       strerror(errno));
    }
    if (!S_ISDIR(st.st_mode)) {
        *ARRAY_PUSH(arena, &out->list) = path;
        return STATUS_OK;
    }
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_case, alphasort);
    if (count < 0) {
        return err_set(err, STATUS_IO, "%s: %s", path, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        *ARRAY_PUSH(arena, &out->list) = arena_printf(arena, "%s/%s", path, entries[i]->d_name).ptr;
        free(entries[i]);
    }
    free(entries);
    return STATUS_OK;
}

enum status case_file_load(const char *path, struct arena *arena, struct sim_case *out,
                           struct problems *problems, struct err *err)
{
    struct buf bytes;
    struct doc *root = NULL;
    buf_init(&bytes, JSON_SIZE_MAX);
    enum status status = file_read(AT_FDCWD, path, &bytes, err);
    if (status == STATUS_OK) {
        struct str text = arena_str(arena, buf_view(&bytes));
        status = json_doc(text, arena, &root, err);
        if (status != STATUS_OK) {
            snprintf(err->file, sizeof(err->file), "%s", path);
        }
    }
    buf_done(&bytes);
    if (status == STATUS_OK) {
        case_parse(root, arena, out, problems);
        status = problems->error_count > 0 ? problems_to_err(problems, err) : STATUS_OK;
    }
    return status;
}
