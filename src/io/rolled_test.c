// SPDX-License-Identifier: Apache-2.0
#include "io/rolled.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test.h"
#include "io/file.h"

struct place {
    int dir_fd;
    char path[4096];
    struct rolled_writer writer;
};

static void place_open(struct place *p)
{
    const char *dir = test_tmp_dir();
    p->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(p->dir_fd >= 0);
    (void)snprintf(p->path, sizeof(p->path), "%s/log", dir);
    rolled_writer_open(&p->writer, p->dir_fd, "log");
}

static void place_close(struct place *p)
{
    file_close(&p->writer.fd);
    file_close(&p->dir_fd);
}

static void add(struct place *p, const char *text)
{
    EXPECT(rolled_writer_add(&p->writer, str_from_c(text)));
}

/* All that can be read from there on. */
static struct str rest(const struct rolled *r, int64_t at)
{
    static char text[4096];
    uint32_t len = 0;
    for (size_t n; (n = rolled_read(r, text + len, 7, at)) > 0; at += (int64_t)n) {
        len += (uint32_t)n;
    }
    return (struct str){text, len};
}

TEST(what_is_not_there_is_empty)
{
    struct rolled r;
    rolled_open(&r, "/nonexistent/log");
    EXPECT_I64(rolled_end(&r), 0);
    EXPECT_STR(rest(&r, 0), STR(""));
    EXPECT_I64(rolled_tail(&r, 3, 100), 0);
    EXPECT(!rolled_is_old(&r, "/nonexistent/log"));
    rolled_close(&r);
}

TEST(positions_stay_when_parts_are_put_aside_and_dropped)
{
    struct place p;
    struct rolled r, before;
    place_open(&p);
    add(&p, "one\ntwo\n");
    rolled_open(&before, p.path);
    rolled_writer_next(&p.writer);
    EXPECT(rolled_is_old(&before, p.path));
    EXPECT_STR(rest(&before, 4), STR("two\n"));
    rolled_close(&before);
    add(&p, "three\nfour\n");
    rolled_open(&r, p.path);
    EXPECT_I64(r.first, 0);
    EXPECT_I64(r.from, 8);
    EXPECT_I64(rolled_end(&r), 19);
    EXPECT_STR(rest(&r, 0), STR("one\ntwo\nthree\nfour\n"));
    EXPECT_STR(rest(&r, 10), STR("ree\nfour\n"));
    rolled_writer_next(&p.writer);
    EXPECT_STR(rest(&r, 4), STR("two\nthree\nfour\n")); /* dropped by now */
    rolled_close(&r);
    /* As after a restart of the one who writes, too. */
    file_close(&p.writer.fd);
    rolled_writer_open(&p.writer, p.dir_fd, "log");
    add(&p, "five");
    rolled_open(&r, p.path);
    EXPECT_I64(r.first, 8);
    EXPECT_I64(r.from, 19);
    EXPECT_STR(rest(&r, 8), STR("three\nfour\nfive"));
    rolled_close(&r);
    struct stat st;
    EXPECT(fstatat(p.dir_fd, "log.8", &st, 0) != 0 && fstatat(p.dir_fd, "log.19", &st, 0) == 0);
    place_close(&p);
}

TEST(the_last_lines_may_be_in_both_parts)
{
    static const struct {
        int64_t lines, bytes_max, want;
    } rows[] = {
        {0,   100, 19},
        {1,   100, 14},
        {2,   100, 8 },
        {3,   100, 4 },
        {4,   100, 0 },
        {9,   100, 0 },
        {100, 3,   8 }, /* by whole pieces */
    };
    struct place p;
    struct rolled r;
    place_open(&p);
    add(&p, "one\ntwo\n");
    rolled_writer_next(&p.writer);
    add(&p, "three\nfour\n");
    rolled_open(&r, p.path);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        EXPECT_I64(rolled_tail(&r, rows[i].lines, rows[i].bytes_max), rows[i].want);
    }
    rolled_close(&r);
    rolled_writer_next(&p.writer); /* the part that is written is empty */
    rolled_open(&r, p.path);
    EXPECT_I64(rolled_tail(&r, 1, 100), 14);
    rolled_close(&r);
    place_close(&p);
}

TEST(a_part_that_cannot_be_begun_is_begun_later)
{
    struct place p;
    place_open(&p);
    add(&p, "one\n");
    rolled_writer_next(&p.writer);
    file_close(&p.writer.fd); /* as if there had been no room for it */
    add(&p, "two\n");
    struct rolled r;
    rolled_open(&r, p.path);
    EXPECT_STR(rest(&r, 0), STR("one\ntwo\n"));
    rolled_close(&r);
    place_close(&p);
}

/* Each byte of the output tells its position, modulo 251. */
enum { PARTS = 3000, PART = 512 };

struct race {
    struct place place;
    atomic_bool over;
};

static void *write_parts(void *arg)
{
    struct race *race = arg;
    for (int part = 0; part < PARTS; part++) {
        char bytes[PART];
        for (int i = 0; i < PART; i++) {
            bytes[i] = (char)((part * PART + i) % 251);
        }
        (void)!rolled_writer_add(&race->place.writer, (struct str){bytes, PART});
        rolled_writer_next(&race->place.writer);
    }
    atomic_store(&race->over, true);
    return NULL;
}

TEST(whoever_reads_while_parts_are_put_aside_reads_what_stands_there)
{
    struct race race = {0};
    pthread_t thread;
    place_open(&race.place);
    REQUIRE(pthread_create(&thread, NULL, write_parts, &race) == 0);
    int64_t wrong = 0;
    int64_t read = 0;
    for (bool last = false; !last;) {
        struct rolled r;
        char piece[PART];
        last = atomic_load(&race.over);
        rolled_open(&r, race.place.path);
        int64_t at = r.first;
        for (size_t n; (n = rolled_read(&r, piece, sizeof piece, at)) > 0; at += (int64_t)n) {
            for (size_t i = 0; i < n; i++) {
                wrong += (unsigned char)piece[i] != (at + (int64_t)i) % 251;
            }
            read += (int64_t)n;
        }
        rolled_close(&r);
    }
    REQUIRE(pthread_join(thread, NULL) == 0);
    EXPECT_I64(wrong, 0);
    EXPECT(read > 0);
    place_close(&race.place);
}

TEST_MAIN()
