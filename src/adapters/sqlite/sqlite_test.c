// SPDX-License-Identifier: Apache-2.0
// What the file must survive: kill -9 at any moment, a log cut anywhere, damage anywhere, a full
// disk. The rows every store passes are in tests/conformance.
#include "adapters/sqlite/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/sqlite/wal.h"
#include "base/arena.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/prng.h"
#include "base/test.h"

enum { BODY_MAX = 9000 };

/* The body of record seq is a function of seq, so that what is read can be judged without a list. */
static struct str body_of(int64_t seq, char out[BODY_MAX])
{
    struct prng p;
    prng_init(&p, (uint64_t)seq);
    uint32_t len = seq % 17 == 0 ? prng_below(&p, BODY_MAX) : prng_below(&p, 300);
    for (uint32_t i = 0; i < len; i++) {
        out[i] = (char)(seq + i);
    }
    return (struct str){out, len};
}

struct acks {
    int64_t last;
    uint32_t failed;
    struct err err;
};

static void on_done(void *arg, enum status status, const struct err *err)
{
    struct acks *acks = arg;
    if (status == STATUS_OK) {
        acks->last++;
    } else {
        acks->failed++;
        acks->err = *err;
    }
}

/* Appends the records first to last in one group. */
static void append(struct store *s, int64_t first, int64_t last, struct acks *acks)
{
    enum { MAX = 64 };
    static char bodies[MAX][BODY_MAX];
    struct store_record records[MAX];
    uint32_t count = (uint32_t)(last - first + 1);
    CHECK(count <= MAX);
    for (uint32_t i = 0; i < count; i++) {
        records[i] = (struct store_record){first + i, body_of(first + i, bodies[i])};
    }
    s->append(s->ctx, records, count, on_done, acks);
}

static void append_ok(struct store *s, int64_t first, int64_t last)
{
    struct acks acks = {0};
    append(s, first, last, &acks);
    s->wait(s->ctx);
    test_row(acks.err.text);
    REQUIRE(acks.last == 1 && acks.failed == 0);
    test_row(NULL);
}

static enum status check_row(void *arg, int64_t seq, struct str bytes, struct err *err)
{
    int64_t *count = arg;
    char body[BODY_MAX];
    ++*count;
    if (!str_eq(bytes, body_of(seq, body))) {
        return err_set(err, STATUS_INTERNAL, "record %lld has another body", (long long)seq);
    }
    return STATUS_OK;
}

static enum status read_all(struct store *s, int64_t after, int64_t *count, struct err *err)
{
    *count = 0;
    return s->read(s->ctx, after, check_row, count, err);
}

static const char *path_in(const char *dir, const char *name)
{
    static char paths[64][512];
    static uint32_t next;
    CHECK(next < COUNT_OF(paths));
    char *path = paths[next++];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static void copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(in >= 0 && out >= 0);
    static char bytes[65536];
    ssize_t n;
    while ((n = read(in, bytes, sizeof bytes)) > 0) {
        REQUIRE(write(out, bytes, (size_t)n) == n);
    }
    close(in);
    close(out);
}

static int64_t file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

static void flip_byte(const char *path, int64_t at)
{
    int fd = open(path, O_RDWR);
    REQUIRE(fd >= 0);
    uint8_t b;
    REQUIRE(pread(fd, &b, 1, at) == 1);
    b ^= 0x40;
    REQUIRE(pwrite(fd, &b, 1, at) == 1);
    close(fd);
}

static void sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

/* ---- killed at any moment ---- */

static NORETURN void crash_child(const char *path, int ack_fd, int64_t from, uint64_t seed)
{
    struct store s;
    struct sqlite_report report;
    struct err err;
    if (sqlite_open(path, &s, &report, &err) != STATUS_OK) {
        _exit(3);
    }
    struct prng p;
    prng_init(&p, seed);
    for (int64_t seq = from + 1;;) {
        int64_t last = seq + prng_below(&p, 20);
        struct acks acks = {0};
        append(&s, seq, last, &acks);
        s.wait(s.ctx);
        if (acks.last != 1 || write(ack_fd, &last, sizeof last) != sizeof last) {
            _exit(4);
        }
        if (prng_chance(&p, 50)) {
            enum status status = s.checkpoint(s.ctx, last, (uint64_t)last, STR("state"), &err);
            if (status != STATUS_OK) {
                _exit(5);
            }
        }
        seq = last + 1;
    }
}

