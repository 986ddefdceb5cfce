// SPDX-License-Identifier: Apache-2.0
// Two tables. journal: one row an input, `check` = hash of (check of the row before, seq, body), so
// that a changed, lost or swapped row shows. checkpoint: the newest two states.
//
// One connection, used by the writer thread during an append and by the owner otherwise (db_lock).
// The owner queues jobs; the writer does each as one transaction and puts it on the finished list,
// writes to the eventfd, and then, with the answer on its way, moves the log into the database file
// when it has grown (so that no commit pays for that).
//
// After a failed append nothing is tried again by itself: the caller reopens. Reopening empties the
// log and removes rows above the last acknowledged one, since a commit whose sync failed may be
// found by recovery although its author was told that it failed.
#include "adapters/sqlite/sqlite.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/sqlite/wal.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"

enum {
    PATH_MAX_LEN = 3500,
    FORMAT_VERSION = 1,
    APPLICATION_ID = 0x77656972, /* "weir", so that file(1) can tell */
    LOG_PAGES_MAX = 1000,        /* of the write-ahead log, then it is moved into the database */
    CHECKPOINTS_KEPT = 2,
    BUSY_MS = 5000, /* someone looks at the file with another program */
};
#define APPEND_BYTES_MAX (SIZE_MAX / 4)

struct job {
    struct job *next;
    struct buf bytes; /* bodies one after the other */
    uint32_t *lens;   /* [count] */
    uint32_t count;
    int64_t first_seq;
    store_done *done;
    void *arg;
    enum status status;
    struct err err;
};
struct job_list {
    struct job *first, *last;
};

enum statement { INSERT, BEGIN, COMMIT, ROLLBACK, STATEMENT_COUNT };

struct sqlite {
    char path[PATH_MAX_LEN + 1];
    int event_fd;
    bool reads; /* it is only read */
    pthread_t writer;
    bool writer_runs;

    pthread_mutex_t db_lock; /* the connection and what follows */
    sqlite3 *db;
    sqlite3_stmt *stmts[STATEMENT_COUNT];
    uint64_t chain;   /* check of the last acknowledged row */
    int64_t last_seq; /* of it */
    int log_pages;    /* of the write-ahead log after the last commit */
    bool failed;

    pthread_mutex_t queue_lock; /* what follows */
    pthread_cond_t work, idle;
    struct job_list waiting, finished;
    uint32_t unfinished; /* waiting and in hand */
    bool stop;

    int64_t appended_seq; /* owner's: of the last row handed in */
};

static void job_free(struct job *job)
{
    buf_done(&job->bytes);
    mem_free(job->lens);
    mem_free(job);
}

static void list_push(struct job_list *list, struct job *job)
{
    job->next = NULL;
    if (list->last != NULL) {
        list->last->next = job;
    } else {
        list->first = job;
    }
    list->last = job;
}

static struct job *list_pop(struct job_list *list)
{
    struct job *job = list->first;
    if (job != NULL) {
        list->first = job->next;
        if (list->first == NULL) {
            list->last = NULL;
        }
    }
    return job;
}

/* ---- errors ---- */

/* Says for the file and its page what SQLite found, where its own message says only "malformed". */
static void add_position(sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        const char *said = (const char *)sqlite3_column_text(stmt, 0);
        if (said != NULL && strcmp(said, "ok") != 0) {
            err_wrap(err, "%s", said);
        }
    }
    sqlite3_finalize(stmt);
}

