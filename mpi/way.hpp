// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

namespace hierbar::mpi {

// Which way a barrier goes: through the engine, or to the MPI library and why. Ways that hold for a communicator are decided
// once, by all of its ranks alike, and stay.
enum class Way : std::uint8_t {
  kEngine,
  kOneRank,
  kIntercommunicator,
  kNothingShared,   // no two ranks are on one node
  kFaultTolerance,  // the MPI library was asked to survive dead ranks, which the engine does not
  kNoSegment,
  kSegmentFull,
  kNoPlan,
  kNoLeaders,
  kSetUpFailed,  // one of the MPI library's functions did
  kNested,       // the MPI library calls MPI_Barrier from inside a barrier of ours
  kOutside,  // before MPI is initialised, after it is finalised, or on no communicator: an error, which is the library's to raise
  kOff,
};

inline constexpr std::size_t kNumWays = static_cast<std::size_t>(Way::kOff) + 1;

constexpr const char* name_of(Way way) {
  constexpr const char* kNames[kNumWays] = {
      "engine",       "one rank", "intercommunicator",      "no shared memory", "fault tolerance", "no segment",
      "segment full", "no plan",  "no leader communicator", "set-up failed",    "nested",          "outside",
      "off"};
  return kNames[static_cast<std::size_t>(way)];
}

}  // namespace hierbar::mpi
