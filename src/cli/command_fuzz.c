// SPDX-License-Identifier: Apache-2.0
// command_fuzz: any bytes as a command line, words ended by NUL. Whatever they are, they are understood
// or refused with a reason, and completion has an answer.
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "cli/help.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { WORDS_MAX = 64, TEXT_MAX = 8 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena arena = {0};
    const char *words[WORDS_MAX];
    struct str typed[WORDS_MAX];
    int count = 0;
    struct str rest = {(const char *)bytes, (uint32_t)len}, word;
    while (count < WORDS_MAX && str_split(&rest, '\0', &word)) {
        words[count] = arena_cstr(&arena, word);
        typed[count] = str_from_c(words[count]);
        count++;
    }
    struct args args;
    struct err err = {0};
    enum status status = command_parse(count, words, &arena, &args, &err);
    CHECK((status == STATUS_OK) == (err.text[0] == 0));
    if (status == STATUS_OK && args.help) {
        CLEANUP(buf_done) struct buf text;
        buf_init(&text, TEXT_MAX);
        help_write(args.topic, 80, &arena, &text);
        CHECK(text.len > 0);
    } else if (status == STATUS_OK) {
        CHECK(args.command != NULL && args.words_count <= args.command->words_max);
    }
    struct completion what;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, TEXT_MAX);
    completion_find(typed, (uint32_t)count, &arena, &out, &what);
    arena_done(&arena);
    return 0;
}