static enum status fail(struct sqlite *s, int rc, const char *doing, struct err *err)
{
    int system = s->db != NULL ? sqlite3_system_errno(s->db) : errno;
    const char *said = s->db != NULL ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_FULL:
        err_set(err, STATUS_IO, "disk full: cannot %s %s", doing, s->path);
        return err_hint(err, "free space on its file system; weir goes on by itself then");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        err_set(err, STATUS_CORRUPT, "cannot %s %s: %s", doing, s->path, said);
        if (s->db != NULL && (rc & 0xff) == SQLITE_CORRUPT && err != NULL) {
            add_position(s->db, err);
        }
        return err_hint(err, "copy the data directory aside, check the disk, restore a backup of "
                             "it; nothing was changed");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        err_set(err, STATUS_BUSY, "cannot %s %s: another program has locked it", doing, s->path);
        return err_hint(err, "close the program that has the file open");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        err_set(err, STATUS_IO, "cannot %s %s: %s", doing, s->path,
                system != 0 ? strerror(system) : said);
        return err_hint(err, "give the user that runs weir the right to write there");
    default:
        if (system == ENOSPC || system == EDQUOT) {
            err_set(err, STATUS_IO, "disk full: cannot %s %s", doing, s->path);
            return err_hint(err, "free space on its file system; weir goes on by itself then");
        }
        return err_set(err, STATUS_IO, "cannot %s %s: %s%s%s", doing, s->path, said,
                       system != 0 ? ": " : "", system != 0 ? strerror(system) : "");
    }
}

/* ---- the connection ---- */

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS journal("
    "seq INTEGER PRIMARY KEY, body BLOB NOT NULL, \"check\" BLOB NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS checkpoint("
    "seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, body BLOB NOT NULL) STRICT;";

static const char *const statement_texts[STATEMENT_COUNT] = {
    [INSERT] = "INSERT INTO journal(seq, body, \"check\") VALUES(?1, ?2, ?3)",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
};

static int on_commit(void *arg, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    struct sqlite *s = arg;
    s->log_pages = pages;
    return SQLITE_OK;
}

static void put_u64(uint8_t out[8], uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        out[i] = (uint8_t)(v >> (56 - 8 * i));
    }
}

static bool get_u64(sqlite3_stmt *stmt, int column, uint64_t *out)
{
    const uint8_t *p = sqlite3_column_blob(stmt, column);
    if (p == NULL || sqlite3_column_bytes(stmt, column) != 8) {
        return false;
    }
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) {
        v = v << 8 | p[i];
    }
    *out = v;
    return true;
}

static uint64_t chain_next(uint64_t chain, int64_t seq, const void *body, size_t len)
{
    return hash_bytes(body, len, hash_u64((uint64_t)seq, chain));
}

static int step_once(sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* The first column of the first row as a number; 0 when there is no row. */
static int query_i64(sqlite3 *db, const char *sql, int64_t *out)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
            *out = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
            rc = SQLITE_OK;
        }
    }
    sqlite3_finalize(stmt);
    return rc;
}

static void db_close(struct sqlite *s)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        sqlite3_finalize(s->stmts[i]);
        s->stmts[i] = NULL;
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

static enum status check_version(struct sqlite *s, bool *is_new, struct err *err)
{
    int64_t id = 0;
    int64_t version = 0;
    int64_t tables = 0;
    int rc = query_i64(s->db, "PRAGMA application_id", &id);
    rc = rc != SQLITE_OK ? rc : query_i64(s->db, "PRAGMA user_version", &version);
    rc = rc != SQLITE_OK ? rc : query_i64(s->db, "SELECT count(*) FROM sqlite_schema", &tables);
    if (rc != SQLITE_OK) {
        return fail(s, rc, "read", err);
    }
    *is_new = id == 0 && version == 0 && tables == 0;
    if (!*is_new && id != APPLICATION_ID) {
        err_set(err, STATUS_CORRUPT, "%s is a SQLite database, but not weir's", s->path);
        return err_hint(err, "choose another data directory");
    }
    if (version > FORMAT_VERSION) {
        err_set(err, STATUS_UNSUPPORTED, "%s has format %lld, this weir knows up to %d", s->path,
                (long long)version, FORMAT_VERSION);
        return err_hint(err, "start the newer weir that wrote it");
    }
    return STATUS_OK;
}

