// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "barrier/algorithm_names.hpp"
#include "base/trusted_variable.hpp"
#include "mpi/settings/print_line.hpp"
#include "network/schedule.hpp"

namespace hierbar::mpi {

inline constexpr const char* kSessionsVariable = "HIERBAR_SESSIONS";
inline constexpr const char* kSharedSession = "shared";

// Whether ranks are to share a session. Allocates nothing: it is asked in MPICH's launcher, between
// fork() and exec().
inline bool shares_session() noexcept {
  const char* setting = trusted_variable(kSessionsVariable);
  return setting != nullptr && std::string_view(setting) == kSharedSession;
}

// How the leaders of several nodes meet, as HIERBAR_MPI_MEETING says.
struct MeetingSetting {
  enum class Mode : std::uint8_t {
    kLibrary,  // in the MPI library's barrier
    kAuto,     // in what a trial finds to be best
    kFixed,    // by the schedule `kind`
  };
  Mode mode = Mode::kLibrary;
  network::Kind kind;

  // As one number, in which ranks tell each other their settings. 0 for kLibrary.
  std::uint64_t code() const;
  static MeetingSetting from_code(std::uint64_t code);
};

// What the shim serves, as HIERBAR_MPI says.
enum class Served : std::uint8_t { kNothing, kBarriers, kCollectives };

inline constexpr const char* kServedVariable = "HIERBAR_MPI";

inline constexpr const char* kMeetingVariable = "HIERBAR_MPI_MEETING";

// Reads the variable. A value that is not understood is reported in `problems`; the library is used
// then.
MeetingSetting read_meeting_setting(std::vector<std::string>& problems);

// A kind as a number that is not 0, and back.
std::uint32_t code_of(network::Kind kind);
network::Kind kind_from(std::uint32_t code);

// "library", "auto", "dissemination:3"
std::string name_of(const MeetingSetting& setting);

// The settings of the shim, as users set them:
//
//   HIERBAR_MPI          barrier: serve MPI_Barrier; collectives: calls with small data, too, as
//                        MPI_Allreduce; off: nothing. on is the default, barrier
//   HIERBAR_FAKE_NODES   1 to 1024: pretend that the ranks of one machine are on that many nodes,
//                        round robin
//   HIERBAR_TIMEOUT_S    0 (never) to 1000000: when a barrier takes longer than that, print who is
//                        missing
//   HIERBAR_SESSIONS     own or shared. shared: ranks that MPICH's launcher starts share a session.
//                        Here it is only checked (shares_session())
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
  bool serves_barriers() const noexcept { return served != Served::kNothing; }
  bool serves_collectives() const noexcept { return served == Served::kCollectives; }

  Served served = Served::kBarriers;
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
