// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "mpi/pmpi.hpp"

namespace hierbar::mpi {

// The communicator on which the leaders of several nodes meet. Communicators with the same leaders share one, since an MPI
// library has few; not in programs whose threads may be in two of them at the same time.
struct LeaderComm {
  MPI_Comm comm;
  std::uint64_t id;                      // the same for all leaders
  std::vector<std::uint64_t> processes;  // who the leaders are, in order
};

class LeaderComms {
 public:
  // The one that these processes share already, as far as this process knows; null when there is none.
  std::shared_ptr<LeaderComm> find(const std::vector<std::uint64_t>& processes);
  std::shared_ptr<LeaderComm> add(LeaderComm leaders);
  // The user's communicator is gone or going. Frees the leaders' when no other uses it. Collective over the leaders: only where
  // freeing the user's communicator is so, never in its delete callback.
  void release(const Pmpi& pmpi, std::shared_ptr<LeaderComm> leaders);
  // For delete callbacks: kept until free_all().
  void keep(std::shared_ptr<LeaderComm> leaders);
  // At the end of MPI. Collective over all processes.
  void free_all(const Pmpi& pmpi);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<LeaderComm>> known_;
  std::vector<std::shared_ptr<LeaderComm>> unused_;
};

}  // namespace hierbar::mpi