static enum status db_open(struct sqlite *s, bool *is_new, struct err *err)
{
    int how = s->reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int rc = sqlite3_open_v2(s->path, &s->db, how | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             NULL);
    if (rc != SQLITE_OK) {
        return fail(s, rc, "open", err);
    }
    sqlite3_busy_timeout(s->db, BUSY_MS);
    enum status status = check_version(s, is_new, err);
    if (status != STATUS_OK) {
        return status;
    }
    if (s->reads) {
        return *is_new ? err_set(err, STATUS_CORRUPT, "%s is empty", s->path) : STATUS_OK;
    }
    char setup[256];
    snprintf(setup, sizeof setup,
             "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;"
             "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             APPLICATION_ID, FORMAT_VERSION);
    if (!*is_new) { /* nothing to write then */
        snprintf(setup, sizeof setup,
                 "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;");
    }
    rc = sqlite3_exec(s->db, setup, NULL, NULL, NULL);
    rc = rc != SQLITE_OK || !*is_new ? rc : sqlite3_exec(s->db, schema, NULL, NULL, NULL);
    /* Takes the write lock once: says now, not at the first command, that it cannot be written. */
    rc = rc != SQLITE_OK ? rc : sqlite3_exec(s->db, "BEGIN IMMEDIATE; ROLLBACK", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        return fail(s, rc, *is_new ? "create" : "open", err);
    }
    sqlite3_wal_hook(s->db, on_commit, s);
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        rc = sqlite3_prepare_v3(s->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                &s->stmts[i], NULL);
        if (rc != SQLITE_OK) {
            return fail(s, rc, "open", err);
        }
    }
    return STATUS_OK;
}

static enum status read_end(struct sqlite *s, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(
        s->db, "SELECT seq, \"check\" FROM journal ORDER BY seq DESC LIMIT 1", -1, &stmt, NULL);
    rc = rc == SQLITE_OK ? sqlite3_step(stmt) : rc;
    enum status status = STATUS_OK;
    if (rc == SQLITE_ROW) {
        s->last_seq = sqlite3_column_int64(stmt, 0);
        if (!get_u64(stmt, 1, &s->chain)) {
            status = err_set(err, STATUS_CORRUPT, "%s: the check of record %lld is damaged",
                             s->path, (long long)s->last_seq);
        }
    } else if (rc == SQLITE_DONE) {
        s->last_seq = 0;
        s->chain = 0;
    } else {
        status = fail(s, rc, "read", err);
    }
    sqlite3_finalize(stmt);
    return status;
}

/* ---- the writer ---- */

static enum status write_rows(struct sqlite *s, const struct job *job, uint64_t *chain,
                              struct err *err)
{
    int rc = step_once(s->stmts[BEGIN]);
    const char *body = job->bytes.ptr != NULL ? job->bytes.ptr : "";
    for (uint32_t i = 0; rc == SQLITE_OK && i < job->count; i++) {
        int64_t seq = job->first_seq + i;
        *chain = chain_next(*chain, seq, body, job->lens[i]);
        uint8_t check[8];
        put_u64(check, *chain);
        sqlite3_stmt *insert = s->stmts[INSERT];
        sqlite3_bind_int64(insert, 1, seq);
        sqlite3_bind_blob64(insert, 2, body, job->lens[i], SQLITE_STATIC);
        sqlite3_bind_blob(insert, 3, check, 8, SQLITE_STATIC);
        rc = step_once(insert);
        sqlite3_clear_bindings(insert);
        body += job->lens[i];
    }
    rc = rc == SQLITE_OK ? step_once(s->stmts[COMMIT]) : rc;
    return rc == SQLITE_OK ? STATUS_OK : fail(s, rc, "write", err);
}

static void do_job(struct sqlite *s, struct job *job)
{
    pthread_mutex_lock(&s->db_lock);
    if (s->failed) {
        job->status = err_set(&job->err, STATUS_BUSY,
                              "%s could not be written, and was not opened anew yet", s->path);
    } else {
        uint64_t chain = s->chain;
        job->status = write_rows(s, job, &chain, &job->err);
        if (job->status == STATUS_OK) {
            s->chain = chain;
            s->last_seq = job->first_seq + job->count - 1;
        } else {
            s->failed = true;
            if (!sqlite3_get_autocommit(s->db)) {
                step_once(s->stmts[ROLLBACK]);
            }
        }
    }
    pthread_mutex_unlock(&s->db_lock);
}

