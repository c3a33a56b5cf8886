// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/host_name.hpp"

#include <limits.h>
#include <unistd.h>

namespace hierbar {

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

}  // namespace hierbar
