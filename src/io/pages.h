// SPDX-License-Identifier: Apache-2.0
// pages: huge pages for large pieces of memory. A fault for every 4 KiB costs about as much as what a
// scheduling cycle then does with them.
#pragma once

/* pages_use lets base/mem take large pieces in huge pages, where the system has them. Call it once,
 * first thing in main. Under a sanitizer that looks for leaks it does nothing: such a one reads what
 * comes from the allocator only. */
void pages_use(void);
