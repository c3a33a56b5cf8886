// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>

namespace hierbar::mpi {

// A function of this library: its entry point is a jump to `target`. entries.cpp has them all.
struct Entry {
  // At first the code that looks for the function. It passes the entry to find_target(), and goes
  // on to what that returns.
  // (T1) release in find_target(); pairs with (T2), the acquire of the entry point.
  std::atomic<void*> target;
  const char* name;
};

// Null: this library has no function of that name, or it is dlsym() or setsid().
const Entry* find_entry(const char* name);

// The function behind `entry`, which is called from the address `caller` for the first time: the
// shim's, or where the call went without this library. Never null. Later calls go there at once.
void* find_target(Entry& entry, const void* caller);

}  // namespace hierbar::mpi
