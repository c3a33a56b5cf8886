// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kmp_hierbar_contention.h"

#include "kmp_hierbar.h"

hierbar::Contention __kmp_hierbar_contention;

void __kmp_hierbar_yield() { __kmp_hierbar_contention.yield(); }
