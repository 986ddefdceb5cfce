// SPDX-License-Identifier: Apache-2.0
#include "io/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/num.h"
#include "io/file.h"

enum { BACKLOG = 1024, HOST_MAX = 255 };

static enum status not_an_address(struct str text, struct err *err)
{
    err_set(err, STATUS_INVALID, "\"" STR_FMT "\" is not an address to listen on", STR_ARG(text));
    return err_hint(err, "HOST:PORT, [IPV6]:PORT or :PORT, for instance 127.0.0.1:8470");
}

static enum status split_address(struct str text, char host[HOST_MAX + 1], char port[8],
                                 struct err *err)
{
    uint32_t colon = text.len;
    while (colon > 0 && text.ptr[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return not_an_address(text, err);
    }
    struct str name = str_sub(text, 0, colon - 1);
    int64_t number;
    if (!num_parse_i64(str_sub(text, colon, text.len), &number) || number < 0 || number > 65535 ||
        name.len > HOST_MAX) {
        return not_an_address(text, err);
    }
    if (str_starts(name, STR("[")) && str_ends(name, STR("]"))) {
        name = str_sub(name, 1, name.len - 2);
    }
    snprintf(host, HOST_MAX + 1, STR_FMT, STR_ARG(name.len == 0 ? STR("127.0.0.1") : name));
    snprintf(port, 8, "%d", (int)number);
    return STATUS_OK;
}

static void write_address(int fd, char address[LISTEN_ADDRESS_SIZE])
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;
    char host[64] = "?";
    char port[8] = "?";
    if (getsockname(fd, (struct sockaddr *)&bound, &len) == 0) {
        getnameinfo((struct sockaddr *)&bound, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    }
    snprintf(address, LISTEN_ADDRESS_SIZE, bound.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
             port);
}

enum status listen_tcp(struct str text, int *fd, char address[LISTEN_ADDRESS_SIZE], struct err *err)
{
    char host[HOST_MAX + 1];
    char port[8];
    enum status status = split_address(text, host, port, err);
    if (status != STATUS_OK) {
        return status;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(host, port, &hints, &found);
    if (rc != 0) {
        return err_set(err, STATUS_INVALID, "cannot listen on " STR_FMT ": %s", STR_ARG(text),
                       gai_strerror(rc));
    }
    int s = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int one = 1;
    if (s < 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(s, found->ai_addr, found->ai_addrlen) != 0 || listen(s, BACKLOG) != 0) {
        int reason = errno;
        freeaddrinfo(found);
        file_close(&s);
        err_set(err, STATUS_IO, "cannot listen on " STR_FMT ": %s", STR_ARG(text),
                strerror(reason));
        return err_hint(err, "--listen :0 takes a free port");
    }
    freeaddrinfo(found);
    write_address(s, address);
    *fd = s;
    return STATUS_OK;
}

static enum status unix_address(const char *path, struct sockaddr_un *out, struct err *err)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (path[0] == '\0' || strlen(path) >= sizeof out->sun_path) {
        err_set(err, STATUS_INVALID, "the path of a socket has 1 to %zu bytes, \"%s\" has %zu",
                sizeof out->sun_path - 1, path, strlen(path));
        return err_hint(err, "choose a shorter one with --socket");
    }
    memcpy(out->sun_path, path, strlen(path) + 1);
    return STATUS_OK;
}

enum status connect_unix(const char *path, int *fd, struct err *err)
{
    struct sockaddr_un address;
    enum status status = unix_address(path, &address, err);
    if (status != STATUS_OK) {
        return status;
    }
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof address) != 0) {
        int reason = errno;
        file_close(&s);
        return err_set(err, STATUS_UNREACHABLE, "cannot connect to %s: %s", path, strerror(reason));
    }
    *fd = s;
    return STATUS_OK;
}

static enum status make_directory_of(const char *path, struct err *err)
{
    char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
    snprintf(dir, sizeof dir, "%s", path);
    char *slash = strrchr(dir, '/');
    if (slash == NULL || slash == dir) {
        return STATUS_OK;
    }
    *slash = '\0';
    return file_mkdirs(dir, 0700, err);
}

enum status listen_unix(const char *path, int *fd, struct err *err)
{
    struct sockaddr_un address;
    enum status status = unix_address(path, &address, err);
    status = status != STATUS_OK ? status : make_directory_of(path, err);
    if (status != STATUS_OK) {
        return status;
    }
    int other = -1;
    if (connect_unix(path, &other, NULL) == STATUS_OK) {
        file_close(&other);
        err_set(err, STATUS_IN_USE, "another weir answers on %s", path);
        return err_hint(err, "stop it, or choose another socket with --socket");
    }
    struct stat st;
    if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
        return err_set(err, STATUS_IN_USE, "%s exists and is no socket", path);
    }
    unlink(path);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* Who may come through is decided by the directory, and then by the peer's identity. */
    if (s < 0 || bind(s, (struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, 0666) != 0 || listen(s, BACKLOG) != 0) {
        int reason = errno;
        file_close(&s);
        err_set(err, STATUS_IO, "cannot listen on %s: %s", path, strerror(reason));
        return err_hint(err, "choose another socket with --socket");
    }
    *fd = s;
    return STATUS_OK;
}
