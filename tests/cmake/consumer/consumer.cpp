// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <hierbar/hierbar.h>
#include <hierbar/barrier/barrier.hpp>

#include <cstdio>

int main() { std::printf("%s %s\n", hierbar_version(), HIERBAR_VERSION_STRING); }
