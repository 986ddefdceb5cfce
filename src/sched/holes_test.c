// SPDX-License-Identifier: Apache-2.0
#include "sched/holes.h"

#include "base/prng.h"
#include "base/test.h"
#include "model/units.h"

enum { SIZES = 4 };

/* What all fractions of the demand together are worth, in thousandths of a device. */
static int64_t bound_milli(const struct holes *h, const struct hole_demand *demands, uint32_t count)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += demands[i].count * holes_value(h, demands[i].share);
    }
    return sum * 1000 / h->most;
}

TEST(prices)
{
    // The bound is worked out by hand: so many devices at least are needed.
    static const struct {
        const char *name;
        struct hole_demand demands[SIZES];
        int64_t devices_milli;
    } rows[] = {
        {"halves share a device",                        {{3500, 10}},                      5000 },
        {"beside four fifths of a device nothing fits",  {{5600, 10}},                      10000},
        {"two thirds leave room for a third",            {{4669, 6}, {2331, 6}},            6000 },
        {"thirds fit three to a device",                 {{2331, 9}},                       3000 },
        {"what is left beside the large ones is filled", {{5670, 10}, {1330, 10}},          10000},
        {"small ones that fit nowhere else need more",   {{5670, 10}, {1400, 10}},          12000},
        {"four sizes",                                   {{5670, 9}, {3290, 8}, {1750, 4}}, 14000},
        {"a fiftieth of a device",                       {{140, 100}},                      2000 },
        {"a hundredth is too little to have a price",    {{70, 100}},                       0    },
        {"no fractions",                                 {{0}},                             0    },
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct holes h;
        uint32_t count = 0;
        while (count < SIZES && rows[i].demands[count].count > 0) {
            count++;
        }
        test_row(rows[i].name);
        holes_price(&h, rows[i].demands, count);
        EXPECT_I64(bound_milli(&h, rows[i].demands, count), rows[i].devices_milli);
        EXPECT_I64(holes_value(&h, DEVICE_SHARE), h.most);
    }
    test_row(NULL);
}

TEST(fractions_that_fit_together_are_never_worth_more_than_their_hole)
{
    struct prng p;
    prng_init(&p, test_seed());
    for (int round = 0; round < 200; round++) {
        struct hole_demand demands[HOLE_SIZES_MAX + 4];
        struct holes h;
        uint32_t count = prng_below(&p, COUNT_OF(demands)) + 1;
        for (uint32_t i = 0; i < count; i++) {
            demands[i].share = 7 * prng_range(&p, 1, 999);
            demands[i].count = prng_range(&p, 1, 1000);
        }
        holes_price(&h, demands, count);
        EXPECT(h.most > 0);
        for (int i = 0; i < 50; i++) {
            int64_t hole = prng_range(&p, 0, DEVICE_SHARE);
            int64_t part = prng_range(&p, 0, hole);
            EXPECT(holes_value(&h, part) + holes_value(&h, hole - part) <= holes_value(&h, hole));
            EXPECT(holes_value(&h, hole) <= h.most);
        }
    }
}

TEST_MAIN()
