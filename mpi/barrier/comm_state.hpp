// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/served_file.hpp"
#include "mpi/between/leader_comm.hpp"
#include "mpi/node/node_barrier.hpp"
#include "mpi/node/node_collectives.hpp"
#include "mpi/record/comm_trace.hpp"

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
  // Of its calls with data only: there is no memory for them, or the process has enough
  // communicators with them (barrier/make_collectives.hpp).
  kNoCollectives,
  // The communicator has had too few barriers to be set up (barrier/before_set_up.hpp). The one
  // value of a communicator that changes.
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
  constexpr const char* kNames[] = {"engine",
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
                                    "no collectives",
                                    "before set-up",
                                    "nested",
                                    "outside",
                                    "user-level threads",
                                    "off"};
  static_assert(std::size(kNames) == kNumRoutes, "a route without a name");
  return kNames[static_cast<std::size_t>(route)];
}

// While it exists, the calling thread is in work of the shim's own inside the MPI library: a
// set-up, or the meeting of leaders. The library may call MPI_Barrier there, and serves that
// itself. Nothing of the program's may be called meanwhile: an error handler, say, may never come
// back, and its barriers are ordinary ones.
class InsideGuard {
 public:
  InsideGuard() noexcept;
  ~InsideGuard();
  // Whether the calling thread is.
  static bool is_held() noexcept;
  InsideGuard(const InsideGuard&) = delete;
  InsideGuard& operator=(const InsideGuard&) = delete;

 private:
  const bool was_inside_;
};

using Counts = std::array<std::uint64_t, kNumRoutes>;

// The collective calls with data that the engine can serve, in the order of kDataCallsOfMpi.
enum class DataCall : std::uint8_t {
  kAllreduce,
  kBcast,
  kReduce,
  kAllgather,
  kAlltoall,
  kGather,
  kScatter,
  kReduceScatterBlock
};
// Which of the engine's two parts serves it (CommState).
constexpr bool is_one_way(DataCall call) {
  return call == DataCall::kBcast || call == DataCall::kReduce || call == DataCall::kGather ||
         call == DataCall::kScatter;
}
inline constexpr std::size_t kNumDataCalls = std::size(kDataCallsOfMpi);
constexpr std::size_t index_of(DataCall call) { return static_cast<std::size_t>(call); }
constexpr const char* name_of(DataCall call) { return kDataCallsOfMpi[index_of(call)].name; }

// What serves such calls of a communicator, where their data are small enough. Alike in all of its
// ranks; it changes once, from kUndecided (barrier/make_collectives.hpp).
enum class DataRoute : std::uint8_t { kLibrary, kUndecided, kEngine };

// One of the engine's two parts that serve them: `Memory` is NodeCollectives or NodeOneWay.
template <class Memory>
struct DataPart {
  DataRoute route = DataRoute::kLibrary;
  std::unique_ptr<Memory> memory;  // not null: the route is kEngine
};

// Calls of one function, per rank: those that the engine has served, and those that went to the
// library.
struct DataCount {
  std::uint64_t served = 0;
  std::uint64_t passed = 0;
};
using DataCounts = std::array<DataCount, kNumDataCalls>;

// Counts a call of a communicator, in which only one thread at a time is, and returns its number.
// Relaxed: a report of another thread may read the count at any time.
inline std::uint64_t count_one(std::atomic<std::uint64_t>& calls) noexcept {
  const std::uint64_t number = calls.load(std::memory_order_relaxed) + 1;
  calls.store(number, std::memory_order_relaxed);
  return number;
}

// What the shim knows about one communicator. It is an attribute of the communicator. MPI_Comm_dup
// does not copy the attribute, so a duplicate gets a block of its own.
struct CommState {
  Route route = Route::kEngine;
  // HIERBAR_VERBOSE is 1 in all of its ranks.
  bool verbose_everywhere = false;
  // HIERBAR_REPORT asks for a report in all of its ranks.
  bool reports_everywhere = false;
  bool several_nodes = false;
  // True while the shim frees the communicator. To remove the attribute does not end the state
  // then.
  bool is_aside = false;
  Waiting waiting;
  // Null: this rank is alone on its node, or the engine is not used.
  std::unique_ptr<NodeBarrier> node;
  // Only in a leader, when there are several nodes.
  std::shared_ptr<LeaderShare> leaders;
  // Null: the communicator's barriers are not recorded.
  std::unique_ptr<CommTrace> trace;
  // Only one thread at a time is in a barrier of the communicator, so a load and a store count.
  // Relaxed: a report of another thread may read it at any time.
  std::atomic<std::uint64_t> num_barriers{0};
  DataPart<NodeCollectives> collectives;
  DataPart<NodeOneWay> one_way;
  // The same for calls with data that the engine could serve. Until the set-up the library does,
  // and they count with the barriers (barrier/before_set_up.hpp).
  std::array<std::atomic<std::uint64_t>, kNumDataCalls> num_data_calls{};
};

