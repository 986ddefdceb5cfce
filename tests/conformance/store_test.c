// SPDX-License-Identifier: Apache-2.0
// The rows of store_rows.h on every implementation of the store port.
#include "store_rows.h"

#include <stdio.h>
#include <unistd.h>

#include "adapters/memory/memory.h"
#include "adapters/sqlite/sqlite.h"

/* ---- memory ---- */

struct memory_lab {
    struct memory_store *m;
    struct store port;
};

static struct store *memory_make(void *ctx)
{
    struct memory_lab *lab = ctx;
    lab->m = memory_open();
    lab->port = memory_port(lab->m);
    return &lab->port;
}

static struct store *memory_again(void *ctx)
{
    struct memory_lab *lab = ctx;
    memory_crash(lab->m, 0);
    return &lab->port;
}

static void memory_drop(void *ctx)
{
    struct memory_lab *lab = ctx;
    memory_close(lab->m);
}

TEST(memory)
{
    struct memory_lab lab;
    store_conforms(&(struct store_lab){&lab, memory_make, memory_again, memory_drop});
}

/* ---- SQLite ---- */

struct sqlite_lab {
    char path[512];
    int made;
    struct store port;
};

static struct store *sqlite_again(void *ctx)
{
    struct sqlite_lab *lab = ctx;
    struct sqlite_report report;
    struct err err;
    if (lab->port.ctx) {
        sqlite_close(&lab->port);
    }
    REQUIRE_OK(sqlite_open(lab->path, &lab->port, &report, &err), &err);
    return &lab->port;
}

static struct store *sqlite_make(void *ctx)
{
    struct sqlite_lab *lab = ctx;
    snprintf(lab->path, sizeof(lab->path), "%s/store-%d.db", test_tmp_dir(), lab->made++);
    lab->port.ctx = NULL;
    return sqlite_again(lab);
}

static void sqlite_drop(void *ctx)
{
    struct sqlite_lab *lab = ctx;
    sqlite_close(&lab->port);
}

TEST(sqlite)
{
    struct sqlite_lab lab = {.made = 0};
    store_conforms(&(struct store_lab){&lab, sqlite_make, sqlite_again, sqlite_drop});
}

TEST_MAIN()
