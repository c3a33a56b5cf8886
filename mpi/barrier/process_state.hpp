// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/process.hpp"
#include "mpi/barrier/comm_state.hpp"
#include "mpi/between/leader_comm.hpp"
#include "mpi/between/trial.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/node/segment.hpp"
#include "mpi/record/recorder.hpp"
#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {

// This process, as other ranks know it.
struct Self {
  std::uint64_t id;
  NodeKey node;
  int pauses_per_poll;
};

// The shim's state in this process. It is made at the first call. It is never destroyed, because
// MPI may be used until the very end of the process.
class ProcessState {
 public:
  static ProcessState& get();

  const ShimSettings settings = read_settings();
  Memberships memberships;
  LeaderComms leader_comms;
  Verdicts verdicts;
  States states;
  Recorder recorder;

  // What is known about this process, from the first set-up on. `fake_rank` decides the pretended
  // node (HIERBAR_FAKE_NODES). It is the rank in MPI_COMM_WORLD where there is one, so that all
  // communicators see the same nodes.
  const Self& self(int fake_rank);

  // The key of the communicators' attribute; MPI_KEYVAL_INVALID while MPI is not in use.
  // (K1) load-acquire; pairs with (K2).
  int keyval() const noexcept { return keyval_.load(std::memory_order_acquire); }
  // Returns whether MPI is in use: initialised, by MPI_Init or for sessions, and not finalised. If
  // so, it makes the key, unless the library refuses.
  bool make_keyval(const Pmpi& pmpi);
  // Sets `state` to the state of a communicator, or to null when it has none yet. Returns MPI's
  // status. If `comm` is no communicator, the library has called an error handler, once; the caller
  // must return the status and not call it a second time. The handler may not come back.
  int find(const Pmpi& pmpi, MPI_Comm comm, CommState*& state);
  // Makes the state an attribute of `comm`. If the library refuses, the state is kept by the
  // handle; find() finds it there and tries again. A rank must not forget it: it would be alone in
  // a set-up while the others are in a barrier.
  void attach(const Pmpi& pmpi, MPI_Comm comm, CommState* state);

  // Before the library decides whether it frees `comm`: takes our attribute away, so that the
  // library decides as it would without us. MPI libraries differ in what they do with attributes
  // when a delete callback refuses (docs/design/mpi-calls.md#d0037).
  void set_aside(const Pmpi& pmpi, MPI_Comm comm, CommState& state);
  // After the library has refused to free `comm`.
  void put_back(const Pmpi& pmpi, MPI_Comm comm, CommState& state);
  // After the library has freed the communicator. Collective, as freeing is: the leaders'
  // communicator is freed if no other uses it.
  void forget(const Pmpi& pmpi, CommState* state);

  // The highest of MPI's thread levels that the world or a session has been given. A communicator
  // does not show which of them it comes from. MPI_THREAD_MULTIPLE where it is not known.
  int thread_level(const Pmpi& pmpi) const;
  // Whether there are sessions, or may be some that nobody sees.
  bool may_have_sessions(const Pmpi& pmpi) const {
    return pmpi.has_unseen_sessions || session_level_.load(std::memory_order_relaxed) >= 0;
  }

  // MPI_Session_init has succeeded, with this thread level; MPI_Session_finalize is about to be
  // called. Without a world, the reports are written with the last session. When all of them have
  // ended, the MPI library holds nothing of the shim's.
  void session_begins(int thread_level);
  void session_ends(const Pmpi& pmpi);
  // The world ends, and the reports are written, by calls that all of its ranks must make. So it is
  // called where every rank comes by, whatever its MPI_Finalize is: in the callback of an attribute
  // of MPI_COMM_SELF, which MPI_Finalize deletes before all else. finalize_comes() is for the
  // entry point, and does it where there is no such attribute.
  void world_ends(const Pmpi& pmpi);
  void finalize_comes(const Pmpi& pmpi) {
    if (!has_self_attribute_) world_ends(pmpi);
  }
  // What is to be done at the end before the reports. Local.
  void at_end(void (*end)(States&)) noexcept { at_end_.store(end, std::memory_order_relaxed); }