static void shorten_log(struct sqlite *s)
{
    pthread_mutex_lock(&s->db_lock);
    if (!s->failed && s->log_pages > LOG_PAGES_MAX) {
        /* A failure (disk full) loses nothing: the log stays, and is tried again later. */
        sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
        s->log_pages = 0;
    }
    pthread_mutex_unlock(&s->db_lock);
}

static void *writer_main(void *arg)
{
    struct sqlite *s = arg;
    pthread_mutex_lock(&s->queue_lock);
    for (;;) {
        struct job *job = list_pop(&s->waiting);
        if (job == NULL) {
            if (s->stop) {
                break;
            }
            pthread_cond_wait(&s->work, &s->queue_lock);
            continue;
        }
        pthread_mutex_unlock(&s->queue_lock);
        do_job(s, job);
        pthread_mutex_lock(&s->queue_lock);
        list_push(&s->finished, job);
        s->unfinished--;
        pthread_cond_signal(&s->idle);
        pthread_mutex_unlock(&s->queue_lock);
        uint64_t one = 1;
        CHECK(write(s->event_fd, &one, sizeof one) == sizeof one);
        shorten_log(s);
        pthread_mutex_lock(&s->queue_lock);
    }
    pthread_mutex_unlock(&s->queue_lock);
    return NULL;
}

/* ---- the port ---- */

static void sqlite_append(void *ctx, const struct store_record *records, uint32_t count,
                          store_done *done, void *arg)
{
    struct sqlite *s = ctx;
    CHECK(count > 0);
    struct job *job = mem_alloc(sizeof *job);
    buf_init(&job->bytes, APPEND_BYTES_MAX);
    job->lens = mem_alloc(sizeof *job->lens * count);
    job->count = count;
    job->first_seq = records[0].seq;
    job->done = done;
    job->arg = arg;
    CHECK(job->first_seq == s->appended_seq + 1);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(records[i].seq == job->first_seq + i);
        job->lens[i] = records[i].bytes.len;
        buf_str(&job->bytes, records[i].bytes);
    }
    CHECK(!job->bytes.full);
    s->appended_seq += count;
    pthread_mutex_lock(&s->queue_lock);
    list_push(&s->waiting, job);
    s->unfinished++;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->queue_lock);
}

static void sqlite_poll(void *ctx)
{
    struct sqlite *s = ctx;
    uint64_t counted;
    while (read(s->event_fd, &counted, sizeof counted) < 0 && errno == EINTR) {
    }
    for (;;) {
        pthread_mutex_lock(&s->queue_lock);
        struct job *job = list_pop(&s->finished);
        pthread_mutex_unlock(&s->queue_lock);
        if (job == NULL) {
            return;
        }
        if (job->status != STATUS_OK && s->appended_seq >= job->first_seq) {
            s->appended_seq = job->first_seq - 1; /* these numbers were not used */
        }
        job->done(job->arg, job->status, &job->err);
        job_free(job);
    }
}

static void sqlite_wait(void *ctx)
{
    struct sqlite *s = ctx;
    pthread_mutex_lock(&s->queue_lock);
    while (s->unfinished > 0) {
        pthread_cond_wait(&s->idle, &s->queue_lock);
    }
    pthread_mutex_unlock(&s->queue_lock);
    sqlite_poll(s);
}

static enum status chain_broken(struct sqlite *s, int64_t seq, const char *what, struct err *err)
{
    err_set(err, STATUS_CORRUPT, "%s, table journal: record %lld %s", s->path, (long long)seq,
            what);
    return err_hint(err, "copy the data directory aside, check the disk, restore a backup of it; "
                         "nothing was changed");
}

