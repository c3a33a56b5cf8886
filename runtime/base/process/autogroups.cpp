// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/process/autogroups.hpp"

#include <unistd.h>

#include <fstream>

namespace hierbar {

bool read_has_autogroups(const std::string& file) {
  std::ifstream stream(file);
  int value = 0;
  return stream >> value && value != 0;
}

bool is_in_other_session(pid_t process) { return getsid(process) != getsid(0); }

}  // namespace hierbar
