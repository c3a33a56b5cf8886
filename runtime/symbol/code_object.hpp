// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

namespace hierbar {

// A program or library as this process has or had it in memory.
struct CodeObject {
  std::string path;         // from which it can be opened
  std::string name;         // for people: without directories
  std::uintptr_t bias = 0;  // what the loader has added to the file's addresses
  std::string build_id;     // as hexadecimal digits; empty if it has none
};

// Notes which object an address belongs to, so that it is still known when the library has been
// unloaded and another one has its place. Takes no lock of the loader: a barrier may be inside a
// library's initialisation, while the thread that loads it waits for the barrier's other threads.
// Does nothing where the C library cannot tell without that lock (glibc before 2.35).
void remember_code(const void* address);

// The object that had the address when it was remembered, or that has it now. `path` is empty if
// there is none. Takes the loader's lock.
CodeObject object_of(const void* address);

// The object that has the address now.
CodeObject loaded_object(const void* address);

}  // namespace hierbar
