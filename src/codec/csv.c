// SPDX-License-Identifier: Apache-2.0
#include "codec/csv.h"

static bool is_formula(struct str text)
{
    static const char first[] = {'=', '+', '-', '@', '\t', '\r'};
    for (size_t i = 0; i < sizeof first; i++) {
        if (text.len > 0 && text.ptr[0] == first[i]) {
            return true;
        }
    }
    return false;
}

void csv_text(struct str text, struct buf *out)
{
    buf_str(out, is_formula(text) ? STR("\"'") : STR("\""));
    for (uint32_t i = 0; i < text.len; i++) {
        buf_add(out, "\"", text.ptr[i] == '"' ? 1 : 0);
        buf_char(out, text.ptr[i]);
    }
    buf_char(out, '"');
}