TEST(killed_at_any_moment_nothing_acknowledged_is_lost)
{
    const char *path = path_in(test_tmp_dir(), "weir.db");
    struct prng p;
    prng_init(&p, test_seed());
    int64_t stored = 0;
    for (int round = 0; round < 20; round++) {
        int pipe_fds[2];
        REQUIRE(pipe(pipe_fds) == 0);
        pid_t pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0) {
            close(pipe_fds[0]);
            crash_child(path, pipe_fds[1], stored, prng_next(&p));
        }
        close(pipe_fds[1]);
        int64_t acked = stored;
        for (uint32_t n = 1 + prng_below(&p, 40); n > 0; n--) {
            REQUIRE(read(pipe_fds[0], &acked, sizeof acked) == sizeof acked);
        }
        for (volatile uint32_t spin = prng_below(&p, 1000000); spin > 0; spin--) {
        }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        while (read(pipe_fds[0], &acked, sizeof acked) == sizeof acked) {
        }
        close(pipe_fds[0]);

        struct store s;
        struct sqlite_report report;
        struct err err = {0};
        REQUIRE_OK(sqlite_open(path, &s, &report, &err), &err);
        EXPECT(report.last_seq >= acked);
        int64_t count;
        REQUIRE_OK(read_all(&s, 0, &count, &err), &err);
        EXPECT_I64(count, report.last_seq);
        stored = report.last_seq;
        sqlite_close(&s);
    }
}

/* ---- the log: what SQLite drops in silence ---- */

/* A database with a log of ten transactions, copied while open, as a crash would leave it. */
static const char *crashed_copy(void)
{
    const char *dir = test_tmp_dir();
    const char *path = path_in(dir, "live.db");
    struct store s;
    struct sqlite_report report;
    struct err err = {0};
    REQUIRE_OK(sqlite_open(path, &s, &report, &err), &err);
    EXPECT(report.created);
    for (int64_t i = 0; i < 10; i++) {
        append_ok(&s, i * 5 + 1, i * 5 + 5);
    }
    const char *copy = path_in(dir, "weir.db");
    char wal[512];
    char wal_copy[512];
    snprintf(wal, sizeof wal, "%s-wal", path);
    snprintf(wal_copy, sizeof wal_copy, "%s-wal", copy);
    copy_file(path, copy);
    copy_file(wal, wal_copy);
    sqlite_close(&s);
    static char kept[512];
    snprintf(kept, sizeof kept, "%s", copy);
    return kept;
}

enum { FRAME_BYTES = 24 + 4096 };

enum damage { CUT, FLIP };

