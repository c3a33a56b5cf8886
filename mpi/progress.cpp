// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/progress.hpp"

#include <atomic>
#include <mutex>

#include "mpi/family.hpp"

namespace hierbar::mpi {
namespace {

std::mutex mutex;
// Null: not prepared. A communicator is set up in one thread while another one waits in a barrier, so not plain.
std::atomic<const Pmpi*> library{nullptr};

// A receive that nothing is ever sent to, on a communicator of this process alone: asking for its status makes progress. Not a
// probe on that communicator, for which MPICH looks at the process's own messages only; nor one on the program's, which finds the
// program's messages instead of making progress. Asking completes nothing, so several threads may do it.
bool waits_for_nothing = false;
MPI_Comm alone;
MPI_Request never;
unsigned char never_received;

// Not a duplicate of MPI_COMM_SELF: that runs the copy callbacks of the user's attributes, and does not exist in a program that
// uses sessions only.
MPI_Comm make_alone(const Pmpi& pmpi, MPI_Comm comm) {
  constexpr int kTag = 0;  // a group of one exchanges no message
  MPI_Comm made = pmpi.comm_null;
  MPI_Group all, self;
  int rank;
  pmpi.Comm_rank(comm, &rank);
  pmpi.Comm_group(comm, &all);
  pmpi.Group_incl(all, 1, &rank, &self);
  pmpi.Comm_create_group(comm, self, kTag, &made);
  pmpi.Group_free(&self);
  pmpi.Group_free(&all);
  return made;
}

}  // namespace

void prepare_progress(const Pmpi& pmpi, MPI_Comm comm) {
  const std::lock_guard lock(mutex);
  if (pmpi.own_progress == nullptr && !waits_for_nothing) {
    alone = make_alone(pmpi, comm);
    pmpi.Irecv(&never_received, 1, pmpi.byte, 0, 0, alone, &never);
    waits_for_nothing = true;
  }
  library.store(&pmpi, std::memory_order_release);  // (R1) publishes the request
}

void end_progress(const Pmpi& pmpi) {
  const std::lock_guard lock(mutex);
  library.store(nullptr, std::memory_order_relaxed);  // nobody is in a barrier
  if (!waits_for_nothing) return;
  pmpi.Cancel(&never);
  pmpi.Wait(&never, MPI_STATUS_IGNORE);
  pmpi.Comm_free(&alone);
  waits_for_nothing = false;
}

void make_progress() noexcept {
  const Pmpi& pmpi = *library.load(std::memory_order_acquire);  // (R2) pairs with (R1)
  if (pmpi.own_progress != nullptr) {
    pmpi.own_progress();
  } else {
    int done;
    pmpi.Request_get_status(never, &done, MPI_STATUS_IGNORE);
  }
}

const char* progress_name() {
  const Pmpi* pmpi = library.load(std::memory_order_relaxed);
  if (pmpi == nullptr) return "none";
  return pmpi->own_progress != nullptr ? kProgressSymbol : "PMPI_Request_get_status";
}

}  // namespace hierbar::mpi
