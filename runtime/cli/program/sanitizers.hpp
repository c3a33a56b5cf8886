// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace hierbar {

// A sanitizer of GCC's or Clang's with which a program was built.
struct Sanitizer {
  const char* name;   // "AddressSanitizer"
  bool is_linked_in;  // else it is a shared library, as GCC's are
  // What a program needs to run with preloaded libraries, if the sanitizer is a shared library.
  const char* variable;
  const char* value;
  const char* why;
};

// Those that need a setting, of the program in `file`.
std::vector<Sanitizer> find_shared_sanitizers(const std::string& file);
// These, and those that are linked in. Reads all symbols of the program.
std::vector<Sanitizer> find_all_sanitizers(const std::string& file);

}  // namespace hierbar