TEST(a_torn_tail_of_the_log_is_dropped_and_told)
{
    const char *path = crashed_copy();
    char wal[520];
    char whole[520];
    snprintf(wal, sizeof wal, "%s-wal", path);
    snprintf(whole, sizeof whole, "%s.whole", path);
    copy_file(wal, whole);
    struct err err = {0};
    struct wal_scan scan;
    REQUIRE_OK(wal_scan(wal, &scan, &err), &err);
    EXPECT_I64(scan.torn_bytes, 0);
    int64_t end = scan.keep_bytes;
    int64_t frame = FRAME_BYTES;
    const struct {
        const char *name;
        enum damage damage;
        int64_t at;
        enum status want;
        int64_t want_seq; /* -1: any below 50 */
        bool want_torn;
    } rows[] = {
        {"whole",                           FLIP, -1,                  STATUS_OK,      50, false},
        {"last frame cut in its page",      CUT,  end - 100,           STATUS_OK,      45, true },
        {"last frame cut in its header",    CUT,  end - frame + 10,    STATUS_OK,      45, true },
        {"last frame's page changed",       FLIP, end - 100,           STATUS_OK,      45, true },
        {"last frame's checksum changed",   FLIP, end - frame + 17,    STATUS_OK,      45, true },
        {"damage before acknowledged ones", FLIP, 32 + 24 + 9,         STATUS_CORRUPT, 0,  false},
        {"damage in the middle",            FLIP, 32 + frame * 6 + 99, STATUS_CORRUPT, 0,  false},
        {"the header changed",              FLIP, 17,                  STATUS_CORRUPT, 0,  false},
    };
    char db_whole[528];
    snprintf(db_whole, sizeof db_whole, "%s.db-whole", path);
    copy_file(path, db_whole);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        copy_file(db_whole, path);
        copy_file(whole, wal);
        if (rows[i].damage == CUT) {
            REQUIRE(truncate(wal, rows[i].at) == 0);
        } else if (rows[i].at >= 0) {
            flip_byte(wal, rows[i].at);
        }
        struct store s;
        struct sqlite_report report = {0};
        enum status status = sqlite_open(path, &s, &report, &err);
        EXPECT_STATUS(status, rows[i].want);
        if (status != STATUS_OK) {
            EXPECT(strstr(err.text, "-wal") != NULL && strstr(err.text, "byte") != NULL);
            EXPECT(err.hint[0] != '\0');
            EXPECT_I64(file_size(wal), file_size(whole)); /* nothing was touched */
            continue;
        }
        EXPECT_I64(report.last_seq, rows[i].want_seq);
        EXPECT(rows[i].want_torn == (report.torn_bytes > 0));
        int64_t count;
        REQUIRE_OK(read_all(&s, 0, &count, &err), &err);
        EXPECT_I64(count, rows[i].want_seq);
        append_ok(&s, rows[i].want_seq + 1, rows[i].want_seq + 1);
        sqlite_close(&s);
    }
    test_row(NULL);
}

/* ---- damage in the file ---- */

static void filled(const char *path, int64_t records)
{
    struct store s;
    struct sqlite_report report;
    struct err err = {0};
    REQUIRE_OK(sqlite_open(path, &s, &report, &err), &err);
    for (int64_t seq = 1; seq <= records; seq += 50) {
        append_ok(&s, seq, seq + 49);
    }
    sqlite_close(&s);
}

TEST(damage_of_records_stops_the_reading_and_names_the_record)
{
    static const struct {
        const char *name, *sql, *want;
    } rows[] = {
        {"a body changed",      "UPDATE journal SET body = x'01' WHERE seq = 20",            "record 20 fails"     },
        {"a check changed",     "UPDATE journal SET \"check\" = zeroblob(8) WHERE seq = 30",
         "record 30 fails"                                                                                         },
        {"a check of no size",  "UPDATE journal SET \"check\" = x'' WHERE seq = 31",
         "record 31 fails"                                                                                         },
        {"a record lost",       "DELETE FROM journal WHERE seq = 40",                        "record 40 is missing"},
        {"two records swapped",
         "UPDATE journal SET seq = -1 WHERE seq = 7;"
         "UPDATE journal SET seq = 7 WHERE seq = 8;"
         "UPDATE journal SET seq = 8 WHERE seq = -1",                                        "record 7 fails"      },
    };
    const char *dir = test_tmp_dir();
    const char *whole = path_in(dir, "whole.db");
    filled(whole, 100);
    const char *path = path_in(dir, "weir.db");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        copy_file(whole, path);
        sql(path, rows[i].sql);
        struct store s;
        struct sqlite_report report;
        struct err err = {0};
        REQUIRE_OK(sqlite_open(path, &s, &report, &err), &err);
        int64_t count;
        EXPECT_STATUS(read_all(&s, 0, &count, &err), STATUS_CORRUPT);
        EXPECT(strstr(err.text, rows[i].want) != NULL);
        EXPECT(strstr(err.text, path) != NULL);
        EXPECT_STATUS(read_all(&s, 60, &count, &err), STATUS_OK); /* behind it all is well */
        EXPECT_I64(count, 40);
        sqlite_close(&s);
    }
    test_row(NULL);
}