  // The program gives MPI a buffer for MPI_Bsend. From then on no thread remembers a communicator's
  // state between barriers, so that only barriers of such a process ask has_send_buffer().
  // Relaxed: expire_all() publishes it.
  void send_buffer_comes() noexcept {
    has_send_buffer_.store(true, std::memory_order_relaxed);
    states.expire_all();
  }
  bool has_send_buffer() const noexcept { return has_send_buffer_.load(std::memory_order_relaxed); }

  // How many communicators of a process may have memory for each part of the collectives. It is
  // much more than that of a barrier: some 13 KiB for each rank, or 25.
  static constexpr int kMostWithCollectives = 16;
  std::atomic<int>& num_with(const DataPart<NodeCollectives>&) noexcept {
    return num_with_collectives_;
  }
  std::atomic<int>& num_with(const DataPart<NodeOneWay>&) noexcept { return num_with_one_way_; }
  // Counts one more; false: there are that many.
  static bool claim_one(std::atomic<int>& number) noexcept {
    if (number.fetch_add(1, std::memory_order_relaxed) < kMostWithCollectives) return true;
    give_back_one(number);
    return false;
  }
  static void give_back_one(std::atomic<int>& number) noexcept {
    number.fetch_sub(1, std::memory_order_relaxed);
  }

  // Returns true for the first call with this route, so that each message is printed once.
  bool claim_first(Route route) {
    return !routes_reported_[static_cast<std::size_t>(route)].exchange(true,
                                                                       std::memory_order_relaxed);
  }
  // The same for messages that do not depend on the route.
  enum class Message : std::uint8_t {
    kProblems,
    kShortlist,
    kOtherMeeting,
    kOtherAlgorithm,
    kOtherServed,
    kDeviceMemory,
    kStepsAside,
    kThreadcomm,
    kCount
  };
  bool claim_first(Message message) {
    return !reported_once_[static_cast<std::size_t>(message)].exchange(true,
                                                                       std::memory_order_relaxed);
  }
  bool has_reported() const { return reported_; }

 private:
  ProcessState() = default;
  // Writes and prints the reports, this process's own or those of all ranks. Later calls do
  // nothing.
  void report(const Pmpi& pmpi, bool may_communicate);
  // The number of barriers by route, and of calls with data, added to HIERBAR_SERVED_FILE. `kind`
  // is that of the barriers.
  static void add_to_served(const char* kind, const Counts& counts, const DataCounts& data);
  // At the end of the process: the same for barriers behind the report. The program may call them
  // in a callback of MPI_COMM_SELF that is older than ours, or in sessions that it opens later. MPI
  // cannot be asked any more.
  void report_rest();
  void close(const Pmpi& pmpi);

  std::mutex mutex_;
  // (K2) release in make_keyval() and close(); pairs with (K1).
  std::atomic<int> keyval_{MPI_KEYVAL_INVALID};
  // The key of the attribute of MPI_COMM_SELF.
  int self_keyval_ = MPI_KEYVAL_INVALID;
  bool has_self_attribute_ = false;
  // It has ended, or callbacks of the program's are still running in MPI_Finalize, where a new
  // attribute of MPI_COMM_SELF would come too late.
  bool world_has_ended_ = false;
  // Relaxed: who finalises MPI is ordered after all others.
  std::atomic<void (*)(States&)> at_end_{nullptr};
  // Relaxed: the program starts a session before it uses the session's communicators.
  std::atomic<int> num_sessions_{0};
  // The highest of all sessions that there have been; -1: there was none.
  std::atomic<int> session_level_{-1};
  std::atomic<bool> has_send_buffer_{false};
  // Relaxed: only the number matters.
  std::atomic<int> num_with_collectives_{0};
  std::atomic<int> num_with_one_way_{0};
  // All relaxed: they only choose one caller.
  std::array<std::atomic<bool>, kNumRoutes> routes_reported_{};
  std::array<std::atomic<bool>, static_cast<std::size_t>(Message::kCount)> reported_once_{};
  bool reported_ = false;
  Counts num_reported_{};
  DataCounts data_reported_{};
  int reported_rank_ = 0;
  bool has_self_ = false;
  Self self_{};
};

// Whether a status says that there is no such communicator.
bool is_error_of_comm(const Pmpi& pmpi, int status);

}  // namespace hierbar::mpi