/* The check of record `after`, with which the chain of the following ones begins. */
static enum status chain_at(struct sqlite *s, int64_t after, uint64_t *chain, struct err *err)
{
    *chain = 0;
    if (after == 0) {
        return STATUS_OK;
    }
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT \"check\" FROM journal WHERE seq = ?1", -1, &stmt,
                                NULL);
    rc = rc != SQLITE_OK ? rc : sqlite3_bind_int64(stmt, 1, after);
    rc = rc != SQLITE_OK ? rc : sqlite3_step(stmt);
    enum status status = STATUS_OK;
    if (rc == SQLITE_DONE) {
        status = chain_broken(s, after, "is missing", err);
    } else if (rc != SQLITE_ROW) {
        status = fail(s, rc, "read", err);
    } else if (!get_u64(stmt, 0, chain)) {
        status = chain_broken(s, after, "has a damaged check", err);
    }
    sqlite3_finalize(stmt);
    return status;
}

static enum status read_row(struct sqlite *s, sqlite3_stmt *stmt, int64_t seq, uint64_t *chain,
                            struct str *body, struct err *err)
{
    if (sqlite3_column_int64(stmt, 0) != seq) {
        return chain_broken(s, seq, "is missing, and later ones are there", err);
    }
    body->ptr = sqlite3_column_blob(stmt, 1);
    body->len = (uint32_t)sqlite3_column_bytes(stmt, 1);
    uint64_t want;
    *chain = chain_next(*chain, seq, body->ptr, body->len);
    if (!get_u64(stmt, 2, &want) || want != *chain) {
        return chain_broken(s, seq, "fails its check: it, or the one before, was changed", err);
    }
    return STATUS_OK;
}

static enum status sqlite_read(void *ctx, int64_t after, store_visit *visit, void *arg,
                               struct err *err)
{
    struct sqlite *s = ctx;
    pthread_mutex_lock(&s->db_lock);
    uint64_t chain;
    enum status status = chain_at(s, after, &chain, err);
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(
        s->db, "SELECT seq, body, \"check\" FROM journal WHERE seq > ?1 ORDER BY seq", -1, &stmt,
        NULL);
    rc = rc != SQLITE_OK ? rc : sqlite3_bind_int64(stmt, 1, after);
    int64_t seq = after;
    while (status == STATUS_OK && rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct str body = {0};
        status = read_row(s, stmt, ++seq, &chain, &body, err);
        status = status == STATUS_OK ? visit(arg, seq, body, err) : status;
        rc = SQLITE_OK;
    }
    if (status == STATUS_OK && rc != SQLITE_DONE) {
        status = fail(s, rc, "read", err);
        err_wrap(err, "after record %lld", (long long)seq);
    }
    sqlite3_finalize(stmt);
    pthread_mutex_unlock(&s->db_lock);
    return status;
}

static int put_checkpoint(struct sqlite *s, sqlite3_stmt *stmt, int64_t seq, uint64_t hash,
                          struct str bytes)
{
    uint8_t hash_text[8];
    put_u64(hash_text, hash);
    sqlite3_bind_int64(stmt, 1, seq);
    sqlite3_bind_blob(stmt, 2, hash_text, 8, SQLITE_STATIC);
    sqlite3_bind_blob64(stmt, 3, bytes.len != 0 ? bytes.ptr : "", bytes.len, SQLITE_STATIC);
    int rc = step_once(s->stmts[BEGIN]);
    rc = rc != SQLITE_OK ? rc : step_once(stmt);
    char drop_old[160];
    snprintf(drop_old, sizeof drop_old,
             "DELETE FROM checkpoint WHERE seq NOT IN "
             "(SELECT seq FROM checkpoint ORDER BY seq DESC LIMIT %d)",
             CHECKPOINTS_KEPT);
    rc = rc != SQLITE_OK ? rc : sqlite3_exec(s->db, drop_old, NULL, NULL, NULL);
    rc = rc != SQLITE_OK ? rc : step_once(s->stmts[COMMIT]);
    return rc;
}

