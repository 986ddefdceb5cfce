// SPDX-License-Identifier: Apache-2.0
#include "codec/discovery.h"

#include "codec/json.h"

enum { SHOWN_MAX = 120 };

static bool is_printable(struct str s)
{
    for (uint32_t i = 0; i < s.len; i++) {
        if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f || s.ptr[i] == '\\' || s.ptr[i] == '"' ||
            s.ptr[i] == '#') {
            return false;
        }
    }
    return true;
}

/* The part between scheme and path: HOST, HOST:PORT. */
static struct str authority(struct str url)
{
    uint32_t colon = str_find(url, ':');
    struct str rest = str_sub(url, colon + 3, url.len);
    uint32_t end = 0;
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?') {
        end++;
    }
    return str_sub(rest, 0, end);
}

static bool digits(struct str s)
{
    for (uint32_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') {
            return false;
        }
    }
    return s.len > 0;
}

/* Four numbers, of which the first is 127: a name that only begins like that is somebody else's. */
static bool is_127(struct str host)
{
    struct str part;
    uint32_t parts = 0;
    while (str_split(&host, '.', &part)) {
        if (!digits(part) || part.len > 3 || (parts == 0 && !str_eq(part, STR("127")))) {
            return false;
        }
        parts++;
    }
    return parts == 4;
}

bool discovery_url_local(struct str url)
{
    struct str host = authority(url);
    if (str_starts(host, STR("["))) {
        return str_eq(host, STR("[::1]")) || str_starts(host, STR("[::1]:"));
    }
    host = str_sub(host, 0, str_find(host, ':'));
    return str_eq(host, STR("localhost")) || is_127(host);
}

bool discovery_url_ok(struct str url)
{
    bool secure = str_starts(url, STR("https://"));
    if (url.len > DISCOVERY_URL_MAX || !is_printable(url) ||
        (!secure && !str_starts(url, STR("http://")))) {
        return false;
    }
    struct str host = authority(url);
    return host.len > 0 && host.ptr[0] != ':' && str_find(host, '@') == host.len &&
           (secure || discovery_url_local(url));
}

static struct str text(const struct doc *map, const char *name)
{
    const struct doc *d = doc_get(map, str_from_c(name));
    return d != NULL && d->kind == DOC_STRING ? d->text : STR("");
}

static enum status address(const struct doc *root, const char *name, bool must, bool plain,
                           struct str *out, struct err *err)
{
    *out = text(root, name);
    if (out->len == 0 && !must) {
        return STATUS_OK;
    }
    if (!discovery_url_ok(*out) || (!plain && !str_starts(*out, STR("https://")))) {
        return err_set(err, STATUS_INVALID, "%s is %s: \"" STR_FMT "\"", name,
                       out->len == 0 ? "missing" : "no https address",
                       STR_ARG(str_clip(*out, SHOWN_MAX)));
    }
    return STATUS_OK;
}

/* Without a list it is client_secret_basic (Discovery 1.0, 3). */
static bool only_in_body(const struct doc *root)
{
    const struct doc *list = doc_get(root, STR("token_endpoint_auth_methods_supported"));
    bool basic = list == NULL || list->kind != DOC_LIST;
    bool post = false;
    for (const struct doc *d = basic ? NULL : list->child; d != NULL; d = d->next) {
        basic = basic || str_eq(d->text, STR("client_secret_basic"));
        post = post || str_eq(d->text, STR("client_secret_post"));
    }
    return post && !basic;
}

enum status discovery_read(struct str json, struct str url, struct arena *arena,
                           struct discovery *out, struct err *err)
{
    struct doc *root = NULL;
    struct discovery d = {0};
    if (json.len > DISCOVERY_BYTES_MAX) {
        return err_set(err, STATUS_TOO_LARGE, "a discovery document has at most %d bytes",
                       DISCOVERY_BYTES_MAX);
    }
    enum status status = json_doc(json, arena, &root, err);
    if (status != STATUS_OK) {
        return status;
    }
    bool plain = str_starts(url, STR("http://"));
    d.issuer = text(root, "issuer");
    struct str base = str_ends(d.issuer, STR("/")) ? str_sub(d.issuer, 0, d.issuer.len - 1)
                                                   : d.issuer;
    bool own = str_starts(url, base) &&
               str_eq(str_sub(url, base.len, url.len), STR(DISCOVERY_PATH));
    if (base.len == 0 || !own) {
        return err_set(err, STATUS_INVALID,
                       "it is the document of issuer \"" STR_FMT "\", whose address would be "
                       "that with " DISCOVERY_PATH,
                       STR_ARG(str_clip(d.issuer, SHOWN_MAX)));
    }
    const struct {
        const char *name;
        bool must;
        struct str *out;
    } rows[] = {
        {"authorization_endpoint",        true,  &d.authorization},
        {"token_endpoint",                true,  &d.token        },
        {"jwks_uri",                      true,  &d.keys         },
        {"userinfo_endpoint",             false, &d.userinfo     },
        {"device_authorization_endpoint", false, &d.device       },
        {"end_session_endpoint",          false, &d.end_session  },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        status = address(root, rows[i].name, rows[i].must, plain, rows[i].out, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
    d.secret_in_body = only_in_body(root);
    *out = d;
    return STATUS_OK;
}
