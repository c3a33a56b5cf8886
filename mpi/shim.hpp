// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "mpi/comm_state.hpp"
#include "mpi/leader_comm.hpp"
#include "mpi/memberships.hpp"
#include "mpi/pmpi.hpp"
#include "mpi/recorder.hpp"
#include "mpi/settings.hpp"
#include "placement/process_name.hpp"

namespace hierbar::mpi {

// This process, as other ranks know it.
struct Self {
  std::uint64_t id;
  NodeKey node;
  int pauses_per_look;
};

// What the process has of the shim: made at the first call, never destroyed, since MPI may be used until the very end.
class Shim {
 public:
  static Shim& get();

  const Settings settings = read_settings();
  Memberships memberships;
  LeaderComms leader_comms;
  States states;
  Recorder recorder;

  // What is known about this process, from the first set-up on. `fake_rank` decides the pretended node and is the rank in
  // MPI_COMM_WORLD where there is one, so that all communicators see the same nodes.
  const Self& self(int fake_rank);

  // The key of the communicators' attribute; MPI_KEYVAL_INVALID while MPI is not in use.
  int keyval() const noexcept { return keyval_.load(std::memory_order_acquire); }  // (K1)
  // Whether MPI is initialised, by MPI_Init or for sessions, and not finalised. Then makes the key, if the library lets it.
  bool make_keyval(const Pmpi& pmpi);
  // Sets the state of a communicator, null when it has none yet. False: it is no communicator.
  bool find(const Pmpi& pmpi, MPI_Comm comm, CommState*& state) noexcept;
  // Makes the state an attribute of `comm`. Where the library refuses that, find() finds it all the same, and tries again: a rank
  // that forgot it would be alone in the set-up while the others are in a barrier.
  void attach(const Pmpi& pmpi, MPI_Comm comm, CommState* state);

  // While the library decides whether it frees `comm`: it sees nothing of ours. MPICH frees when the oldest attribute's callback
  // allows it, whatever the others say, and that would be ours; and it takes all attributes of a communicator that it does not
  // free, where Open MPI stops at the first that refuses.
  void set_aside(const Pmpi& pmpi, MPI_Comm comm, CommState& state);
  // It has not freed it.
  void put_back(const Pmpi& pmpi, MPI_Comm comm, CommState& state);
  // It has. Collective as freeing is: the leaders' communicator goes if no other uses it.
  void forget(const Pmpi& pmpi, CommState* state);

  void session_begins();
  void session_ends(const Pmpi& pmpi);
  void world_ends(const Pmpi& pmpi);

  // Whether a message about this way has not been told yet; after this it has.
  bool is_first(Way way) { return !told_[static_cast<std::size_t>(way)].exchange(true, std::memory_order_relaxed); }
  bool is_first_problem_report() { return !problems_told_.exchange(true, std::memory_order_relaxed); }
  // Writes and prints this process's reports, or the program's, unless that has been done.
  void report(const Pmpi& pmpi, bool may_communicate);

 private:
  Shim() = default;
  void close(const Pmpi& pmpi);

  std::mutex mutex_;
  std::atomic<int> keyval_{MPI_KEYVAL_INVALID};  // (K2) release in make_keyval; pairs with (K1)
  int self_keyval_ = MPI_KEYVAL_INVALID;         // on MPI_COMM_SELF: runs when MPI is finalised behind the shim's back
  std::atomic<int> num_sessions_{0};
  std::array<std::atomic<bool>, kNumWays> told_{};
  std::atomic<bool> problems_told_{false};
  bool reported_ = false;
  bool has_self_ = false;
  Self self_{};
};

}  // namespace hierbar::mpi