TEST(damaged_pages_never_give_a_wrong_record)
{
    const char *dir = test_tmp_dir();
    const char *whole = path_in(dir, "whole.db");
    filled(whole, 200);
    const char *path = path_in(dir, "weir.db");
    struct prng p;
    prng_init(&p, test_seed());
    uint32_t found = 0;
    for (int round = 0; round < 60; round++) {
        copy_file(whole, path);
        int64_t page = prng_range(&p, 0, file_size(path) / 4096 - 1);
        int fd = open(path, O_RDWR);
        char junk[4096];
        for (size_t i = 0; i < sizeof junk; i++) {
            junk[i] = (char)prng_next(&p);
        }
        size_t len = prng_chance(&p, 500) ? sizeof junk : 1;
        REQUIRE(pwrite(fd, junk, len, page * 4096 + (len == 1 ? prng_range(&p, 0, 4095) : 0)) > 0);
        close(fd);
        struct store s;
        struct sqlite_report report;
        struct err err = {0};
        enum status status = sqlite_open(path, &s, &report, &err);
        if (status == STATUS_OK) {
            int64_t count;
            status = read_all(&s, 0, &count, &err);
            EXPECT(status == STATUS_CORRUPT || (status == STATUS_OK && count == 200));
            sqlite_close(&s);
        }
        EXPECT(status == STATUS_OK || strstr(err.text, path) != NULL);
        found += status != STATUS_OK;
    }
    EXPECT(found > 20);
}

TEST(files_that_are_not_ours_are_refused)
{
    const char *dir = test_tmp_dir();
    struct store s;
    struct sqlite_report report;
    struct err err = {0};

    const char *text = path_in(dir, "text.db");
    FILE *f = fopen(text, "w");
    for (int i = 0; i < 1000; i++) {
        fprintf(f, "not a database\n");
    }
    fclose(f);
    EXPECT_STATUS(sqlite_open(text, &s, &report, &err), STATUS_CORRUPT);

    const char *other = path_in(dir, "other.db");
    sql(other, "CREATE TABLE t(x)");
    EXPECT_STATUS(sqlite_open(other, &s, &report, &err), STATUS_CORRUPT);

    const char *newer = path_in(dir, "newer.db");
    filled(newer, 50);
    sql(newer, "PRAGMA user_version=2");
    EXPECT_STATUS(sqlite_open(newer, &s, &report, &err), STATUS_UNSUPPORTED);

    EXPECT_STATUS(sqlite_open(path_in(dir, "no/such/weir.db"), &s, &report, &err), STATUS_IO);
}

static uint64_t hash_of_file(const char *path)
{
    static char bytes[1 << 20];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, bytes, sizeof bytes);
    REQUIRE(fd >= 0 && n > 0 && n < (ssize_t)sizeof bytes);
    close(fd);
    return hash_bytes(bytes, (size_t)n, 0);
}

TEST(a_reader_reads_all_and_changes_nothing)
{
    const char *dir = test_tmp_dir();
    struct store s;
    struct sqlite_report report;
    struct err err = {0};
    int64_t count;
    struct acks acks = {0};

    const char *closed = path_in(dir, "weir.db");
    filled(closed, 100);
    uint64_t before = hash_of_file(closed);
    REQUIRE_OK(sqlite_open_reader(closed, &s, &report, &err), &err);
    EXPECT_I64(report.last_seq, 100);
    EXPECT(s.append == NULL && s.checkpoint == NULL);
    EXPECT_STATUS(read_all(&s, 40, &count, &err), STATUS_OK);
    EXPECT_I64(count, 60);
    sqlite_close(&s);
    EXPECT(hash_of_file(closed) == before);

    /* One that was not closed: its last records are in the log. */
    const char *open_one = path_in(dir, "open.db");
    const char *left = path_in(dir, "left.db");
    REQUIRE_OK(sqlite_open(open_one, &s, &report, &err), &err);
    append(&s, 1, 50, &acks);
    s.wait(s.ctx);
    copy_file(open_one, left);
    copy_file(path_in(dir, "open.db-wal"), path_in(dir, "left.db-wal"));
    sqlite_close(&s);
    before = hash_of_file(path_in(dir, "left.db-wal"));
    REQUIRE_OK(sqlite_open_reader(left, &s, &report, &err), &err);
    EXPECT_STATUS(read_all(&s, 0, &count, &err), STATUS_OK);
    EXPECT_I64(count, 50);
    sqlite_close(&s);
    EXPECT(hash_of_file(path_in(dir, "left.db-wal")) == before);

    EXPECT_STATUS(sqlite_open_reader(path_in(dir, "none.db"), &s, &report, &err), STATUS_IO);
    const char *empty = path_in(dir, "empty.db");
    REQUIRE(close(open(empty, O_WRONLY | O_CREAT, 0600)) == 0);
    EXPECT_STATUS(sqlite_open_reader(empty, &s, &report, &err), STATUS_CORRUPT);
}

