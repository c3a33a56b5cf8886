// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/progress.hpp"

#include <mutex>

namespace hierbar::mpi {
namespace {

constexpr int kNoStream = 0x3c000000;  // MPIX_STREAM_NULL; MPICH's older headers do not know it

std::mutex mutex;
const Pmpi* library = nullptr;
MPI_Comm alone = MPI_COMM_NULL;

// Not a duplicate of MPI_COMM_SELF: that runs the copy callbacks of the user's attributes, and does not exist in a program that
// uses sessions only.
MPI_Comm make_alone(const Pmpi& pmpi, MPI_Comm comm) {
  constexpr int kTag = 0;  // a group of one exchanges no message
  MPI_Comm made = MPI_COMM_NULL;
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
  if (pmpi.Stream_progress == nullptr && pmpi.opal_progress == nullptr && alone == MPI_COMM_NULL) alone = make_alone(pmpi, comm);
}

void end_progress(const Pmpi& pmpi) {
  const std::lock_guard lock(mutex);
  if (alone != MPI_COMM_NULL) pmpi.Comm_free(&alone);
  library = nullptr;
}

void make_progress() noexcept {
  if (library->Stream_progress != nullptr) {
    library->Stream_progress(kNoStream);
  } else if (library->opal_progress != nullptr) {
    library->opal_progress();
  } else {
    int found;
    library->Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, alone, &found, MPI_STATUS_IGNORE);
  }
}

const char* progress_name() {
  const std::lock_guard lock(mutex);
  if (library == nullptr) return "none";
  if (library->Stream_progress != nullptr) return "MPIX_Stream_progress";
  return library->opal_progress != nullptr ? "opal_progress" : "PMPI_Iprobe";
}

}  // namespace hierbar::mpi
