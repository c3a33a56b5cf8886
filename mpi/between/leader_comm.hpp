// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "mpi/between/meeting.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// A communicator on which the leaders of several nodes meet. An MPI library has few communicators,
// so the program's communicators with the same leaders share some of ours.
struct LeaderComm {
  MPI_Comm comm;
  std::uint64_t id;                      // the same in all leaders
  std::vector<std::uint64_t> processes;  // the processes of the leaders, in order
  // Of those who may call the library's collectives on `comm`. Used by one thread at a time.
  Meeting meeting;
  // With the mutex of LeaderComms:
  int num_of_collectives = 0;  // who use them
  std::uint64_t last_tag = 0;  // that the first leader has given away
  bool is_forgotten = false;
};

// How one of the program's communicators, or a team, uses a LeaderComm.
struct LeaderShare {
  std::shared_ptr<LeaderComm> leaders;
  // By messages with a tag that no other communicator has; empty: by `leaders->meeting`.
  std::optional<Meeting> by_messages;

  int meet(const Pmpi& pmpi) noexcept {
    return (by_messages ? *by_messages : leaders->meeting).meet(pmpi, leaders->comm);
  }
};

// Which communicators may share a LeaderComm. It depends on the leaders alone, so it is the same
// for all communicators that they have in common.
enum class Sharing : std::uint8_t {
  // All, by its collectives: each leader is in one barrier at a time.
  kByCollectives,
  // Two threads of a leader may be in barriers of two communicators, and come to them in another
  // order
  // than those of the next leader. So one communicator at a time has the collectives, and each of
  // the
  // others meets by messages with a tag of its own.
  kByTags,
  // None: they may be of different sessions. The MPI library refuses to end a session while one of
  // its
  // communicators exists.
  kNone,
};

// What the first leader chooses for a communicator.
struct LeaderChoice {
  std::uint64_t id;   // 0: a LeaderComm that is to be made
  std::uint64_t tag;  // 0: its collectives
};

// The leaders' communicators of which this process is a leader. Thread-safe.
class LeaderComms {
 public:
  // In all. MPICH has 2048, most of which are left to the program.
  static constexpr std::size_t kMost = 64;
  // That the same leaders have, each with its collectives for one of the program's communicators.
  static constexpr std::size_t kMostOfSame = 4;
  // That nobody uses, and that wait for a communicator with the same leaders.
  static constexpr std::size_t kMostKept = 8;
  // MPI allows so many everywhere. None is given away twice, so no message is taken for one of
  // another communicator.
  static constexpr std::uint64_t kMostTags = 32767;

  // What a leader may offer to the others. While it exists, nothing of it is freed.
  struct Known {
    std::vector<std::shared_ptr<LeaderComm>> comms;  // kMostOfSame at most
    std::vector<bool> has_collectives;               // of each: nobody here uses them
    bool has_room = false;                           // for one more
  };
  // Those that these processes may share.
  Known find(const std::vector<std::uint64_t>& processes, Sharing sharing);
  // The first leader's choice. Its collectives are then taken: share() or give_back() follows.
  LeaderChoice choose(const Known& known, Sharing sharing);
  void give_back(LeaderComm& leaders, const LeaderChoice& choice);
  // A leader does not know this one, so it is not found any more.
  void forget(LeaderComm& leaders);

  std::shared_ptr<LeaderComm> add(std::shared_ptr<LeaderComm> leaders);
  // A share of it. `is_taken`: choose() has taken the collectives here.
  std::shared_ptr<LeaderShare> share(std::shared_ptr<LeaderComm> leaders,
                                     std::optional<Meeting> by_messages, bool is_taken);

  // The user's communicator or team has been freed or is being freed. Frees the leaders'
  // communicator if no other uses it. Collective over the leaders. So it may be called only where
  // to free the user's communicator is collective, and never in a delete callback.
  void release(const Pmpi& pmpi, std::shared_ptr<LeaderShare> share);
  // The same for one that has no share yet.
  void release(const Pmpi& pmpi, std::shared_ptr<LeaderComm> leaders);
  // For delete callbacks: keeps the leaders' communicator for another one of the user's, or until
  // free_kept().
  void keep(std::shared_ptr<LeaderShare> share);
  // Frees those that are kept and that nobody uses, but the newest `num_left`. MPI libraries free a
  // communicator without waiting for the others, who may do it later or never.
  void free_kept(const Pmpi& pmpi, std::size_t num_left);
  // Frees all at the end of MPI. Collective over all processes.
  void free_all(const Pmpi& pmpi);

 private:
  // Ends a share. Returns its LeaderComm; null if the share has another user.
  std::shared_ptr<LeaderComm> end(std::shared_ptr<LeaderShare> share);

  std::mutex mutex_;
  std::vector<std::weak_ptr<LeaderComm>> known_;
  std::vector<std::shared_ptr<LeaderComm>> kept_;  // oldest first
};

}  // namespace hierbar::mpi
