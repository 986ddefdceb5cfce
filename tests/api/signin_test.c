// SPDX-License-Identifier: Apache-2.0
// Signing in, and what each may do then: users, service accounts and access keys against a server
// that speaks TLS.
#include "api/token.h"
#include "base/num.h"
#include "codec/base64.h"
#include "people.h"

TEST(who_signs_in_gets_a_token)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    const struct {
        const char *name, *path, *body;
        long code;
        const char *member, *want; /* NULL: only that it is there */
    } rows[] = {
        {"a password",                                              "/api/v1/token",
         "{\"grantType\":\"password\",\"username\":\"Dev@X\",\"password\":\"" PASSWORD "\"}",            200,
         "refreshToken",                                                                                                       NULL                                           },
        {"a secret, as the SDK spells it",                          "/api/v1/token",
         "{\"grantType\": \"app_token\", \"AppId\": \"ci\", \"AppSecret\": \"" SECRET "\"}",             200,
         "expiresIn",                                                                                                          "3600"                                         },
        {"as the documentation spells it",                          "/api/v1/token",
         "{\"grantType\":\"client_credentials\",\"clientID\":\"ci\",\"clientSecret\":\"" SECRET
         "\"}",                                                                                          200, "accessToken",   NULL                                           },
        {"a document in a document",                                "/api/v1/token",
         "\"{\\\"grantType\\\":\\\"app_token\\\",\\\"AppId\\\":\\\"ci\\\",\\\"AppSecret\\\":"
         "\\\"" SECRET "\\\"}\"",
         200,                                                                                                 "accessToken",   NULL                                           },
        {"a form",                                                  "/api/v2/token",
         "grant_type=client_credentials&client_id=ci&client_secret=" SECRET "&scope=openid",             200,
         "token_type",                                                                                                         "Bearer"                                       },
        {"an escaped form",                                         "/api/v2/token",
         "grant_type=password&username=dev%40x&password=correct+horse",                                  200, "refresh_token", NULL                                           },
        {"JSON in the second form",                                 "/api/v2/token",
         "{\"grant_type\":\"client_credentials\",\"client_id\":\"ci\",\"client_secret\":\"" SECRET
         "\"}",                                                                                          200, "access_token",  NULL                                           },
        {"a wrong password",                                        "/api/v1/token",
         "{\"grantType\":\"password\",\"username\":\"dev@x\",\"password\":\"wrong\"}",                   403,
         "status",                                                                                                             "denied"                                       },
        {"an unknown user",                                         "/api/v1/token",
         "{\"grantType\":\"password\",\"username\":\"who@x\",\"password\":\"wrong\"}",                   403,
         "message",                                                                                                            "the user is unknown, or the password is wrong"},
        {"a wrong secret",                                          "/api/v1/token",
         "{\"grantType\":\"app_token\",\"AppId\":\"ci\",\"AppSecret\":\"wrong\"}",                       403, "code",
         "403"                                                                                                                                                                },
        {"no secret: what a bearer token alone makes the SDK send", "/api/v1/token",
         "{\"grantType\":\"app_token\",\"AppId\":null,\"AppSecret\":null}",                              400, "status",
         "invalid"                                                                                                                                                            },
        {"a wrong secret in the second form",                       "/api/v2/token",
         "grant_type=client_credentials&client_id=ci&client_secret=wrong",                               401, "error",
         "invalid_client"                                                                                                                                                     },
        {"a wrong password in the second form",                     "/api/v2/token",
         "grant_type=password&username=dev%40x&password=no",                                             400, "error",         "invalid_grant"                                },
        {"another grant",                                           "/api/v2/token", "grant_type=magic", 400, "error",
         "unsupported_grant_type"                                                                                                                                             },
        {"no grant",                                                "/api/v1/token", "{}",               400, "field",         "grantType"                                    },
        {"a name without a value",                                  "/api/v2/token", "grant_type",       400, "error",
         "unsupported_grant_type"                                                                                                                                             },
        {"a broken escape",                                         "/api/v2/token", "grant_type=%4",    400, "error",         "invalid_request"                              },
        {"bytes that are no text",                                  "/api/v2/token", "grant_type=%ff",   400, "error",
         "invalid_request"                                                                                                                                                    },
        {"no JSON",                                                 "/api/v1/token", "{",                400, "status",        "invalid"                                      },
        {"a list",                                                  "/api/v1/token", "[]",               400, "status",        "invalid"                                      },
        {"a refresh token that is none",                            "/api/v2/token",
         "grant_type=refresh_token&refresh_token=x",                                                     400, "error",         "invalid_grant"                                },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        EXPECT_I64(post_tcp(rows[i].path, rows[i].body), rows[i].code);
        if (rows[i].want != NULL) {
            EXPECT_STR(at(rows[i].member), str_from_c(rows[i].want));
        } else {
            EXPECT(at(rows[i].member).len > 20);
        }
    }
    test_row(NULL);
    server_stop();
}

