// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/settings/message.hpp"

#include <unistd.h>

namespace hierbar::mpi {

void say(const std::string& text) {
  const std::string line = "hierbar: mpi: " + text + "\n";
  // If this fails there is nobody to tell.
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace hierbar::mpi
