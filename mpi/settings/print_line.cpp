// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/settings/print_line.hpp"

#include <unistd.h>

#include <string_view>

#include "base/launchers.hpp"
#include "base/trusted_variable.hpp"

namespace hierbar::mpi {

void print_line(const std::string& text) {
  const std::string line = "hierbar: mpi: " + text + "\n";
  // If this fails there is nobody to tell.
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

bool is_first_process() {
  const char* const rank = rank_in_job(own_environment());
  return rank == nullptr || std::string_view(rank) == "0";
}

}  // namespace hierbar::mpi
