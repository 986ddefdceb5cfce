// SPDX-License-Identifier: Apache-2.0
// units: the integer units of everything the core counts. No float is ever used in a decision.
//
//   devices         shares of 1/7000 of a device: a thousandth and a seventh (a MIG slice) are whole
//   device memory   bytes of one device
//   CPU             millicores
//   memory          bytes
//   time            milliseconds of wall time, made non-decreasing by the engine
//   weights         thousandths (a weight of 1 is 1000)
#pragma once

#include <stdint.h>

#define DEVICE_SHARE     INT64_C(7000) /* one whole device */
#define MIG_SLICE_SHARE  INT64_C(1000) /* one compute slice of a card with seven */
#define AMOUNT_UNLIMITED INT64_C(-1)   /* a quota or a limit without end */
#define WEIGHT_ONE       INT64_C(1000) /* an over-quota weight of 1 */
#define TIME_NEVER       INT64_C(-1)   /* a point in time that has not been */
#define DURATION_UNSET   INT64_MIN     /* a duration to be taken from the parent or the default */
