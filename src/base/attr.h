// SPDX-License-Identifier: Apache-2.0
// attr: the compiler attributes we use, under names that say why.
#pragma once

#define MUST_USE          __attribute__((warn_unused_result))
#define NORETURN          __attribute__((noreturn))
#define PRINTF_LIKE(f, a) __attribute__((format(__printf__, f, a)))
#define UNUSED            __attribute__((unused))
#define CLEANUP(fn)       __attribute__((cleanup(fn)))
#define COUNT_OF(array)   (sizeof(array) / sizeof((array)[0]))
#define LIKELY(x)         __builtin_expect(!!(x), 1)
#define UNLIKELY(x)       __builtin_expect(!!(x), 0)
#if defined(__clang__)
#define WRAPS __attribute__((no_sanitize("integer"))) /* arithmetic that wraps on purpose */
#else
#define WRAPS
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