// `comm`, whose state this is, is being freed: what is recorded of its barriers is put together.
// Collective, as freeing is.
void settle_trace(const CommState& state, const Pmpi& pmpi, MPI_Comm comm);

// One barrier on `comm`, whose state this is. Returns MPI's status. The library or the program's
// error handler may be called, so it may be left by a jump or an exception, and be called inside
// itself on another communicator.
int cross(CommState& state, const Pmpi& pmpi, MPI_Comm comm);
// The same, recorded if the communicator's barriers are. `caller` is the place in the program from
// which the barrier is called. It is a separate function, so that cross() has no instruction for
// it.
int cross_recorded(CommState& state, const Pmpi& pmpi, MPI_Comm comm, const void* caller);

// All states of the process. The report at the end adds up their counts. Thread-safe.
class States {
 public:
  void add(CommState* state);
  // The state's count of barriers stays.
  void remove(CommState* state);
  // How often states were removed. It grows before a state is removed, and before its communicator
  // can be freed. (S1) load-acquire; pairs with (S2).
  std::uint64_t num_removals() const noexcept {
    return num_removals_.load(std::memory_order_acquire);
  }
  // Keeps a state that could not be made an attribute, by its communicator's handle. If such a
  // communicator is freed past the shim, nothing tells us. So the state stays here only until it
  // can be made an attribute.
  void add_loose(MPI_Comm comm, CommState* state);
  // Returns null if there is no such state.
  CommState* take_loose(MPI_Comm comm);
  void forget_loose();

  // Ranks of this node outnumber its cpus. This holds for all communicators that this process has
  // and will have, and it stays, even after the other ranks have ended. It is written into the
  // blocks of the communicators, where the processes that share one of them read it
  // (docs/design/mpi-calls.md#d0029).
  //
  // Returns true if it is new here and this process is rank 0 of one of these communicators: that
  // one may report it.
  bool mark_oversubscribed();
  bool is_oversubscribed() const noexcept {
    return is_oversubscribed_.load(std::memory_order_relaxed);
  }

  // Makes invalid what threads remember about states: communicators are about to be freed, or their
  // attributes mean nothing any more. (S2) release; pairs with (S1).
  void expire_all() noexcept { num_removals_.fetch_add(1, std::memory_order_release); }
  // Counts barriers that belong to no state. Relaxed: the count is only reported.
  void count(Route route, std::uint64_t number = 1) {
    loose_[static_cast<std::size_t>(route)].fetch_add(number, std::memory_order_relaxed);
  }
  Counts counts();
  // Counts calls with data that the library serves. Relaxed, as above.
  void count_passed(DataCall call) noexcept {
    passed_data_calls_[index_of(call)].fetch_add(1, std::memory_order_relaxed);
  }
  // Counts those of a team, which belong to no state.
  void count_data(DataCall call, bool is_served, std::uint64_t number);
  DataCounts data_counts();

 private:
  std::mutex mutex_;
  std::vector<std::pair<MPI_Comm, CommState*>> by_handle_;
  // Relaxed: the program orders its uses of one communicator, and with them the addition and the
  // removal of its state.
  std::atomic<bool> has_loose_{false};
  // Relaxed: it only changes how ranks wait.
  std::atomic<bool> is_oversubscribed_{false};
  std::unordered_set<CommState*> states_;
  Counts removed_{};
  std::atomic<std::uint64_t> num_removals_{0};
  std::array<std::atomic<std::uint64_t>, kNumRoutes> loose_{};
  std::array<std::uint64_t, kNumDataCalls> removed_data_calls_{};
  std::array<std::atomic<std::uint64_t>, kNumDataCalls> passed_data_calls_{};
};

}  // namespace hierbar::mpi