static enum status sqlite_checkpoint(void *ctx, int64_t seq, uint64_t hash, struct str bytes,
                                     struct err *err)
{
    struct sqlite *s = ctx;
    pthread_mutex_lock(&s->db_lock);
    enum status status = STATUS_OK;
    if (s->failed) {
        status = err_set(err, STATUS_BUSY, "%s could not be written, and was not opened anew yet",
                         s->path);
    } else {
        sqlite3_stmt *stmt = NULL;
        int rc = sqlite3_prepare_v2(
            s->db, "INSERT OR REPLACE INTO checkpoint(seq, hash, body) VALUES(?1, ?2, ?3)", -1,
            &stmt, NULL);
        rc = rc != SQLITE_OK ? rc : put_checkpoint(s, stmt, seq, hash, bytes);
        if (rc != SQLITE_OK) {
            status = fail(s, rc, "write a checkpoint to", err);
            if (!sqlite3_get_autocommit(s->db)) {
                step_once(s->stmts[ROLLBACK]);
            }
        }
        sqlite3_finalize(stmt);
    }
    pthread_mutex_unlock(&s->db_lock);
    return status;
}

static enum status sqlite_latest(void *ctx, struct arena *arena, int64_t *seq, uint64_t *hash,
                                 struct str *bytes, struct err *err)
{
    struct sqlite *s = ctx;
    pthread_mutex_lock(&s->db_lock);
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(
        s->db, "SELECT seq, hash, body FROM checkpoint ORDER BY seq DESC LIMIT 1", -1, &stmt, NULL);
    rc = rc == SQLITE_OK ? sqlite3_step(stmt) : rc;
    enum status status = STATUS_OK;
    if (rc == SQLITE_DONE) {
        *seq = 0;
        *hash = 0;
        *bytes = (struct str){0};
    } else if (rc != SQLITE_ROW) {
        status = fail(s, rc, "read", err);
    } else if (!get_u64(stmt, 1, hash)) {
        status = err_set(err, STATUS_CORRUPT, "%s, table checkpoint: the hash of %lld is damaged",
                         s->path, (long long)sqlite3_column_int64(stmt, 0));
    } else {
        *seq = sqlite3_column_int64(stmt, 0);
        *bytes = arena_str(arena, (struct str){sqlite3_column_blob(stmt, 2),
                                               (uint32_t)sqlite3_column_bytes(stmt, 2)});
    }
    sqlite3_finalize(stmt);
    pthread_mutex_unlock(&s->db_lock);
    return status;
}

/* ---- opening and closing ---- */

static enum status open_all(struct sqlite *s, struct sqlite_report *report, struct err *err)
{
    char wal_path[PATH_MAX_LEN + 8];
    snprintf(wal_path, sizeof wal_path, "%s-wal", s->path);
    struct wal_scan scan = {0};
    enum status status = wal_scan(wal_path, &scan, err);
    if (status != STATUS_OK) {
        return status;
    }
    status = db_open(s, &report->created, err);
    status = status != STATUS_OK ? status : read_end(s, err);
    if (status != STATUS_OK) {
        return status;
    }
    int rc = query_i64(s->db, "SELECT max(seq) FROM checkpoint", &report->checkpoint_seq);
    if (rc != SQLITE_OK) {
        return fail(s, rc, "read", err);
    }
    report->last_seq = s->last_seq;
    report->torn_bytes = scan.torn_bytes;
    report->torn_at = scan.torn_bytes != 0 ? scan.keep_bytes : 0;
    return STATUS_OK;
}

static enum status start_writer(struct sqlite *s, struct err *err)
{
    s->appended_seq = s->last_seq;
    int rc = pthread_create(&s->writer, NULL, writer_main, s);
    s->writer_runs = rc == 0;
    return rc == 0 ? STATUS_OK : err_set(err, STATUS_IO, "cannot start a thread: %s", strerror(rc));
}

