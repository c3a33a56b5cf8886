// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "mpi/barrier/comm_state.hpp"
#include "mpi/between/leader_comm.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/record/team_trace.hpp"
#include "mpi/team/protocols.hpp"
#include "mpi/team/team_node.hpp"

namespace hierbar::mpi {

// One rank of a team on this node.
struct TeamRank {
  int comm_rank;
  std::uint32_t num_threads;
  ProcessName process;
};

// What a team is made from. The participants of `node` are the threads of `ranks`, rank after rank.
struct TeamParts {
  const Pmpi* pmpi;
  MPI_Comm comm;
  std::string comm_name;
  std::unique_ptr<TeamNode> node;
  std::vector<TeamRank> ranks;
  std::uint32_t own_rank;  // position in `ranks`
  Route route;             // kEngine, or why the ranks meet in the MPI library's barrier
  // The ranks of the team are not all in `ranks`: participant 0 meets with others.
  bool meets;
  std::shared_ptr<LeaderShare> leaders;  // null: they meet on `comm`
  Callers callers;
  bool funneled;
  Waiting waiting;
  bool verbose;
  std::unique_ptr<TeamTrace> trace;  // null: its barriers are not recorded
};

// The threads of all ranks of a communicator, as one process has them. hierbar/mpi.h says what its
// functions do and return. One episode:
//
//   1. cross    The engine's barrier of the node, over the threads of all its ranks. If there are
//               others to meet, participant 0 does so between gather and release.
//   2. renew    If a thread has joined since the episode before, a payload bit has told all of
//               them: they make a new plan (TeamNode::renew()). So a join costs nothing where
//               nobody joins.
//
// run_team_episode() has the order of these steps and of the turns in calling MPI.
class HybridTeam {
 public:
  explicit HybridTeam(TeamParts parts);

  int join(int thread) noexcept;
  // Like join(), for callers that assign thread numbers themselves: at most one thread per number
  // at a time. Requires that `thread` is in range. Costs nothing later if the thread had the number
  // before and has not moved.
  void take(int thread) noexcept;
  int barrier(int thread) noexcept;
  // The same, recorded. `caller` is the place in the program from which it is called. It is a
  // separate function, so that barrier() has no instruction for it.
  int barrier_recorded(int thread, const void* caller) noexcept;
  // Whether a thread of this process is in a barrier of the team.
  bool is_in_use() const noexcept;
  // Gives up what belongs to several ranks, for the end of the team.
  std::shared_ptr<LeaderShare> take_leaders() { return std::move(parts_.leaders); }

  MPI_Comm comm() const { return parts_.comm; }
  // The communicator has been freed.
  void lose_comm() { has_comm_.store(false, std::memory_order_relaxed); }
  // Its barriers meet no others and are not recorded.
  bool is_plain() const { return is_plain_; }
  bool is_recorded() const { return parts_.trace != nullptr; }
  // Before the end of a team that is recorded: puts together what its ranks know. Collective.
  void settle();
  Route route() const { return parts_.route; }
  // How many barriers thread 0 has been in.
  std::uint64_t num_barriers() const { return seats_[0].episode; }

 private:
  // What one thread uses, on lines of its own.
  struct alignas(128) Seat {
    TeamNode::Current plan;
    std::uint64_t episode = 0;
    // Who has joined last; empty: nobody. Relaxed: a thread only looks for itself.
    std::atomic<std::uintptr_t> owner{0};
    // Joined, and in no barrier since. (J1) acq_rel: of two threads that join, one is told so.
    std::atomic<bool> is_new{false};
    std::atomic<bool> is_inside{false};  // relaxed: only wrong use depends on it
  };
  // From a call of barrier() to its end. The release pairs with is_in_use()'s acquire: a team that
  // is not in use may be freed.
  class Inside {
   public:
    explicit Inside(Seat& seat) noexcept : seat_(seat) {
      seat_.is_inside.store(true, std::memory_order_relaxed);
    }
    ~Inside() { seat_.is_inside.store(false, std::memory_order_release); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Seat& seat_;
  };
  struct Crossing {
    HybridTeam* team;
    Seat* seat;
    std::uint32_t thread;
  };

  void settle_in(Seat& seat, std::uint32_t thread) noexcept;
  bool has(int thread) const {
    return thread >= 0 && static_cast<std::uint32_t>(thread) < num_threads_;
  }
  // Whether the calling thread may be this one in a barrier. Returns MPI's status.
  int check(int thread) noexcept;
  template <class Trace>
  int cross(std::uint32_t thread, Trace& trace) noexcept;
  template <class Trace>
  std::uint32_t cross_node(Crossing& crossing, Trace& trace) noexcept;
  std::uint32_t meet(std::uint32_t bits) noexcept;
  void renew(Crossing& crossing) noexcept;
  void describe(const TeamNode::Current& plan) const;
  TeamTrace::Places places() const;
  static bool is_same_tree(const hierbar_plan& one, const hierbar_plan& other);
  static bool poke(void* crossing) noexcept;
  static void report_overdue(void* crossing, long waited_ns) noexcept;
  std::string name_of(std::uint32_t participant) const;
  std::string list(const std::vector<std::uint32_t>& missing) const;
  // Prints the first problem of each kind.
  int complain(int code, int thread, const char* function, const char* problem) noexcept;

  TeamParts parts_;
  bool is_plain_;
  Waiting outnumbered_;
  std::uint32_t num_threads_;
  std::uint32_t first_;  // participant: this process's thread 0
  std::unique_ptr<Seat[]> seats_;
  CallerWords<TeamMem::Word> caller_words_;
  CallerTurns<TeamMem> turns_;
  std::atomic<bool> has_comm_{true};
};

}  // namespace hierbar::mpi
