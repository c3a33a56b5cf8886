// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/agreement.hpp"

#include <climits>

#include "mpi/message.hpp"

namespace hierbar::mpi {

Agreement::Agreement(Shim& shim, const Pmpi& pmpi, MPI_Comm comm) : shim_(shim), pmpi_(pmpi), comm_(comm) {
  pmpi_.Comm_rank(comm_, &rank_);
  pmpi_.Comm_size(comm_, &num_ranks_);
}

void Agreement::fail(Way way, std::string problem) {
  if (failure_ != Way::kEngine) return;
  failure_ = way;
  problem_ = std::move(problem);
}

Way Agreement::agree(const Segment* segment) {
  constexpr long long kFine = LLONG_MAX;
  long long own = kFine, first = kFine;
  if (failure_ != Way::kEngine) own = static_cast<long long>(failure_) << 32 | rank_;
  if (pmpi_.Allreduce(&own, &first, 1, pmpi_.long_long, pmpi_.min, comm_) != MPI_SUCCESS) return Way::kNoSegment;
  if (first == kFine) return Way::kEngine;
  const auto way = static_cast<Way>(first >> 32);
  // Every rank notes that it has been told, so that none of them tells it again for another communicator. That a segment is full
  // is noted in the segment as well: its members may never be together in one communicator again.
  if (shim_.is_first(way) && own == first && (way != Way::kSegmentFull || segment->is_first_to_run_out())) {
    say(problem_ + "; the MPI library's own barrier is used instead");
  }
  return way;
}

}  // namespace hierbar::mpi