TEST(a_token_says_who_one_is)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    EXPECT_I64(as(token_by_password("dev@x"), "GET", PREFIX "/whoami", NULL), 200);
    EXPECT_STR(at("user"), STR("dev@x"));
    EXPECT_STR(at("kind"), STR("user"));
    EXPECT_STR(at("roles[0]"), STR("Developer"));
    EXPECT_STR(at("access[0].name"), STR("team-a"));
    EXPECT_I64(as(token_by_secret("ci"), "GET", PREFIX "/whoami", NULL), 200);
    EXPECT_STR(at("kind"), STR("service-account"));
    EXPECT_I64(as(token_by_secret(key_id()), "GET", PREFIX "/whoami", NULL), 200);
    EXPECT_STR(at("user"), STR("root@x"));
    EXPECT_STR(at("kind"), STR("access-key"));
    EXPECT_STR(at("roles[0]"), STR("System administrator"));
    EXPECT_I64(as("x.y.z", "GET", PREFIX "/whoami", NULL), 401);
    EXPECT_STR(header("WWW-Authenticate"), STR("Bearer realm=\"weir\""));
    EXPECT_I64(as(NULL, "GET", PREFIX "/whoami", NULL), 401);
    /* A token counts over the local socket too, more than who the kernel says one is. */
    EXPECT_I64(
        ask(&(struct ask){.method = "GET", .path = "/whoami", .token = token_by_password("dev@x")}),
        200);
    EXPECT_STR(at("user"), STR("dev@x"));
    EXPECT_I64(ask(&(struct ask){.method = "GET", .path = "/whoami", .token = "x"}), 401);
    server_stop();
}

