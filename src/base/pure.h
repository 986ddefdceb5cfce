// SPDX-License-Identifier: Apache-2.0
// pure: forced into every file of the pure folders by the build. What reaches for the clock, the
// allocator, the environment, a file or chance does not compile there; tools/pure checks the rest
// on the symbols of the objects.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A hardened clang build has these as macros, and a macro cannot be poisoned. */
#undef printf
#undef fprintf

#pragma GCC poison malloc calloc realloc reallocarray strdup strndup aligned_alloc
#pragma GCC poison time clock_gettime gettimeofday localtime gmtime localtime_r gmtime_r
#pragma GCC poison rand random srand getenv setenv secure_getenv
#pragma GCC poison printf fprintf puts fputs putchar fopen fclose FILE
#pragma GCC poison abort system popen qsort
