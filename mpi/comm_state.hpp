// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mpi/comm_trace.hpp"
#include "mpi/leader_comm.hpp"
#include "mpi/node_barrier.hpp"
#include "mpi/way.hpp"

namespace hierbar::mpi {

using Counts = std::array<std::uint64_t, kNumWays>;

// What the shim knows about one communicator; an attribute of it. MPI_Comm_dup does not copy the attribute, so that a duplicate
// gets a block of its own.
struct CommState {
  Way way = Way::kEngine;
  bool verbose_everywhere = false;  // HIERBAR_VERBOSE=1 in all of its ranks
  bool reports_everywhere = false;  // HIERBAR_REPORT asks for a report in all of its ranks
  bool several_nodes = false;
  bool is_aside = false;  // the communicator is being freed; the attribute's end is not the state's then
  Waiting waiting;
  std::unique_ptr<NodeBarrier> node;    // null: this rank is alone on its node, or the engine is not used
  std::shared_ptr<LeaderComm> leaders;  // in a leader, when there are several nodes
  std::unique_ptr<CommTrace> trace;     // null: its barriers are not recorded
  // One thread at a time is in a communicator's barrier; relaxed, for the report that may come from another.
  std::atomic<std::uint64_t> num_barriers{0};
};

// One barrier on `comm`, whose state this is.
int cross(CommState& state, const Pmpi& pmpi, MPI_Comm comm) noexcept;
// The same, recorded if the communicator's barriers are. `caller` is where the program calls it. A function of its own, so that
// the other one has not one instruction for it.
int cross_recorded(CommState& state, const Pmpi& pmpi, MPI_Comm comm, const void* caller) noexcept;

// All states of the process, for the report at the end. Thread-safe.
class States {
 public:
  void add(CommState* state);
  void remove(CommState* state);  // its count stays
  // Grows before a state is removed, and before its communicator can be freed.
  std::uint64_t num_removals() const noexcept { return num_removals_.load(std::memory_order_acquire); }  // (S1)
  // A state that could not be made an attribute, by its communicator's handle. Nobody tells when such a communicator is freed
  // past the shim, so it stays here no longer than it must.
  void add_loose(MPI_Comm comm, CommState* state);
  CommState* take_loose(MPI_Comm comm);  // null: none
  void forget_loose();

  // Ranks of this node outnumber its cpus: so they do in all communicators that this process has, and will have; processes that
  // it shares one of them with read it there. It stays, also when the others have gone. Returns whether this process is a rank 0
  // to which that is new, so that one speaks.
  bool tell_crowded();
  bool is_crowded() const noexcept { return is_crowded_.load(std::memory_order_relaxed); }

  // No state is what it was a moment ago: the communicators are about to be freed, or their attributes mean nothing any more.
  void expire_all() noexcept { num_removals_.fetch_add(1, std::memory_order_release); }  // (S2) pairs with (S1)
  // A barrier that belongs to no state.
  void count(Way way) { loose_[static_cast<std::size_t>(way)].fetch_add(1, std::memory_order_relaxed); }
  Counts counts();

 private:
  std::mutex mutex_;
  std::vector<std::pair<MPI_Comm, CommState*>> by_handle_;
  std::atomic<bool> has_loose_{false};   // relaxed: a communicator's state is added and taken where the program orders its use
  std::atomic<bool> is_crowded_{false};  // relaxed: it changes how ranks wait, and no more
  std::unordered_set<CommState*> states_;
  Counts removed_{};
  std::atomic<std::uint64_t> num_removals_{0};
  std::array<std::atomic<std::uint64_t>, kNumWays> loose_{};
};

}  // namespace hierbar::mpi
