// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <string>

// Apart from the settings: the library in front of the shims speaks, and has none.

namespace hierbar::mpi {

// Writes one line to the standard error output. It is one write(), so that lines of several ranks
// do not mix.
void print_line(const std::string& text);

// What has been printed of what a program does wrong, which it may do in each step, and in several
// threads in turns. Thread-safe.
class PrintedProblems {
 public:
  // Whether this one has not been asked for before. A problem is known by the address of its text.
  bool is_new(const char* problem) noexcept {
    for (std::atomic<const char*>& place : printed_) {
      const char* there = nullptr;
      // Relaxed: it orders nothing.
      if (place.compare_exchange_strong(there, problem, std::memory_order_relaxed)) return true;
      if (there == problem) return false;
    }
    return false;
  }

 private:
  std::array<std::atomic<const char*>, 16> printed_{};
};

// Whether this process may print for the program. MPI cannot be asked, so the launcher's variables
// must tell.
bool is_first_process();

}  // namespace hierbar::mpi