TEST(each_sees_and_does_what_their_roles_allow)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    const char *dev = token_by_password("dev@x");
    const char *ci = token_by_secret("ci");
    const char *root = token_by_password("root@x");
    EXPECT_I64(as(root, "POST", PREFIX "/workloads", JOB("theirs", "training", "team-b")), 201);
    EXPECT_I64(as(dev, "POST", PREFIX "/workloads", JOB("mine", "workspace", "team-a")), 201);
    const struct {
        const char *name, *token, *method, *path, *body;
        long code;
        const char *member, *want;
    } rows[] = {
        {"its project", dev, "GET", PREFIX "/projects/team-a", NULL, 200, "name", "team-a"},
        {"another is not there", dev, "GET", PREFIX "/projects/team-b", NULL, 404, "status",
         "unknown"},
        {"nor guessed at", dev, "GET", PREFIX "/projects/team-c", NULL, 404, "hint",
         "did you mean \"team-a\"?"},
        {"the list has one", dev, "GET", PREFIX "/projects", NULL, 200, "items[1].name",
         "(missing)"},
        {"its department", dev, "GET", PREFIX "/departments/research", NULL, 200, "name",
         "research"},
        {"not the other", dev, "GET", PREFIX "/departments/default", NULL, 404, "status",
         "unknown"},
        {"one workload in the list", dev, "GET", PREFIX "/workloads", NULL, 200, "total", "1"},
        {"another's is not there", dev, "GET", PREFIX "/workloads/team-b/theirs", NULL, 404,
         "status", "unknown"},
        {"nor to be deleted", dev, "DELETE", PREFIX "/workloads/team-b/theirs", NULL, 404, "status",
         "unknown"},
        {"nor a project to submit to", dev, "POST", PREFIX "/workloads",
         JOB("x", "training", "team-b"), 404, "field", "project"},
        {"no nodes", dev, "GET", PREFIX "/nodes", NULL, 403, "message", "dev@x may not read Nodes"},
        {"no plan", dev, "GET", PREFIX "/plan", NULL, 403, "status", "denied"},
        {"nor applied", dev, "POST", PREFIX "/plan/apply", "organization: {}", 403, "status",
         "denied"},
        {"queues of a pool: its own", dev, "GET", PREFIX "/nodepools/default", NULL, 200,
         "queues[2].name", "(missing)"},
        {"CI submits training", ci, "POST", PREFIX "/workloads", JOB("built", "training", "team-a"),
         201, "author", "ci"},
        {"but no workspaces", ci, "POST", PREFIX "/workloads", JOB("w", "workspace", "team-a"), 404,
         "status", "unknown"},
        {"nor sees them", ci, "GET", PREFIX "/workloads/team-a/mine", NULL, 404, "status",
         "unknown"},
        {"an administrator sees all", root, "GET", PREFIX "/workloads", NULL, 200, "total", "3"},
        {"also nodes", root, "GET", PREFIX "/nodes/box", NULL, 200, "name", "box"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        EXPECT_I64(as(rows[i].token, rows[i].method, rows[i].path, rows[i].body), rows[i].code);
        EXPECT_STR(at(rows[i].member), str_from_c(rows[i].want));
    }
    test_row(NULL);
    server_stop();
}

TEST(a_session_ends_with_what_it_came_from)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    const char *dev = token_by_password("dev@x");
    EXPECT_I64(as(dev, "GET", PREFIX "/projects", NULL), 200);
    change_while_up((struct identity_change){.op = IDENTITY_SIGN_OUT, .user = {.id = id_of(2)}});
    EXPECT_I64(as(dev, "GET", PREFIX "/projects", NULL), 401);
    dev = token_by_password("dev@x");
    EXPECT_I64(as(dev, "GET", PREFIX "/projects", NULL), 200);
    change_while_up((struct identity_change){
        .op = IDENTITY_USER_PASSWORD,
        .user = {
                 .id = id_of(2), .password = str_from_c(password_hashed), .change_password = true}
    });
    EXPECT_I64(as(dev, "GET", PREFIX "/projects", NULL), 401);
    dev = token_by_password("dev@x");
    EXPECT_I64(as(dev, "GET", PREFIX "/projects", NULL), 403); /* a password of somebody else's */
    EXPECT_I64(as(dev, "GET", PREFIX "/whoami", NULL), 200);
    const char *ci = token_by_secret("ci");
    EXPECT_I64(as(ci, "GET", PREFIX "/projects", NULL), 200);
    change_while_up((struct identity_change){.op = IDENTITY_APPLICATION_ENABLE,
                                             .application = {.id = id_of(3)}});
    EXPECT_I64(as(ci, "GET", PREFIX "/projects", NULL), 401);
    const char *key = token_by_secret(key_id());
    EXPECT_I64(as(key, "GET", PREFIX "/nodes", NULL), 200);
    change_while_up((struct identity_change){.op = IDENTITY_KEY_REMOVE, .key = {.id = id_of(4)}});
    EXPECT_I64(as(key, "GET", PREFIX "/nodes", NULL), 401);
    change_while_up((struct identity_change){.op = IDENTITY_USER_REMOVE, .user = {.id = id_of(2)}});
    EXPECT_I64(as(dev, "GET", PREFIX "/whoami", NULL), 401);
    server_stop();
}

