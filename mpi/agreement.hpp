// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "mpi/segment.hpp"
#include "mpi/shim.hpp"
#include "mpi/way.hpp"

namespace hierbar::mpi {

// How the ranks of a communicator set something up together although it may fail in any of them: whatever fails is kept, the
// rank goes on through the same collective calls as the others, and agree() tells all of them.
class Agreement {
 public:
  Agreement(Shim& shim, const Pmpi& pmpi, MPI_Comm comm);

  Shim& shim() const { return shim_; }
  const Pmpi& pmpi() const { return pmpi_; }
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int num_ranks() const { return num_ranks_; }

  // Collective: everybody's value, by rank. Plain bytes: all ranks run the same build on one kind of machine.
  template <class T>
  std::vector<T> exchange(const T& own) {
    std::vector<T> all(static_cast<std::size_t>(num_ranks_));
    const int bytes = static_cast<int>(sizeof(T));
    if (pmpi_.Allgather(&own, bytes, pmpi_.byte, all.data(), bytes, pmpi_.byte, comm_) != MPI_SUCCESS) {
      fail(Way::kNoSegment, "the set-up's communication failed");
    }
    return all;
  }

  // Something failed here. The first failure counts; `way` is what the communicator becomes.
  void fail(Way way, std::string problem);
  // Collective: kEngine, or one rank's failure, the same in all ranks. That rank says it, once in a program. `segment` is this
  // rank's, null for none.
  Way agree(const Segment* segment);

 private:
  Shim& shim_;
  const Pmpi& pmpi_;
  MPI_Comm comm_;
  int rank_ = 0;
  int num_ranks_ = 0;
  Way failure_ = Way::kEngine;
  std::string problem_;
};

}  // namespace hierbar::mpi
