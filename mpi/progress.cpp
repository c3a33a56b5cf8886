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
// False: the library could not.
bool make_alone(const Pmpi& pmpi, MPI_Comm comm, MPI_Comm& made) {
  constexpr int kTag = 0;  // a group of one exchanges no message
  MPI_Group all, self;
  int rank;
  if (!ask([&] { return pmpi.Comm_rank(comm, &rank); }) || pmpi.Comm_group(comm, &all) != MPI_SUCCESS) return false;
  bool is_made = false;
  if (pmpi.Group_incl(all, 1, &rank, &self) == MPI_SUCCESS) {
    is_made = pmpi.Comm_create_group(comm, self, kTag, &made) == MPI_SUCCESS;
    pmpi.Group_free(&self);
  }
  pmpi.Group_free(&all);
  return is_made;
}

}  // namespace

bool prepare_progress(const Pmpi& pmpi, MPI_Comm comm) {
  const std::lock_guard lock(mutex);
  if (pmpi.own_progress == nullptr && !waits_for_nothing) {
    if (!make_alone(pmpi, comm, alone)) return false;
    if (pmpi.Irecv(&never_received, 1, pmpi.byte, 0, 0, alone, &never) != MPI_SUCCESS) {
      pmpi.Comm_free(&alone);
      return false;
    }
    waits_for_nothing = true;
  }
  library.store(&pmpi, std::memory_order_release);  // (R1) publishes the request
  return true;
}

void end_progress(const Pmpi& pmpi) {
  const std::lock_guard lock(mutex);
  library.store(nullptr, std::memory_order_relaxed);  // nobody is in a barrier
  if (!waits_for_nothing) return;
  waits_for_nothing = false;
  if (pmpi.Cancel(&never) != MPI_SUCCESS) return;  // waiting for it would not end
  pmpi.Wait(&never, MPI_STATUS_IGNORE);
  pmpi.Comm_free(&alone);
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
