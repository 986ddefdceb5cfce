// SPDX-License-Identifier: Apache-2.0
// Any bytes: quantities, durations and times that are accepted are formatted and read back as the
// same value.
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "base/rfc3339.h"
#include "codec/duration.h"
#include "codec/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_quantity(struct str text)
{
    char out[QUANTITY_TEXT_SIZE];
    int64_t value;
    int64_t again;
    if (quantity_parse_bytes(text, &value, NULL) == STATUS_OK) {
        CHECK(quantity_parse_bytes(quantity_format_bytes(value, out), &again, NULL) == STATUS_OK);
        CHECK(again == value);
    }
    if (quantity_parse(text, 1000, &value, NULL) == STATUS_OK) {
        CHECK(quantity_parse(quantity_format_milli(value, out), 1000, &again, NULL) == STATUS_OK);
        CHECK(again == value);
    }
    if (quantity_parse(text, 7000, &value, NULL) == STATUS_OK && value % 7 == 0) {
        CHECK(quantity_parse(text, 1000, &again, NULL) == STATUS_OK);
        CHECK(again == value / 7);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, (uint32_t)size};
    char duration[DURATION_TEXT_SIZE];
    char time[RFC3339_TEXT_SIZE];
    int64_t value;
    int64_t again;
    check_quantity(text);
    if (duration_parse(text, &value, NULL) == STATUS_OK) {
        CHECK(duration_parse(duration_format(value, duration), &again, NULL) == STATUS_OK);
        CHECK(again == value);
    }
    // An offset may carry the first and the last day out of the years that can be written.
    if (rfc3339_parse(text, &value, NULL) == STATUS_OK && value / 86400000 > -719000 &&
        value / 86400000 < 2932000) {
        CHECK(rfc3339_parse(rfc3339_format(value, time), &again, NULL) == STATUS_OK);
        CHECK(again == value);
    }
    return 0;
}
