// SPDX-License-Identifier: Apache-2.0
#include "agent/frame.h"

void frame_add(struct buf *out, uint8_t kind, struct str bytes)
{
    uint32_t len = bytes.len;
    const uint8_t head[FRAME_HEAD_LEN] = {
        kind,
        (uint8_t)(len & 0xFF),
        (uint8_t)(len >> 8 & 0xFF),
        (uint8_t)(len >> 16 & 0xFF),
        (uint8_t)(len >> 24),
    };
    buf_add(out, head, sizeof(head));
    buf_str(out, bytes);
}

enum frame_next frame_next(struct str bytes, uint32_t *used, uint8_t *kind, struct str *body)
{
    struct str rest = str_sub(bytes, *used, bytes.len);
    if (rest.len < FRAME_HEAD_LEN) {
        return FRAME_NONE;
    }
    const uint8_t *head = (const uint8_t *)rest.ptr;
    uint32_t len = (uint32_t)head[1] | (uint32_t)head[2] << 8 | (uint32_t)head[3] << 16 |
                   (uint32_t)head[4] << 24;
    if (len > FRAME_MAX) {
        return FRAME_BAD;
    }
    if (rest.len - FRAME_HEAD_LEN < len) {
        return FRAME_NONE;
    }
    *kind = head[0];
    *body = str_sub(rest, FRAME_HEAD_LEN, len);
    *used += FRAME_HEAD_LEN + len;
    return FRAME_ONE;
}
