// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace hierbar::mpi {

// What people set about the shim:
//
//   HIERBAR_MPI          on or off; off: every barrier is the MPI library's own
//   HIERBAR_FAKE_NODES   1 to 1024: pretend that the ranks of one machine are on that many nodes, round robin
//   HIERBAR_TIMEOUT_S    0 (never) to 1000000: say who is missing when a barrier takes longer than that
//   HIERBAR_SEGMENT_KIB  4 to 1048576: shared memory for the communicators of one node; by default it follows the number of ranks
//   HIERBAR_VERBOSE      0 or 1: report at the end which way the barriers went
//
// An empty value means the default. All ranks must have the same HIERBAR_MPI; of the others every rank may have its own.
struct Settings {
  bool enabled = true;
  bool verbose = false;
  int num_fake_nodes = 1;
  long timeout_ns = 0;
  long segment_kib = 0;               // 0: by the number of ranks
  std::vector<std::string> problems;  // one line for each bad value
};

Settings read_settings();

}  // namespace hierbar::mpi
