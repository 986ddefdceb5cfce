// SPDX-License-Identifier: Apache-2.0
#include "cmd/serve_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "io/clock.h"
#include "io/file.h"

enum { PEM_BYTES_MAX = 1 << 20, CERTIFICATE_DAYS = 3650 };
#define TLS_CERTIFICATE "tls-cert.pem"
#define TLS_KEY         "tls-key.pem"

struct data {
    const struct serve_settings *settings;
    struct arena *arena;
    int dir_fd;
};

/* STATUS_UNKNOWN: it is not there. */
static enum status read_secret(struct data *d, const char *name, struct str *out, struct err *err)
{
    struct stat st;
    struct buf pem;
    buf_init(&pem, PEM_BYTES_MAX);
    enum status status = file_read(d->dir_fd, name, &pem, err);
    if (status == STATUS_OK && fstatat(d->dir_fd, name, &st, 0) == 0 && (st.st_mode & 077) != 0) {
        struct str dir = d->settings->data_dir;
        status = err_set(err, STATUS_DENIED, "others may read " STR_FMT "/%s (its mode is %03o)",
                         STR_ARG(dir), name, st.st_mode & 0777u);
        err_hint(err, "chmod 600 it; if it was read, remove it to have a new one made");
    }
    *out = arena_str(d->arena, buf_view(&pem));
    buf_done(&pem);
    return status;
}

static enum status write_secret(struct data *d, const char *name, const struct buf *pem,
                                struct str *out, struct err *err)
{
    *out = arena_str(d->arena, buf_view(pem));
    return file_write(d->dir_fd, name, *out, 0600, true, err);
}

static enum status open_token_key(struct data *d, struct crypto_key **out, struct err *err)
{
    static const char name[] = "token-key.pem";
    struct str text;
    enum status status = read_secret(d, name, &text, err);
    if (status == STATUS_UNKNOWN) {
        struct buf pem;
        buf_init(&pem, PEM_BYTES_MAX);
        status = crypto_key_new(out, err);
        if (status == STATUS_OK) {
            crypto_key_write(*out, &pem);
            status = write_secret(d, name, &pem, &text, err);
        }
        buf_done(&pem);
        return status;
    }
    if (status == STATUS_OK && crypto_key_read(text, out, err) != STATUS_OK) {
        status = STATUS_INVALID;
        err_wrap(err, STR_FMT "/%s", STR_ARG(d->settings->data_dir), name);
        err_hint(err, "remove it to have a new one made; everybody signs in anew then");
    }
    return status;
}

/* For this machine's name, the address it listens on, and this machine itself. */
static enum status make_certificate(struct data *d, struct serve_keys *out, struct err *err)
{
    const struct serve_settings *s = d->settings;
    struct buf certificate, key;
    struct str host = s->listen;
    uint32_t colon = host.len;
    while (colon > 0 && host.ptr[colon - 1] != ':') {
        colon--;
    }
    host = str_sub(host, 0, colon > 0 ? colon - 1 : 0);
    if (str_starts(host, STR("[")) && str_ends(host, STR("]"))) {
        host = str_sub(host, 1, host.len - 2);
    }
    struct str names = arena_printf(d->arena, "localhost,127.0.0.1,::1," STR_FMT "%s" STR_FMT,
                                    STR_ARG(s->node_name), host.len > 0 ? "," : "", STR_ARG(host));
    buf_init(&certificate, PEM_BYTES_MAX);
    buf_init(&key, PEM_BYTES_MAX);
    enum status status = crypto_self_signed(names, clock_wall_ms(), CERTIFICATE_DAYS, &certificate,
                                            &key, err);
    status = status != STATUS_OK ? status
                                 : write_secret(d, TLS_KEY, &key, &out->certificate_key, err);
    status = status != STATUS_OK
                 ? status
                 : write_secret(d, TLS_CERTIFICATE, &certificate, &out->certificate, err);
    buf_done(&certificate);
    buf_done(&key);
    return status;
}

static enum status open_self_signed(struct data *d, struct serve_keys *out, struct err *err)
{
    enum status status = read_secret(d, TLS_CERTIFICATE, &out->certificate, err);
    if (status == STATUS_UNKNOWN) {
        return make_certificate(d, out, err);
    }
    return status != STATUS_OK ? status : read_secret(d, TLS_KEY, &out->certificate_key, err);
}

static enum status read_pem(struct str path, struct arena *arena, struct str *out, struct err *err)
{
    struct buf pem;
    buf_init(&pem, PEM_BYTES_MAX);
    enum status status = file_read(AT_FDCWD, arena_cstr(arena, path), &pem, err);
    *out = arena_str(arena, buf_view(&pem));
    buf_done(&pem);
    return status;
}

static bool is_loopback(struct str listen)
{
    return str_starts(listen, STR("127.")) || str_starts(listen, STR("[::1]")) ||
           str_starts(listen, STR("localhost:")) || str_starts(listen, STR(":"));
}

static enum status open_certificate(struct data *d, struct serve_keys *out, struct err *err)
{
    const struct serve_settings *s = d->settings;
    struct arena *arena = d->arena;
    struct str rest = s->tls;
    struct str certificate;
    if (rest.len == 0 && !is_loopback(s->listen)) {
        err_set(err, STATUS_INVALID,
                "passwords and tokens would be readable on their way to " STR_FMT,
                STR_ARG(s->listen));
        return err_hint(err, "give --tls CERTIFICATE,KEY or --tls self-signed; --tls off if "
                             "something in front of it speaks TLS");
    }
    if (rest.len == 0 || str_eq(rest, STR("off"))) {
        return STATUS_OK;
    }
    if (str_eq(rest, STR("self-signed"))) {
        return open_self_signed(d, out, err);
    }
    if (!str_split(&rest, ',', &certificate) || rest.len == 0) {
        err_set(err, STATUS_INVALID,
                "--tls: expected CERTIFICATE,KEY, self-signed or off, got \"" STR_FMT "\"",
                STR_ARG(str_clip(s->tls, 100)));
        return STATUS_INVALID;
    }
    enum status status = read_pem(certificate, arena, &out->certificate, err);
    return status != STATUS_OK ? status : read_pem(rest, arena, &out->certificate_key, err);
}

static enum status open_idp_ca(struct data *d, struct serve_keys *out, struct err *err)
{
    static const char mark[] = "-----BEGIN CERTIFICATE-----";
    struct str path = d->settings->idp_ca;
    if (path.len == 0) {
        return STATUS_OK;
    }
    enum status status = read_pem(path, d->arena, &out->idp_ca, err);
    if (status == STATUS_OK &&
        memmem(out->idp_ca.ptr, out->idp_ca.len, mark, sizeof mark - 1) == NULL) {
        status = err_set(err, STATUS_INVALID, "--idp-ca: " STR_FMT " has no certificate in PEM",
                         STR_ARG(path));
    }
    return status;
}

enum status serve_keys_open(const struct serve_settings *settings, struct arena *arena,
                            struct serve_keys *out, struct err *err)
{
    struct data d = {settings, arena, -1};
    *out = (struct serve_keys){0};
    d.dir_fd = open(arena_cstr(arena, settings->data_dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d.dir_fd < 0) {
        return err_set(err, STATUS_IO, "cannot open " STR_FMT ": %s", STR_ARG(settings->data_dir),
                       strerror(errno));
    }
    enum status status = open_certificate(&d, out, err);
    status = status != STATUS_OK ? status : open_idp_ca(&d, out, err);
    status = status != STATUS_OK ? status : open_token_key(&d, &out->token, err);
    file_close(&d.dir_fd);
    return status;
}
