// SPDX-License-Identifier: Apache-2.0
// plan_fuzz: any bytes as a tenant plan. Whatever they are, there is an answer in bounded time, and
// what is accepted means the same after being written and read again.
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "cli/plan.h"
#include "io/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { TEXT_MAX = 1 << 26 };

static void read_bytes(struct str bytes, struct arena *arena, struct plan_file *out)
{
    *out = (struct plan_file){.path = STR("fuzz"), .bytes = bytes};
    problems_init(&out->problems, arena);
    if (yaml_parse(bytes, arena, &out->root, &out->problems) == STATUS_OK) {
        plan_from_doc(out->root, NULL, arena, &out->plan, &out->problems);
    }
    plan_file_check(out, NULL, false, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena arena = {0};
    struct plan_file file;
    struct plan_file again;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, TEXT_MAX);
    read_bytes((struct str){(const char *)bytes, (uint32_t)len}, &arena, &file);
    plan_problems_print(&file, &out);
    if (file.root && file.problems.error_count == 0) {
        uint32_t count = 0;
        buf_clear(&out);
        plan_to_yaml(&file.plan, &out);
        read_bytes(buf_view(&out), &arena, &again);
        CHECK(again.problems.error_count == 0);
        CHECK(record_eq(&record_plan, &file.plan, &again.plan));
        plan_diff(&file.plan, &again.plan, true, &arena, &count);
        CHECK(count == 0);
    }
    arena_done(&arena);
    return 0;
}
