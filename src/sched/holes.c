// SPDX-License-Identifier: Apache-2.0
// holes: fractions waste devices whatever one does, but not equally: beside 0.81 of a device nothing
// fits, so a hole of 0.19 is no loss, while two thirds that hold one third are. How many devices a
// demand needs at least is a linear program (cutting stock); the solution of its dual is a price for
// each size. Here the prices are whole numbers, of which a device is worth up to UNITS_MAX: for each
// such number a climb from prices proportional to size, one price up or down at a time; the best of
// all is kept. On production mixes it comes within a third of a percent of the exact bound, and the
// few distinct prices make better decisions than the exact ones, which tell apart what hardly
// matters.
//
// What a hole is worth is a knapsack. It is solved over values instead of sizes: least[v], the
// smallest share worth v, has a few dozen entries, whatever the sizes are.
#include "sched/holes.h"

#include "base/num.h"
#include "model/units.h"

enum { UNITS_MAX = 8 };

struct climb {
    const struct hole_demand *demands;
    uint32_t count;
    int64_t price[HOLE_SIZES_MAX];
    int64_t sum;  /* of price times count */
    int64_t most; /* what a whole device is worth */
};

// Fills in least[] up to what a whole device is worth, and gives that; 0 when it is more than there
// is room for.
static int64_t solve(const struct climb *c, int64_t *least)
{
    least[0] = 0;
    for (int64_t v = 1; v <= HOLE_VALUES_MAX; v++) {
        int64_t best = INT64_MAX;
        for (uint32_t i = 0; i < c->count; i++) {
            int64_t price = c->price[i];
            if (price > 0) {
                int64_t rest = price < v ? least[v - price] : 0;
                best = num_min_i64(best, c->demands[i].share + rest);
            }
        }
        if (best > DEVICE_SHARE) {
            return v - 1;
        }
        least[v] = best;
    }
    return 0;
}

// Moves one price when that makes the whole demand worth more devices.
static bool step(struct climb *c, uint32_t i, int64_t by, int64_t units)
{
    int64_t least[HOLE_VALUES_MAX + 1];
    if (c->price[i] + by < 0 || c->price[i] + by > units) {
        return false;
    }
    c->price[i] += by;
    int64_t most = solve(c, least);
    int64_t sum = c->sum + by * c->demands[i].count;
    if (most == 0 || (c->most > 0 && num_cmp_frac(sum, most, c->sum, c->most) <= 0)) {
        c->price[i] -= by;
        return false;
    }
    c->sum = sum;
    c->most = most;
    return true;
}

// Each step that is kept raises the bound, so this ends.
static void climb(struct climb *c, int64_t units)
{
    int64_t least[HOLE_VALUES_MAX + 1];
    c->sum = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        c->price[i] = c->demands[i].share * units / DEVICE_SHARE;
        c->sum += c->price[i] * c->demands[i].count;
    }
    c->most = solve(c, least);
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < c->count; i++) {
            moved = step(c, i, 1, units) || step(c, i, -1, units) || moved;
        }
    }
}

void holes_price(struct holes *h, const struct hole_demand *demands, uint32_t count)
{
    struct climb best = {.count = 0};
    for (int64_t units = 1; units <= UNITS_MAX; units++) {
        struct climb c = {demands, count < HOLE_SIZES_MAX ? count : HOLE_SIZES_MAX, {0}, 0, 0};
        climb(&c, units);
        if (c.most > 0 &&
            (best.most == 0 || num_cmp_frac(c.sum, c.most, best.sum, best.most) > 0)) {
            best = c;
        }
    }
    h->most = best.most > 0 ? solve(&best, h->least) : 0;
    if (h->most == 0) {
        // No fractions: a device that is touched is worth nothing any more.
        h->most = 1;
        h->least[0] = 0;
        h->least[1] = DEVICE_SHARE;
    }
}

int64_t holes_value(const struct holes *h, int64_t share)
{
    int64_t value = 0;
    while (value < h->most && h->least[value + 1] <= share) {
        value++;
    }
    return value;
}
