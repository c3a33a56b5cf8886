// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "mpi/between/meeting.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// The communicator on which the leaders of several nodes meet. An MPI library has few
// communicators, so communicators with the same leaders share one. They do not in programs whose
// threads may be in barriers of two communicators at the same time (docs/decisions/0036).
struct LeaderComm {
  MPI_Comm comm;
  std::uint64_t id;                      // the same in all leaders
  std::vector<std::uint64_t> processes;  // the processes of the leaders, in order
  Meeting meeting;                       // used by one thread at a time, as the communicator is
};

// The leaders' communicators of which this process is a leader. Thread-safe.
class LeaderComms {
 public:
  // The one that these processes share already, as far as this process knows; null if there is
  // none.
  std::shared_ptr<LeaderComm> find(const std::vector<std::uint64_t>& processes);
  std::shared_ptr<LeaderComm> add(LeaderComm leaders);
  // The user's communicator has been freed or is being freed. Frees the leaders' communicator if no
  // other uses it. Collective over the leaders. So it may be called only where to free the user's
  // communicator is collective, and never in a delete callback.
  void release(const Pmpi& pmpi, std::shared_ptr<LeaderComm> leaders);
  // For delete callbacks: keeps the leaders' communicator until free_all().
  void keep(std::shared_ptr<LeaderComm> leaders);
  // Frees all at the end of MPI. Collective over all processes.
  void free_all(const Pmpi& pmpi);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<LeaderComm>> known_;
  std::vector<std::shared_ptr<LeaderComm>> unused_;
};

}  // namespace hierbar::mpi
