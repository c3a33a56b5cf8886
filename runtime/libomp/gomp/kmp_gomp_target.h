// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_TARGET_H
#define KMP_GOMP_TARGET_H

// Target regions, which run on the host. Called by kmp_gsupport.cpp.

#include "kmp.h"

void __kmp_gomp_target(int device, void (*fn)(void *), void **hostaddrs);

#endif // KMP_GOMP_TARGET_H