TEST(a_refresh_token_gives_another_one)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    char body[2048];
    EXPECT_I64(post_tcp("/api/v1/token", "{\"grantType\":\"password\",\"username\":\"dev@x\","
                                         "\"password\":\"" PASSWORD "\"}"),
               200);
    const char *refresh = arena_cstr(&server.arena, at("refreshToken"));
    EXPECT_I64(as(refresh, "GET", PREFIX "/whoami", NULL), 401); /* it is no access token */
    snprintf(body, sizeof body, "grant_type=refresh_token&refresh_token=%s", refresh);
    const char *access = token_of(post_tcp("/api/v2/token", body), "access_token");
    EXPECT_I64(as(access, "GET", PREFIX "/whoami", NULL), 200);
    snprintf(body, sizeof body, "{\"grantType\":\"refresh_token\",\"refreshToken\":\"%s\"}",
             access);
    EXPECT_I64(post_tcp("/api/v1/token", body), 403); /* nor is an access token one */
    change_while_up((struct identity_change){.op = IDENTITY_SIGN_OUT, .user = {.id = id_of(2)}});
    snprintf(body, sizeof body, "grant_type=refresh_token&refresh_token=%s", refresh);
    EXPECT_I64(post_tcp("/api/v2/token", body), 400);
    server_stop();
}

TEST(who_guesses_has_to_wait)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    static const char wrong[] =
        "{\"grantType\":\"app_token\",\"AppId\":\"ci\",\"AppSecret\":\"x\"}";
    for (int i = 0; i < 5; i++) {
        EXPECT_I64(post_tcp("/api/v1/token", wrong), 403);
        EXPECT_STR(at("message"), STR("the client is unknown, or its secret is wrong"));
    }
    EXPECT_I64(post_tcp("/api/v1/token", wrong), 403);
    EXPECT_STR(at("message"), STR("too many wrong attempts"));
    EXPECT_STR(at("hint"), STR("try again in 15 seconds"));
    /* Neither is the right one looked at, nor others kept out. */
    EXPECT_I64(post_tcp("/api/v1/token", "{\"grantType\":\"app_token\",\"AppId\":\"ci\","
                                         "\"AppSecret\":\"" SECRET "\"}"),
               403);
    EXPECT(token_by_password("dev@x") != NULL);
    world_now_ms += 15000;
    EXPECT(token_by_secret("ci") != NULL);
    EXPECT_I64(post_tcp("/api/v1/token", wrong), 403);
    EXPECT_STR(at("message"), STR("the client is unknown, or its secret is wrong"));
    world_now_ms -= 15000;
    server_stop();
}

/* A refusal is kept a moment after it is answered. */
static bool is_refused_in_the_audit(const char *token, const char *path, const char *name)
{
    for (int i = 0; i < 1000; i++) {
        if (as(token, "GET", PREFIX "/audit?limit=1&result=refused", NULL) == 200 &&
            str_eq(at("items[0].path"), str_from_c(path)) &&
            str_eq(at("items[0].name"), str_from_c(name))) {
            return true;
        }
        usleep(2000);
    }
    return false;
}

