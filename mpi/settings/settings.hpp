// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrier/algorithm_names.hpp"
#include "mpi/settings/meeting_setting.hpp"

namespace hierbar::mpi {

// The settings of the shim, as users set them:
//
//   HIERBAR_MPI          on or off. off: every barrier is the MPI library's own
//   HIERBAR_FAKE_NODES   1 to 1024: pretend that the ranks of one machine are on that many nodes,
//                        round robin
//   HIERBAR_TIMEOUT_S    0 (never) to 1000000: when a barrier takes longer than that, print who is
//                        missing
//   HIERBAR_SESSIONS     own or shared. shared: ranks that MPICH's launcher starts share a session.
//                        Here it is only checked (session_setting.hpp)
//   HIERBAR_SEGMENT_KIB  4 to 1048576: shared memory for the communicators of one node. The default
//                        depends on the number of ranks
//   HIERBAR_VERBOSE      0 or 1: report at the end what served the barriers
//   HIERBAR_MPI_SET_UP_AT
//                        1 to 1000000: the barrier of a communicator in which it is set up. Those
//                        before it are the library's own. MPI_COMM_WORLD is set up in its first one
//   HIERBAR_MPI_MEETING  library, auto or the name of a schedule: how the leaders of several nodes
//                        meet. Rank 0's value counts
//   HIERBAR_ALGORITHM    hier or a baseline: what the ranks of a node run. Rank 0's value counts
//
// An empty value means the default. HIERBAR_MPI and HIERBAR_MPI_SET_UP_AT must be the same in all
// ranks. The others may differ from rank to rank.
struct ShimSettings {
  bool enabled = true;
  bool verbose = false;
  int num_fake_nodes = 1;
  long timeout_ns = 0;
  long segment_kib = 0;  // 0: by the number of ranks
  // A set-up takes as long as 8 barriers of the library or more (docs/design/mpi-setup.md#d0177).
  std::uint64_t set_up_at = 8;
  MeetingSetting meeting;
  Algorithm algorithm = Algorithm::kHier;
  std::vector<std::string> problems;  // one line for each bad value
};

ShimSettings read_settings();

}  // namespace hierbar::mpi