static enum status open_store(const char *path, bool reads, struct store *out,
                              struct sqlite_report *report, struct err *err)
{
    if (strlen(path) > PATH_MAX_LEN) {
        return err_set(err, STATUS_INVALID, "the path of the database is longer than %d bytes",
                       PATH_MAX_LEN);
    }
    struct sqlite *s = mem_alloc(sizeof *s);
    struct sqlite_report found = {0};
    s->reads = reads;
    snprintf(s->path, sizeof s->path, "%s", path);
    pthread_mutex_init(&s->db_lock, NULL);
    pthread_mutex_init(&s->queue_lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->idle, NULL);
    struct store store = {
        .ctx = s,
        .append = reads ? NULL : sqlite_append,
        .poll = sqlite_poll,
        .wait = sqlite_wait,
        .read = sqlite_read,
        .checkpoint = reads ? NULL : sqlite_checkpoint,
        .latest = sqlite_latest,
    };
    s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum status status = STATUS_OK;
    if (s->event_fd < 0) {
        status = err_set(err, STATUS_IO, "eventfd: %s", strerror(errno));
    }
    mode_t old_mask = umask(077); /* what teams run is nobody else's business */
    status = status != STATUS_OK ? status : open_all(s, &found, err);
    umask(old_mask);
    status = status != STATUS_OK || reads ? status : start_writer(s, err);
    if (status != STATUS_OK) {
        sqlite_close(&store);
        return status;
    }
    *out = store;
    *report = found;
    return STATUS_OK;
}

enum status sqlite_open(const char *path, struct store *out, struct sqlite_report *report,
                        struct err *err)
{
    return open_store(path, false, out, report, err);
}

enum status sqlite_open_reader(const char *path, struct store *out, struct sqlite_report *report,
                               struct err *err)
{
    return open_store(path, true, out, report, err);
}

int sqlite_fd(const struct store *s)
{
    return ((const struct sqlite *)s->ctx)->event_fd;
}

static enum status drop_unacknowledged(struct sqlite *s, int64_t acknowledged, struct err *err)
{
    char sql[128];
    snprintf(sql, sizeof sql, "DELETE FROM journal WHERE seq > %lld", (long long)acknowledged);
    int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    /* Empties the log too: nothing of the failed attempt is left for a later recovery to judge. */
    rc = rc != SQLITE_OK
             ? rc
             : sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return rc == SQLITE_OK ? STATUS_OK : fail(s, rc, "write", err);
}

enum status sqlite_reopen(struct store *store, struct err *err)
{
    struct sqlite *s = store->ctx;
    pthread_mutex_lock(&s->db_lock);
    int64_t acknowledged = s->last_seq;
    uint64_t chain = s->chain;
    s->failed = true;
    db_close(s);
    bool is_new = false;
    enum status status = db_open(s, &is_new, err);
    status = status != STATUS_OK ? status : drop_unacknowledged(s, acknowledged, err);
    status = status != STATUS_OK ? status : read_end(s, err);
    if (status == STATUS_OK && (s->last_seq != acknowledged || s->chain != chain)) {
        status = err_set(err, STATUS_CORRUPT, "%s ends at record %lld, acknowledged was %lld",
                         s->path, (long long)s->last_seq, (long long)acknowledged);
    }
    s->last_seq = acknowledged;
    s->chain = chain;
    s->failed = status != STATUS_OK;
    pthread_mutex_unlock(&s->db_lock);
    return status;
}

void sqlite_close(struct store *store)
{
    struct sqlite *s = store->ctx;
    if (s == NULL) {
        return;
    }
    if (s->writer_runs) {
        sqlite_wait(s);
        pthread_mutex_lock(&s->queue_lock);
        s->stop = true;
        pthread_cond_signal(&s->work);
        pthread_mutex_unlock(&s->queue_lock);
        pthread_join(s->writer, NULL);
    }
    db_close(s);
    if (s->event_fd >= 0) {
        close(s->event_fd);
    }
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->idle);
    pthread_mutex_destroy(&s->queue_lock);
    pthread_mutex_destroy(&s->db_lock);
    mem_free(s);
    store->ctx = NULL;
}
