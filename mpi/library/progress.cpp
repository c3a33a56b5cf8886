// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/progress.hpp"

#include <atomic>
#include <mutex>

#include "mpi/library/family.hpp"

namespace hierbar::mpi {
namespace {

std::mutex preparation_mutex;
// Null: not prepared. Atomic, because one thread may prepare it in a set-up while another one waits
// in a barrier.
std::atomic<const Pmpi*> library{nullptr};

std::atomic<bool> is_accessible{false};

// A receive to which nothing is ever sent, on a communicator of this process alone. To ask for its
// status makes progress and completes nothing, so several threads may ask. A probe would not do: on
// this communicator MPICH makes no progress, and on the program's own communicator a probe finds
// the program's messages instead (docs/design/mpi-calls.md#d0028).
bool waits_for_nothing = false;
MPI_Comm alone;
MPI_Request never;
unsigned char never_received;

// Makes the communicator of this process alone. It is no duplicate of MPI_COMM_SELF: that would run
// the copy callbacks of the user's attributes, and in a program that only uses sessions there is no
// MPI_COMM_SELF. Returns false if the library refused.
bool make_alone(const Pmpi& pmpi, MPI_Comm comm, MPI_Comm& made) {
  constexpr int kGroupTag = 0;  // a group of one exchanges no message
  MPI_Group all, self;
  int rank;
  if (!ask([&] { return pmpi.Comm_rank(comm, &rank); }) ||
      pmpi.Comm_group(comm, &all) != MPI_SUCCESS)
    return false;
  bool is_made = false;
  if (pmpi.Group_incl(all, 1, &rank, &self) == MPI_SUCCESS) {
    is_made = pmpi.Comm_create_group(comm, self, kGroupTag, &made) == MPI_SUCCESS;
    pmpi.Group_free(&self);
  }
  pmpi.Group_free(&all);
  return is_made;
}

}  // namespace

bool prepare_progress(const Pmpi& pmpi, MPI_Comm comm) {
  const std::lock_guard lock(preparation_mutex);
  if (pmpi.own_progress == nullptr && !waits_for_nothing) {
    if (!make_alone(pmpi, comm, alone)) return false;
    if (pmpi.Irecv(&never_received, 1, pmpi.byte, 0, 0, alone, &never) != MPI_SUCCESS) {
      pmpi.Comm_free(&alone);
      return false;
    }
    waits_for_nothing = true;
  }
  // (R1) store-release of the prepared library; pairs with (R2). Publishes the request.
  library.store(&pmpi, std::memory_order_release);
  return true;
}

void end_progress(const Pmpi& pmpi) {
  const std::lock_guard lock(preparation_mutex);
  // Relaxed: nobody is in a barrier.
  library.store(nullptr, std::memory_order_relaxed);
  if (!waits_for_nothing) return;
  waits_for_nothing = false;
  // A request that could not be cancelled never completes, so it must not be waited for.
  if (pmpi.Cancel(&never) != MPI_SUCCESS) return;
  pmpi.Wait(&never, MPI_STATUS_IGNORE);
  pmpi.Comm_free(&alone);
}

void make_progress() noexcept {
  // (R2) load-acquire; pairs with (R1).
  const Pmpi* const pmpi = library.load(std::memory_order_acquire);
  if (pmpi == nullptr) return;
  if (pmpi->own_progress != nullptr) {
    pmpi->own_progress();
  } else {
    int done;
    pmpi->Request_get_status(never, &done, MPI_STATUS_IGNORE);
  }
}

void window_comes() noexcept { is_accessible.store(true, std::memory_order_relaxed); }
bool has_windows() noexcept { return is_accessible.load(std::memory_order_relaxed); }

const char* progress_name() {
  // Relaxed: what is read below was in the table before (P2) of pmpi.cpp.
  const Pmpi* pmpi = library.load(std::memory_order_relaxed);
  if (pmpi == nullptr) return "none";
  return pmpi->own_progress != nullptr ? kProgressSymbol : "PMPI_Request_get_status";
}

}  // namespace hierbar::mpi
