/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* libhierbar_hwloc.so. The loader fills the table when it opens this library, or refuses an hwloc
   that lacks one of the functions. */

#include "topology/hwloc_functions.h"

__attribute__((visibility("default")))
const hierbar_hwloc hierbar_hwloc_functions = {HIERBAR_HWLOC_VERSION, sizeof(hierbar_hwloc),
#define HIERBAR_HWLOC_FUNCTION(name) hwloc_##name,
                                               HIERBAR_HWLOC_FUNCTIONS(HIERBAR_HWLOC_FUNCTION)
#undef HIERBAR_HWLOC_FUNCTION
};