TEST(the_check_of_stored_records_never_changes)
{
    /* Stored in every database there is: another hash would call all of them damaged. */
    EXPECT_I64((int64_t)hash_bytes("weir", 4, hash_u64(1, 0)), INT64_C(8185725479080476364));
}

/* ---- a full disk ---- */

static void fill_and_recover(const char *path, void (*relieve)(const char *dir), const char *dir)
{
    struct store s;
    struct sqlite_report report;
    struct err err = {0};
    REQUIRE_OK(sqlite_open(path, &s, &report, &err), &err);
    struct acks acks = {0};
    int64_t seq = 0;
    while (acks.failed == 0 && seq < 20000) {
        append(&s, seq + 1, seq + 50, &acks);
        s.wait(s.ctx);
        seq += acks.failed == 0 ? 50 : 0;
    }
    REQUIRE(acks.failed == 1);
    EXPECT_STATUS(acks.err.status, STATUS_IO);
    EXPECT(strstr(acks.err.text, path) != NULL);

    append(&s, seq + 1, seq + 1, &acks); /* and it stays so until opened anew */
    s.wait(s.ctx);
    EXPECT_I64(acks.failed, 2);
    int64_t count;
    REQUIRE_OK(read_all(&s, 0, &count, &err), &err); /* reads go on */
    EXPECT_I64(count, seq);

    relieve(dir);
    REQUIRE_OK(sqlite_reopen(&s, &err), &err);
    append_ok(&s, seq + 1, seq + 50);
    REQUIRE_OK(read_all(&s, 0, &count, &err), &err);
    EXPECT_I64(count, seq + 50);
    sqlite_close(&s);
}

static void raise_limit(const char *dir)
{
    (void)dir;
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(a_write_that_fails_loses_nothing_and_recovers)
{
    const char *dir = test_tmp_dir();
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 1000000;
    setrlimit(RLIMIT_FSIZE, &limit);
    fill_and_recover(path_in(dir, "weir.db"), raise_limit, dir);
    raise_limit(dir);
}

static void remove_ballast(const char *dir)
{
    REQUIRE(unlink(path_in(dir, "ballast")) == 0);
}

TEST(a_full_disk_is_said_loses_nothing_and_recovers)
{
    const char *dir = test_tmp_dir();
    if (mount("tmpfs", dir, "tmpfs", 0, "size=4m") != 0) {
        test_skip("needs the right to mount a small file system");
    }
    int fd = open(path_in(dir, "ballast"), O_WRONLY | O_CREAT, 0600);
    static char zeros[3 << 20];
    EXPECT(write(fd, zeros, sizeof zeros) == sizeof zeros);
    close(fd);
    fill_and_recover(path_in(dir, "weir.db"), remove_ballast, dir);

    int full = open(path_in(dir, "rest"), O_WRONLY | O_CREAT, 0600);
    while (write(full, zeros, sizeof zeros) > 0) {
    }
    close(full);
    struct store s;
    struct sqlite_report report;
    struct err err = {0};
    EXPECT_STATUS(sqlite_open(path_in(dir, "new.db"), &s, &report, &err), STATUS_IO);
    EXPECT(strstr(err.text, "disk full") != NULL);
    umount(dir);
}

TEST_MAIN()
