/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A libhierbar.so of a version that no libomp.so of ours was built with. */

#include <stdint.h>

__attribute__((visibility("default"))) uint32_t hierbar_plan_abi_version(void) { return 0xFFFF; }
