// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_SETTINGS_H
#define KMP_HIERBAR_SETTINGS_H

// KMP_BARRIER and HIERBAR_VERBOSE. Called by kmp_settings.cpp: the table's entry of KMP_BARRIER,
// and when all variables have been read. That is when every variable of ours is read.

#include "kmp.h"

struct kmp_str_buf;

// True once KMP_BARRIER=hier has been accepted and libhierbar.so is there. Written while libomp is
// initialised.
extern bool __kmp_hierbar_enabled;

// The same, and libomp does not check the program for consistency.
extern bool __kmp_hierbar_unchecked;

// HIERBAR_VERBOSE
extern bool __kmp_hierbar_verbose;

void __kmp_stg_parse_hierbar(char const *name, char const *value, void *data);
void __kmp_stg_print_hierbar(struct kmp_str_buf *buffer, char const *name, void *data);
void __kmp_hierbar_settings_done();

#endif // KMP_HIERBAR_SETTINGS_H
