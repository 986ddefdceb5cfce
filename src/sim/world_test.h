// SPDX-License-Identifier: Apache-2.0
// world_test: random small clusters by seed, for the tests of what must hold on every cluster.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/test.h"
#include "sim/case_random.h"

enum { JSON_MAX = 1 << 20 };

/* worlds_or: how many clusters each test looks at; WEIR_WORLDS says another number. */
UNUSED static uint32_t worlds_or(uint32_t usual)
{
    const char *text = getenv("WEIR_WORLDS");
    uint64_t count = usual;
    return text != NULL && num_parse_u64(str_from_c(text), &count) ? num_u32(count) : usual;
}

UNUSED static void world_make(uint64_t seed, struct case_random_options options,
                              struct arena *arena, struct case_world *w)
{
    struct prng prng;
    prng_init(&prng, seed);
    case_world_init(w, arena, INT64_C(2000000000000));
    case_random(w, &prng, options);
}

/* world_keep leaves the cluster as a case file, for `weir simulate --json`. */
UNUSED static void world_keep(uint64_t seed, struct case_random_options options,
                              struct arena *arena)
{
    struct case_world w;
    struct buf text;
    struct jw out;
    world_make(seed, options, arena, &w);
    buf_init(&text, JSON_MAX);
    jw_init(&out, &text, true);
    case_random_to_json(&w, arena_printf(arena, "seed-%" PRIu64, seed), &out);
    const char *path = arena_printf(arena, "%s/%" PRIu64 ".json", test_tmp_dir(), seed).ptr;
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fwrite(text.ptr, 1, text.len, file);
        fclose(file);
        printf("# the cluster of the next failure: %s\n", path);
    }
    buf_done(&text);
}
