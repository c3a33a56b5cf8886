// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include "mpi/library/progress.hpp"
#include "mpi/team/protocols.hpp"
#include "mpi/team/team.hpp"

namespace hierbar::mpi {

// What a thread does while it waits outside the engine.
inline void yield(const TeamMem::Word&) noexcept { sched_yield(); }

// Whether the others are to be told that somebody has joined: as payload bits.
[[gnu::always_inline]] inline std::uint32_t HybridTeam::take_news(Seat& seat) noexcept {
  // Relaxed: set by this thread, or by one that the program has ordered before it.
  if (seat.joined.load(std::memory_order_relaxed) == Joined::kNothingNew) return 0;
  seat.joined.store(Joined::kNothingNew, std::memory_order_relaxed);
  return kThreadHasJoined;
}

// The body of HybridTeam::barrier() and HybridTeam::barrier_recorded(), which are compiled in two
// files, as cross_with.hpp says.
template <class Trace>
[[gnu::always_inline]] inline int HybridTeam::cross(std::uint32_t thread, Trace& trace) noexcept {
  Seat& seat = seats_[thread];
  ++seat.episode;
  Crossing crossing{this, &seat, thread};
  const std::uint32_t bits = run_team_episode(
      turns_, team_mem(), seat.episode, [&]() noexcept { return cross_node(crossing, trace); },
      [&]() noexcept { renew(crossing); }, &yield);
  return (bits & kTeamMeetingFailed) == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

template <class Trace>
[[gnu::always_inline]] inline std::uint32_t HybridTeam::cross_node(Crossing& crossing,
                                                                   Trace& trace) noexcept {
  Seat& seat = *crossing.seat;
  const WaitDuties duties{&poke, &report_overdue, &crossing};
  const Waiting& waiting = seat.plan.is_outnumbered ? outnumbered_ : parts_.waiting;
  const std::uint32_t me = first_ + crossing.thread;
  const std::uint32_t bits = take_news(seat);
  const std::uint32_t all =
      parts_.meets ? seat.plan.barrier->cross_around(
                         me, bits, waiting, duties,
                         [this](std::uint32_t gathered) noexcept { return meet(gathered); }, trace)
                   : seat.plan.barrier->cross(me, bits, waiting, duties, trace);
  // As the ranks of a communicator; one thread does it for its process.
  if (crossing.thread == 0 && seat.episode % kBarriersPerProgress == 0) [[unlikely]]
    poke(&crossing);
  return all;
}

}  // namespace hierbar::mpi
