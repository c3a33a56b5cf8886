// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/progress.hpp"

#include <mutex>

#include "mpi/family.hpp"

namespace hierbar::mpi {
namespace {

std::mutex mutex;
const Pmpi* library = nullptr;

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
  library = &pmpi;
  if (pmpi.own_progress != nullptr || waits_for_nothing) return;
  alone = make_alone(pmpi, comm);
  pmpi.Irecv(&never_received, 1, pmpi.byte, 0, 0, alone, &never);
  waits_for_nothing = true;
}

void end_progress(const Pmpi& pmpi) {
  const std::lock_guard lock(mutex);
  library = nullptr;
  if (!waits_for_nothing) return;
  pmpi.Cancel(&never);
  pmpi.Wait(&never, MPI_STATUS_IGNORE);
  pmpi.Comm_free(&alone);
  waits_for_nothing = false;
}

void make_progress() noexcept {
  if (library->own_progress != nullptr) {
    library->own_progress();
  } else {
    int done;
    library->Request_get_status(never, &done, MPI_STATUS_IGNORE);
  }
}

const char* progress_name() {
  const std::lock_guard lock(mutex);
  if (library == nullptr) return "none";
  return library->own_progress != nullptr ? kProgressSymbol : "PMPI_Request_get_status";
}

}  // namespace hierbar::mpi
