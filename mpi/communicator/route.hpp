// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

namespace hierbar::mpi {

// What serves a barrier: the engine, a baseline in its place, or the MPI library, and why. A value
// that concerns a communicator is decided once, by all of its ranks alike, and does not change.
enum class Route : std::uint8_t {
  kEngine,
  kBaseline,  // HIERBAR_ALGORITHM names one
  kOneRank,
  kIntercommunicator,
  // A communicator of threads that no team serves (team/threadcomm.hpp).
  kThreadcomm,
  kNothingShared,  // no two ranks are on one node
  // The leaders need a communicator, which this library lets the main thread make only.
  kNotMainThread,
  // The MPI library was asked to survive dead ranks. The engine cannot.
  kFaultTolerance,
  kNoSegment,
  kSegmentFull,
  kNoPlan,
  kNoLeaders,
  // A function of the MPI library failed.
  kSetUpFailed,
  // The communicator has had too few barriers to be set up (setup/before_set_up.hpp). The one value
  // of a communicator that changes.
  kBeforeSetUp,
  // The MPI library calls MPI_Barrier from inside a barrier of ours.
  kNested,
  // Before MPI is initialised, after it is finalised, or on no communicator. These are errors that
  // the library must raise.
  kOutside,
  kUserThreads,  // Pmpi::has_user_threads
  kOff,
};

inline constexpr std::size_t kNumRoutes = static_cast<std::size_t>(Route::kOff) + 1;

constexpr const char* name_of(Route route) {
  constexpr const char* kNames[kNumRoutes] = {"engine",
                                              "baseline",
                                              "one rank",
                                              "intercommunicator",
                                              "threadcomm",
                                              "no shared memory",
                                              "not main thread",
                                              "fault tolerance",
                                              "no segment",
                                              "segment full",
                                              "no plan",
                                              "no leader communicator",
                                              "set-up failed",
                                              "before set-up",
                                              "nested",
                                              "outside",
                                              "user-level threads",
                                              "off"};
  return kNames[static_cast<std::size_t>(route)];
}

}  // namespace hierbar::mpi
