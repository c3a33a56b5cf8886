// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "fold/fold.hpp"
#include "mpi/barrier/comm_state.hpp"
#include "mpi/between/leader_comm.hpp"
#include "mpi/between/least_of_leaders.hpp"
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
  // Of all ranks of the communicator, on whatever node.
  std::vector<std::uint32_t> threads_of_ranks;
  Route route;  // kEngine, or why the ranks meet in the MPI library's barrier
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
//
// Calls with data (team_data.cpp). Each is cut into pieces, of one episode each. Like a barrier no
// episode ends in a thread before all have come: who may call MPI depends on that. The threads of
// all ranks are members: they are numbered rank after rank, on whatever nodes the ranks are, and
// values are folded in this order. An episode takes one of three ways; the team decides, which is
// alike in all threads of a node:
//
//   collectives  The engine's (TeamCollectives), for allreduces where the team is on one node, is
//                not recorded and has no more threads than these take.
//   regions      Else on one node: a barrier. Before it everybody who brings values leaves them in
//                a region in shared memory, and behind it everybody takes what it needs.
//   around       With several nodes: the same, and participant 0 exchanges values with the other
//                nodes where a barrier meets them. What it leaves is the result for all.
//
// Two regions suffice: who writes one again has been in the next episode, where all others have
// arrived after they had read it.
//
// The first such call, and with collectives the first one along each plan, begins with a barrier
// more, before which everybody allocates what it needs. So all threads learn if one of them got no
// memory, and a team without such calls needs none.
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

  // For calls with data, which entry/team_collectives.cpp cuts into pieces. Whether the calling
  // thread may be this one in `function`. Returns MPI's status.
  int check(int thread, const char* function) noexcept;
  // From here to end_call() the thread is in a call, which counts as one. Requires check(), as the
  // pieces do.
  void begin_call(std::uint32_t thread, DataCall call) noexcept;
  void end_call(std::uint32_t thread) noexcept;
  // A piece of an allreduce, of `count` elements, at most most_bytes_of_allreduce(). `in` may be
  // `out`. Returns MPI's status, like bcast().
  int allreduce(std::uint32_t thread, const void* in, void* out, std::size_t count,
                std::size_t element_bytes, FoldFunction fold, const void* caller) noexcept;
  std::size_t most_bytes_of_allreduce() const noexcept;
  // A piece of a broadcast, of at most kMostBytesOfBcast. `root` is a member.
  int bcast(std::uint32_t thread, std::uint32_t root, void* data, std::size_t bytes,
            const void* caller) noexcept;
  static constexpr std::size_t kMostBytesOfBcast = TeamLayout::kRegionBytes;
  bool has_rank(int rank) const noexcept {
    return rank >= 0 && static_cast<std::size_t>(rank) < parts_.threads_of_ranks.size();
  }
  // Requires has_rank(rank).
  bool has_thread(int rank, int thread) const noexcept {
    return thread >= 0 &&
           static_cast<std::uint32_t>(thread) < parts_.threads_of_ranks[std::size_t(rank)];
  }
  std::uint32_t member(int rank, int thread) const noexcept {
    return first_members_[std::size_t(rank)] + static_cast<std::uint32_t>(thread);
  }
  const Pmpi& pmpi() const noexcept { return *parts_.pmpi; }

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
  // Counts in `states` what thread 0 has been in.
  void count_calls(States& states) const;

 private:
  // What a thread's number has been since somebody joined with it.
  enum class Joined : std::uint8_t {
    kNothingNew,
    kInNoEpisode,
    kAwaitsPlan,  // in episodes that do not tell the others of it
  };
  // What one thread uses, on lines of its own.
  struct alignas(128) Seat {
    TeamNode::Current plan;
    std::uint64_t episode = 0;
    // Who has joined last; empty: nobody. Relaxed: a thread only looks for itself.
    std::atomic<std::uintptr_t> owner{0};
    // (J1) acq_rel: of two threads that join, one is told so.
    std::atomic<Joined> joined{Joined::kNothingNew};
    std::atomic<bool> is_inside{false};  // relaxed: only wrong use depends on it
    // Of calls with data: the plan along which they are ready, and what they count.
    std::uint64_t data_plan = kNoDataPlan;
    std::uint64_t num_data_episodes = 0;
    std::uint64_t num_allreduces = 0;
    std::uint64_t num_bcasts = 0;
  };
  static constexpr std::uint64_t kNoDataPlan = ~std::uint64_t{0};
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
    const char* what = "a barrier";
    // The engine's that it is in; null: it is in the plan's barrier.
    const TeamCollectives* collectives = nullptr;

    bool has_entered(std::uint32_t participant) const noexcept;
  };

  void settle_in(Seat& seat, std::uint32_t thread) noexcept;
  bool has(int thread) const {
    return thread >= 0 && static_cast<std::uint32_t>(thread) < num_threads_;
  }
  static std::uint32_t take_news(Seat& seat) noexcept;
  template <class Trace>
  int cross(std::uint32_t thread, Trace& trace) noexcept;
  template <class Trace>
  std::uint32_t cross_node(Crossing& crossing, Trace& trace) noexcept;
  std::uint32_t meet(std::uint32_t bits) noexcept;

  // Calls with data; see team_data.cpp.
  void lay_out_members();
  bool has_data(const Seat& seat) const noexcept;
  bool allocate_data(std::uint32_t thread) noexcept;
  int prepare_data(std::uint32_t thread, const void* caller) noexcept;
  template <class Cross>
  std::uint32_t run_data_episode(Crossing& crossing, Cross&& cross) noexcept;
  template <class Exchange>
  std::uint32_t cross_with_data(Crossing& crossing, const void* caller, std::uint32_t bits,
                                const Exchange& exchange) noexcept;
  std::uint32_t exchange_words(std::size_t num_words) noexcept;
  std::uint32_t fold_for_all(std::uint64_t episode, std::size_t count, std::size_t element_bytes,
                             FoldFunction fold) noexcept;
  std::uint32_t spread(std::uint64_t episode, std::uint32_t root, std::size_t bytes) noexcept;

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

  // By rank of the communicator, and behind them how many members there are.
  std::vector<std::uint32_t> first_members_;
  bool uses_collectives_ = false;
  // Where the values of each member are: without a meeting their regions, by episode % 2. With a
  // meeting the first one is participant 0's, for its words.
  std::array<std::vector<const void*>, 2> inputs_;
  LeastOfLeaders least_;  // participant 0's
};

}  // namespace hierbar::mpi
