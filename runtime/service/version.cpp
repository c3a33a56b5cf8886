// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hierbar/hierbar.h"

const char *hierbar_version(void) { return HIERBAR_VERSION_STRING; }
