// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/team/team.hpp"

#include <pthread.h>
#include <sched.h>

#include <utility>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/settings/settings.hpp"
#include "mpi/team/cross_team.hpp"

namespace hierbar::mpi {
namespace {

// Of CallerTurns.
alignas(128) constinit TeamMem::Word callers_lock{0};

std::uint32_t participants_before(const std::vector<TeamRank>& ranks, std::uint32_t position) {
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < position; ++i) before += ranks[i].num_threads;
  return before;
}

std::uintptr_t this_thread_id() noexcept { return static_cast<std::uintptr_t>(pthread_self()); }

}  // namespace

HybridTeam::HybridTeam(TeamParts parts)
    : parts_(std::move(parts)),
      is_plain_(!parts_.meets && parts_.trace == nullptr),
      outnumbered_(parts_.waiting.when_outnumbered()),
      num_threads_(parts_.ranks[parts_.own_rank].num_threads),
      first_(participants_before(parts_.ranks, parts_.own_rank)),
      seats_(new Seat[num_threads_]),
      turns_(parts_.callers, num_threads_, callers_lock, caller_words_) {
  for (std::uint32_t i = 0; i < num_threads_; ++i) seats_[i].plan = parts_.node->first();
  lay_out_members();
}

int HybridTeam::join(int thread) noexcept {
  constexpr const char* kFunction = "hierbar_team_join";
  if (!has(thread)) return complain(MPI_ERR_RANK, thread, kFunction, "is out of range");
  if (parts_.funneled && thread == 0) {
    int is_main = 0;
    ask([&] { return parts_.pmpi->Is_thread_main(&is_main); });
    if (is_main == 0) {
      return complain(MPI_ERR_OTHER, thread, kFunction,
                      "must be MPI's main thread, as MPI_THREAD_FUNNELED is what MPI provides");
    }
  }
  Seat& seat = seats_[thread];
  if (seat.is_inside.load(std::memory_order_relaxed)) {
    return complain(MPI_ERR_OTHER, thread, kFunction, "is in a barrier of another thread");
  }
  if (seat.joined.exchange(Joined::kInNoEpisode, std::memory_order_acq_rel) ==  // (J1)
      Joined::kInNoEpisode) {
    return complain(MPI_ERR_OTHER, thread, kFunction,
                    "has already joined, and has not called a barrier since");
  }
  settle_in(seat, static_cast<std::uint32_t>(thread));
  return MPI_SUCCESS;
}

void HybridTeam::take(int thread) noexcept {
  Seat& seat = seats_[thread];
  const auto number = static_cast<std::uint32_t>(thread);
  if (seat.owner.load(std::memory_order_relaxed) == this_thread_id() &&
      parts_.node->is_binding_published(first_ + number))
    return;
  seat.joined.store(Joined::kInNoEpisode, std::memory_order_relaxed);
  settle_in(seat, number);
}

void HybridTeam::settle_in(Seat& seat, std::uint32_t thread) noexcept {
  seat.owner.store(this_thread_id(), std::memory_order_relaxed);
  parts_.node->publish_binding(first_ + thread);
  if (parts_.trace != nullptr) parts_.trace->set_cpus(thread);
}

int HybridTeam::check(int thread, const char* function) noexcept {
  if (!has(thread)) return complain(MPI_ERR_RANK, thread, function, "is out of range");
  if (seats_[thread].owner.load(std::memory_order_relaxed) != this_thread_id()) {
    return complain(MPI_ERR_OTHER, thread, function, "was not joined by the calling thread");
  }
  if (!has_comm_.load(std::memory_order_relaxed)) {
    return complain(MPI_ERR_COMM, thread, function,
                    "belongs to a team whose communicator has been freed");
  }
  return MPI_SUCCESS;
}

int HybridTeam::barrier(int thread) noexcept {
  const int status = check(thread, "hierbar_team_barrier");
  if (status != MPI_SUCCESS) return status;
  const Inside inside(seats_[thread]);
  NoTrace trace;
  return cross(static_cast<std::uint32_t>(thread), trace);
}

std::uint32_t HybridTeam::meet(std::uint32_t bits) noexcept {
  const Pmpi& pmpi = *parts_.pmpi;
  LeaderShare* const leaders = parts_.leaders.get();
  const auto meet = [&]() noexcept {
    if (leaders == nullptr) return pmpi.Barrier(parts_.comm);
    const InsideGuard guard;
    return leaders->meet(pmpi);
  };
  return bits | (turns_.meet(team_mem(), meet, &yield) == MPI_SUCCESS ? 0 : kTeamMeetingFailed);
}

void HybridTeam::renew(Crossing& crossing) noexcept {
  TeamNode::Current& plan = crossing.seat->plan;
  const std::uint32_t me = first_ + crossing.thread;
  const PlannedBarrier& before = *plan.barrier;
  plan = parts_.node->renew(me, plan.number, [&]() noexcept {
    poke(&crossing);
    sched_yield();
  });
  if (me == 0 && plan.number == 1 && parts_.verbose) describe(plan);
  // The plan before is still there: the next one replaces it.
  if (parts_.trace != nullptr && !is_same_tree(before.plan(), plan.barrier->plan()))
    parts_.trace->tree_changes(crossing.thread);
}

void HybridTeam::describe(const TeamNode::Current& current) const {
  const hierbar_plan& plan = current.barrier->plan();
  print_line("team of " + std::to_string(plan.num_participants) + " threads in " +
             std::to_string(parts_.ranks.size()) +
             " ranks on this node: " + std::to_string(plan.num_leaders) + " in the exchange, " +
             std::to_string(plan.depth) + " line transfers deep; " +
             (current.is_outnumbered ? "threads outnumber cpus" : "a cpu for every thread") +
             (parts_.route == Route::kEngine
                  ? ""
                  : std::string("; ranks meet in the MPI library: ") + mpi::name_of(parts_.route)));
}

// Thread 0 may always call MPI, so that the others need not stay awake for peers.
bool HybridTeam::poke(void* context) noexcept {
  const Crossing& crossing = *static_cast<const Crossing*>(context);
  crossing.team->turns_.try_call(team_mem(), crossing.thread, crossing.seat->episode,
                                 [] { make_progress(); });
  return crossing.thread == 0 && has_windows();
}

bool HybridTeam::is_in_use() const noexcept {
  for (std::uint32_t i = 0; i < num_threads_; ++i) {
    if (seats_[i].is_inside.load(std::memory_order_acquire)) return true;
  }
  return false;
}

int HybridTeam::complain(int code, int thread, const char* function, const char* problem) noexcept {
  static constinit PrintedProblems printed;
  if (printed.is_new(problem)) {
    print_line(std::string(function) + ": thread " + std::to_string(thread) + " of rank " +
               std::to_string(parts_.ranks[parts_.own_rank].comm_rank) + " " + problem +
               "; allowed are the threads 0 to " + std::to_string(num_threads_ - 1) +
               ", each once");
  }
  return code;
}

}  // namespace hierbar::mpi
