// SPDX-License-Identifier: Apache-2.0
// A log is a header and frames, one page each, under a checksum that runs through all of them. A
// frame that names the database's size ends a transaction. SQLite stops at the first frame whose
// salt or checksum is wrong and keeps what was committed before it. Each transaction is synced
// before the next begins, so a crash leaves at most one unfinished: two ends of transactions behind
// a bad frame mean that the disk lost something that had been acknowledged.
#include "adapters/sqlite/wal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    HEADER_BYTES = 32,
    FRAME_BYTES = 24,
    MAGIC_LITTLE = 0x377f0682, /* checksums over little-endian words */
    MAGIC_BIG = 0x377f0683,
    PAGE_MAX = 65536,
};

struct sums {
    uint32_t s0, s1;
};

static uint32_t get_be(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t get_le(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

WRAPS static struct sums sums_add(struct sums s, const uint8_t *p, size_t len, bool big)
{
    for (size_t i = 0; i + 8 <= len; i += 8) {
        s.s0 += (big ? get_be(p + i) : get_le(p + i)) + s.s1;
        s.s1 += (big ? get_be(p + i + 4) : get_le(p + i + 4)) + s.s0;
    }
    return s;
}

/* Reads up to len bytes at offset; fewer only at the end of the file. -1 on error. */
static int64_t read_at(int fd, void *into, size_t len, int64_t offset)
{
    size_t got = 0;
    while (got < len) {
        ssize_t n = pread(fd, (char *)into + got, len - got, offset + (int64_t)got);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        if (n == 0) {
            break;
        }
        got += (size_t)n;
    }
    return (int64_t)got;
}

struct log {
    const char *path;
    int fd;
    uint8_t header[HEADER_BYTES];
    bool big;
    size_t page;
    uint8_t *frame; /* [FRAME_BYTES + page] */
};

static enum status scan_frames(struct log *log, struct wal_scan *out, struct err *err)
{
    struct sums sums = sums_add((struct sums){0, 0}, log->header, 24, log->big);
    int64_t at = HEADER_BYTES;
    int64_t bad_at = 0; /* where the first wrong frame is; 0: none yet */
    int64_t lost_commits = 0;
    int64_t end = HEADER_BYTES; /* behind the last frame of this generation */
    size_t frame_len = FRAME_BYTES + log->page;
    out->keep_bytes = HEADER_BYTES;
    for (;;) {
        int64_t got = read_at(log->fd, log->frame, frame_len, at);
        if (got < 0) {
            return err_set(err, STATUS_IO, "cannot read %s at byte %lld: %s", log->path,
                           (long long)at, strerror(errno));
        }
        bool ours = got >= FRAME_BYTES && memcmp(log->frame + 8, log->header + 16, 8) == 0;
        if (got < (int64_t)frame_len) {
            if (ours || (bad_at == 0 && got > 0)) {
                end = at + got;
            }
            break;
        }
        if (bad_at == 0) {
            struct sums next = sums_add(sums, log->frame, 8, log->big);
            next = sums_add(next, log->frame + FRAME_BYTES, log->page, log->big);
            if (ours && get_be(log->frame + 16) == next.s0 && get_be(log->frame + 20) == next.s1) {
                sums = next;
                end = at + (int64_t)frame_len;
                if (get_be(log->frame + 4) != 0) {
                    out->commits++;
                    out->keep_bytes = end;
                }
            } else {
                bad_at = at;
            }
        }
        if (bad_at != 0 && ours) {
            end = at + (int64_t)frame_len;
            lost_commits += get_be(log->frame + 4) != 0;
        }
        at += (int64_t)frame_len;
    }
    if (lost_commits > 1) {
        err_set(err, STATUS_CORRUPT,
                "%s is damaged at byte %lld, and %lld acknowledged transactions lie behind it",
                log->path, (long long)bad_at, (long long)lost_commits);
        return err_hint(err, "copy the data directory aside, check the disk, restore a backup of "
                             "it; nothing was changed");
    }
    out->torn_bytes = end - out->keep_bytes;
    return STATUS_OK;
}

static enum status scan_header(struct log *log, struct wal_scan *out, struct err *err)
{
    int64_t got = read_at(log->fd, log->header, HEADER_BYTES, 0);
    if (got < 0) {
        return err_set(err, STATUS_IO, "cannot read %s: %s", log->path, strerror(errno));
    }
    static const uint8_t zeros[HEADER_BYTES];
    if (got < HEADER_BYTES || memcmp(log->header, zeros, HEADER_BYTES) == 0) {
        return STATUS_OK; /* made, and nothing written yet */
    }
    uint32_t magic = get_be(log->header);
    log->big = magic == MAGIC_BIG;
    log->page = get_be(log->header + 8);
    struct sums sums = sums_add((struct sums){0, 0}, log->header, 24, log->big);
    if ((magic != MAGIC_LITTLE && magic != MAGIC_BIG) || log->page < 512 || log->page > PAGE_MAX ||
        get_be(log->header + 24) != sums.s0 || get_be(log->header + 28) != sums.s1) {
        err_set(err, STATUS_CORRUPT, "%s is damaged at byte 0: its header fails its check",
                log->path);
        return err_hint(err, "copy the data directory aside, check the disk, restore a backup of "
                             "it; nothing was changed");
    }
    log->frame = mem_alloc(FRAME_BYTES + log->page);
    enum status status = scan_frames(log, out, err);
    mem_free(log->frame);
    return status;
}

enum status wal_scan(const char *path, struct wal_scan *out, struct err *err)
{
    struct wal_scan found = {0};
    struct log log = {.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (log.fd < 0 && errno != ENOENT) {
        return err_set(err, STATUS_IO, "cannot open %s: %s", path, strerror(errno));
    }
    enum status status = STATUS_OK;
    if (log.fd >= 0) {
        status = scan_header(&log, &found, err);
        close(log.fd);
    }
    if (status == STATUS_OK) {
        *out = found;
    }
    return status;
}
