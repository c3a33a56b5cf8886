// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace hierbar {

// Hides environment variables of this process from getenv() during its lifetime. For libraries that
// obey the environment and have no other setting.
//
// unsetenv() and setenv() would move the environment's array, while other threads of the host
// program may be reading it. This class replaces single pointers atomically and puts them back. A
// concurrent getenv() sees the old entry or none.
class MaskedEnvironment {
 public:
  // Hides the variables of these names.
  explicit MaskedEnvironment(std::span<const char* const> names);
  // Hides all variables whose names begin with `prefix`.
  explicit MaskedEnvironment(std::string_view prefix);
  ~MaskedEnvironment();
  MaskedEnvironment(const MaskedEnvironment&) = delete;
  MaskedEnvironment& operator=(const MaskedEnvironment&) = delete;

 private:
  template <class Wanted>
  void hide(const Wanted& wanted);

  std::vector<char*> hidden_;
};

}  // namespace hierbar