TEST(workloads_of_others_may_be_protected)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    const char *dev = token_by_password("dev@x");
    const char *ci = token_by_secret("ci");
    const char *root = token_by_password("root@x");
    EXPECT_I64(as(ci, "POST", PREFIX "/workloads", JOB("built", "training", "team-a")), 201);
    EXPECT_I64(as(ci, "POST", PREFIX "/workloads", JOB("more", "training", "team-a")), 201);
    EXPECT_I64(as(dev, "PUT", PREFIX "/ownership", "{\"protected\":true}"), 403);
    EXPECT_I64(as(root, "PUT", PREFIX "/ownership", "{\"protected\":true}"), 200);
    EXPECT_I64(as(dev, "GET", PREFIX "/ownership", NULL), 200);
    EXPECT_STR(at("protected"), STR("true"));
    EXPECT_I64(as(dev, "GET", PREFIX "/workloads/team-a/built", NULL), 200);
    EXPECT_I64(as(dev, "POST", PREFIX "/workloads/team-a/built/suspend", NULL), 403);
    EXPECT_I64(as(dev, "DELETE", PREFIX "/workloads/team-a/built", NULL), 403);
    EXPECT_STR(at("message"), STR("workload \"built\" is ci's, and is protected"));
    EXPECT_I64(as(dev, "GET", PREFIX "/workloads/team-a/built", NULL), 200);
    const char *batch = arena_printf(&server.arena,
                                     "{\"ids\":[\"" STR_FMT "\"],\"action\":\"delete\"}",
                                     STR_ARG(at("id")))
                            .ptr;
    EXPECT_I64(as(dev, "POST", "/api/v1/workloads/batch", batch), 200);
    EXPECT_STR(at("failed[0].code"), STR("403"));
    EXPECT_STR(at("failed[0].message"), STR("workload \"built\" is ci's, and is protected"));
    EXPECT(is_refused_in_the_audit(root, "/api/v1/workloads/batch", "built"));
    EXPECT_I64(as(ci, "POST", PREFIX "/workloads/team-a/built/suspend", NULL), 200);
    EXPECT_I64(as(root, "DELETE", PREFIX "/workloads/team-a/built", NULL), 200);
    EXPECT_I64(as(root, "PUT", PREFIX "/ownership", "{\"protected\":false}"), 200);
    EXPECT_I64(as(dev, "DELETE", PREFIX "/workloads/team-a/more", NULL), 200);
    server_stop();
}

TEST(the_tokens_of_clients_decode)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    struct str rest = str_from_c(token_by_secret("ci"));
    struct str header, payload;
    struct doc *claims = NULL;
    struct buf bytes;
    int64_t exp = 0;
    REQUIRE(str_split(&rest, '.', &header) && str_split(&rest, '.', &payload));
    /* As the SDK does it: the ordinary alphabet, padded. */
    struct str padded = arena_printf(&server.arena, STR_FMT "%s", STR_ARG(payload),
                                     payload.len % 4 == 2   ? "=="
                                     : payload.len % 4 == 3 ? "="
                                                            : "");
    buf_init(&bytes, 4096);
    REQUIRE(base64_decode(BASE64_STD, padded, &bytes));
    REQUIRE(json_doc(buf_view(&bytes), &server.arena, &claims, NULL) == STATUS_OK);
    REQUIRE(num_parse_i64(doc_get(claims, STR("exp"))->text, &exp));
    EXPECT_I64(exp, world_now_ms / 1000 + 3600);
    buf_done(&bytes);
    server_stop();
}

/* ---- TLS ---- */

/* Reads what there is, waiting for it; 0: the end. */
static size_t tls_read(CURL *curl, char *out, size_t max)
{
    for (int i = 0; i < 5000; i++) {
        size_t n = 0;
        CURLcode rc = curl_easy_recv(curl, out, max, &n);
        if (rc == CURLE_OK || rc != CURLE_AGAIN) {
            return rc == CURLE_OK ? n : 0;
        }
        usleep(1000);
    }
    return 0;
}

static void tls_write(CURL *curl, const char *bytes, size_t len)
{
    size_t n = 0;
    REQUIRE(curl_easy_send(curl, bytes, len, &n) == CURLE_OK);
    REQUIRE(n == len);
}

