// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library whose destructor runs after that of the OpenMP runtime, as those of libraries that the
// program itself does not know often do, and takes a while. The other threads go on meanwhile.

// It comes after libomp in the order of libraries, so that its destructor runs after libomp's.
// BUILD as liblate_end.so: plain -fPIC -shared

#include <time.h>

namespace {

void (*at_the_end)() = nullptr;

__attribute__((destructor)) void end() {
  if (at_the_end == nullptr) return;
  at_the_end();
  const timespec a_while{0, 50'000'000};
  nanosleep(&a_while, nullptr);
}

}  // namespace

extern "C" void run_late(void (*function)()) { at_the_end = function; }
