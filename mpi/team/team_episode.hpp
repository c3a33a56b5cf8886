// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "mpi/team/caller_turns.hpp"

namespace hierbar::mpi {

// Payload bits of a team's barrier.
inline constexpr std::uint32_t kTeamMeetingFailed = 1;
inline constexpr std::uint32_t kThreadHasJoined = 2;

// One thread's part of one episode, step by step:
//
//   1. come     From here on other threads may call MPI for this process.
//   2. cross    The engine's barrier. Returns the OR of all participants' bits.
//   3. renew    If a thread of the node has joined, all of them change the plan. They wait for each
//               other there, so the episode is not closed yet.
//   4. leave    From here on nobody calls MPI for this process.
template <class Mem, class Cross, class Renew, class Wait>
std::uint32_t run_team_episode(const CallerTurns<Mem>& turns, const Mem& mem, std::uint64_t episode, Cross&& cross, Renew&& renew,
                               Wait&& wait) {
  turns.come(mem);
  const std::uint32_t bits = cross();
  if ((bits & kThreadHasJoined) != 0) renew();
  turns.leave(mem, episode, wait);
  return bits;
}

}  // namespace hierbar::mpi