/* A bridge into a pod, as a browser or weir over the network opens it. */
TEST(a_bridge_over_tls)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    const char *dev = token_by_password("dev@x");
    EXPECT_I64(as(dev, "POST", PREFIX "/workloads", JOB("one", "workspace", "team-a")), 201);
    bool runs = false;
    for (int i = 0; i < 1000 && !runs; i++) {
        runs = as(dev, "GET", PREFIX "/workloads/team-a/one", NULL) == 200 &&
               str_eq(at("phase"), STR("Running"));
    }
    REQUIRE(runs);
    char url[256], path[512], text[4096], got[4096] = "";
    CURL *curl = curl_easy_init();
    snprintf(url, sizeof url, "https://%s", server.address);
    snprintf(path, sizeof path, "%s/cert.pem", server.dir);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CAINFO, path);
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    REQUIRE(curl_easy_perform(curl) == CURLE_OK);
    snprintf(text, sizeof text,
             "GET " PREFIX "/workloads/team-a/one/exec?cmd=cat HTTP/1.1\r\nHost: box\r\n"
             "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer %s\r\n\r\n",
             dev);
    tls_write(curl, text, strlen(text));
    size_t len = 0;
    while (strstr(got, "\r\n\r\n") == NULL && len < sizeof got - 1) {
        size_t n = tls_read(curl, got + len, sizeof got - 1 - len);
        REQUIRE(n > 0);
        len += n;
        got[len] = '\0';
    }
    EXPECT(strncmp(got, "HTTP/1.1 101", 12) == 0);
    tls_write(curl, "\x82\x86\0\0\0\0\0hello", 12); /* binary, masked with zeros: stdin */
    char bytes[16];
    size_t read_len = 0;
    while (read_len < 10) {
        ssize_t n = read(server.exec_fd, bytes + read_len, 10 - read_len);
        read_len += n > 0 ? (size_t)n : 0;
    }
    EXPECT(memcmp(bytes, "\0\5\0\0\0hello", 10) == 0);
    struct err err;
    REQUIRE_OK(file_write_all(server.exec_fd, STR("\1\3\0\0\0out"), &err), &err);
    len = 0;
    while (len < 6) {
        size_t n = tls_read(curl, got + len, sizeof got - len);
        REQUIRE(n > 0);
        len += n;
    }
    EXPECT(memcmp(got, "\x82\4\1out", 6) == 0);
    close(server.exec_fd);
    curl_easy_cleanup(curl);
    server_stop();
}

TEST(plain_text_is_no_tls)
{
    server_start_with(SERVER_TOKENS | SERVER_TLS, prepare);
    server.tls = false; /* the client's belief */
    EXPECT(ask(&(struct ask){.method = "GET", .path = "/healthz", .tcp = true}) < 0);
    server.tls = true;
    EXPECT_I64(ask(&(struct ask){.method = "GET", .path = "/healthz", .tcp = true}), 200);
    server_stop();
}

/* ---- what lasts ---- */

enum { LEFT_MS = 200 };

static size_t on_watch(char *bytes, size_t size, size_t count, void *arg)
{
    bool *begun = arg;
    if (!*begun) {
        world_now_ms += 2 * LEFT_MS; /* beyond the token's end */
        *begun = true;
    }
    (void)bytes;
    return size * count;
}

TEST(a_watch_ends_when_its_token_does)
{
    server_start_with(SERVER_TOKENS, prepare);
    const char *token = token_by_password("dev@x");
    char text[2048];
    bool begun = false;
    struct curl_slist *headers;
    snprintf(text, sizeof text, "Authorization: Bearer %s", token);
    headers = curl_slist_append(NULL, text);
    snprintf(text, sizeof text, "http://%s" PREFIX "/workloads/watch", server.address);
    world_now_ms += TOKEN_ACCESS_S * INT64_C(1000) - LEFT_MS;
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, text);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_watch);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &begun);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
    EXPECT_I64(curl_easy_perform(curl), CURLE_OK); /* ended by the server, in order */
    EXPECT(begun);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    server_stop();
}

TEST_MAIN()
