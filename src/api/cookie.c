// SPDX-License-Identifier: Apache-2.0
#include "api/cookie.h"

struct str cookie_get(const struct http_request *r, struct str name)
{
    struct str rest = http_header(r, "Cookie");
    struct str pair;
    while (rest.len > 0 && str_split(&rest, ';', &pair)) {
        struct str key;
        pair = str_trim(pair);
        if (str_split(&pair, '=', &key) && str_eq(key, name)) {
            return pair;
        }
    }
    return STR("");
}

void cookie_set(struct call *c, struct str name, struct str value, const char *path, int64_t life_s)
{
    bool tls = str_starts(c->api->config.url, STR("https://"));
    http_set_header(
        c->request, "Set-Cookie",
        arena_printf(
            c->arena, STR_FMT "=" STR_FMT "; Path=%s; Max-Age=%lld; HttpOnly; SameSite=Lax%s",
            STR_ARG(name), STR_ARG(value), path, (long long)life_s, tls ? "; Secure" : ""));
}

bool cookie_same_origin(const struct http_request *r)
{
    struct str origin = http_header(r, "Origin");
    struct str site = http_header(r, "Sec-Fetch-Site");
    if (origin.len == 0) {
        return str_eq(site, STR("same-origin")) || str_eq(site, STR("none"));
    }
    uint32_t at = str_find(origin, ':');
    struct str host = http_header(r, "Host");
    return host.len > 0 && str_starts(str_sub(origin, at, origin.len), STR("://")) &&
           str_eq(str_sub(origin, at + 3, origin.len), host);
}
