/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_HIERBAR_H
#define HIERBAR_HIERBAR_H

/* The public C API of libhierbar.so. Everything else in the project is reached through an OpenMP or MPI program's own calls,
   so there is little here. */

/* The version that a program is compiled against; hierbar_version() tells the one that it runs with. Before 1.0.0 a new minor
   version may change the API. */
#define HIERBAR_VERSION_MAJOR 0
#define HIERBAR_VERSION_MINOR 1
#define HIERBAR_VERSION_PATCH 0
#define HIERBAR_VERSION_STRING "0.1.0"

#define HIERBAR_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the library's version as "major.minor.patch". The string is static: never free it. Cannot fail; callable from any
   thread at any time. */
HIERBAR_API const char *hierbar_version(void);

#ifdef __cplusplus
}
#endif

#endif
