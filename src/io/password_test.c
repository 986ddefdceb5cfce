// SPDX-License-Identifier: Apache-2.0
#include "io/password.h"

#include <string.h>

#include "base/test.h"

struct answer {
    int count;
    bool ok;
    char hash[PASSWORD_HASH_SIZE];
};

static void on_done(void *arg, bool ok, struct str hash)
{
    struct answer *a = arg;
    a->count++;
    a->ok = ok;
    memcpy(a->hash, hash.ptr, hash.len + 1);
}

static struct loop *loop;
static struct passwords *passwords;

static void setup(void)
{
    struct err err;
    REQUIRE_OK(loop_new(&loop, &err), &err);
    REQUIRE_OK(passwords_new(loop, &passwords, &err), &err);
}

static void teardown(void)
{
    passwords_free(passwords);
    loop_free(loop);
}

static struct answer wait_for(enum status status, struct answer *a)
{
    EXPECT_STATUS(status, STATUS_OK);
    while (status == STATUS_OK && a->count == 0) {
        loop_step(loop, -1);
    }
    return *a;
}

TEST(hash_and_check)
{
    struct err err;
    struct answer made = {0}, right = {0}, wrong = {0}, nobody = {0};
    setup();
    wait_for(password_hash(passwords, STR("open sesame"), on_done, &made, &err), &made);
    EXPECT(made.ok);
    struct str hash = str_from_c(made.hash);
    EXPECT(str_starts(hash, STR("$argon2id$v=19$m=65536,t=2,p=1$")));
    wait_for(password_check(passwords, hash, STR("open sesame"), on_done, &right, &err), &right);
    EXPECT(right.ok);
    wait_for(password_check(passwords, hash, STR("open sesamE"), on_done, &wrong, &err), &wrong);
    EXPECT(!wrong.ok);
    wait_for(password_check(passwords, STR(""), STR(""), on_done, &nobody, &err), &nobody);
    EXPECT(!nobody.ok);
    teardown();
}

TEST(too_much)
{
    struct err err;
    struct answer a[PASSWORD_WAITING_MAX] = {0};
    char large[PASSWORD_LEN_MAX + 1];
    memset(large, 'a', sizeof large);
    setup();
    EXPECT_STATUS(password_hash(passwords, (struct str){large, sizeof large}, on_done, &a[0], &err),
                  STATUS_TOO_LARGE);
    for (int i = 0; i < PASSWORD_WAITING_MAX; i++) {
        EXPECT_STATUS(password_check(passwords, STR("no hash"), STR("x"), on_done, &a[i], &err),
                      STATUS_OK);
    }
    EXPECT_STATUS(password_check(passwords, STR(""), STR("x"), on_done, &a[0], &err), STATUS_BUSY);
    for (int i = 1; i < PASSWORD_WAITING_MAX; i += 2) {
        password_forget(passwords, &a[i]);
    }
    while (a[PASSWORD_WAITING_MAX - 2].count == 0) {
        loop_step(loop, -1);
    }
    for (int i = 0; i < PASSWORD_WAITING_MAX; i++) {
        EXPECT_I64(a[i].count, i % 2 == 0);
    }
    struct answer left = {0}; /* freed with work in hand and waiting */
    EXPECT_STATUS(password_hash(passwords, STR("x"), on_done, &left, &err), STATUS_OK);
    EXPECT_STATUS(password_hash(passwords, STR("y"), on_done, &left, &err), STATUS_OK);
    teardown();
    EXPECT_I64(left.count, 0);
}

TEST_MAIN()
