// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "mpi/segment.hpp"
#include "mpi/shim.hpp"
#include "mpi/way.hpp"

namespace hierbar::mpi {

// How the ranks of a communicator set something up together although it may fail in any of them: whatever fails is kept, the
// rank goes on through the same collective calls as the others, and agree() tells all of them.
//
// A collective call may fail in one rank only, and have taken place for the others; or fail in all of them. A rank that was not
// told what the others were tells them so in the next call, which is therefore the same for all of them whatever was told. After
// the last call nobody can be told anything; so that one, the second of agree(), repeats what all but a few know already, and a
// rank in which it fails goes by what it knows. That is wrong only when both calls fail, in different ranks.
//
// A call that fails before it has told the others anything leaves these waiting inside the MPI library, with the shim as without.
class Agreement {
 public:
  // `consequence` is what is said after the reason: "...; the MPI library's own barrier is used instead".
  Agreement(Shim& shim, const Pmpi& pmpi, MPI_Comm comm, const char* consequence);

  Shim& shim() const { return shim_; }
  const Pmpi& pmpi() const { return pmpi_; }
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int num_ranks() const { return num_ranks_; }  // 0: the library knows no such communicator

  // Collective: everybody's value, by rank; zeroes if it fails here. Plain bytes: all ranks run the same build on one kind of
  // machine.
  template <class T>
  std::vector<T> exchange(const T& own) {
    struct Told {
      T value;
      long long failure;
    };
    std::vector<Told> all(static_cast<std::size_t>(num_ranks_));
    const Told mine{own, failure_};
    const int bytes = static_cast<int>(sizeof(Told));
    told_ = failure_;
    if (pmpi_.Allgather(&mine, bytes, pmpi_.byte, all.data(), bytes, pmpi_.byte, comm_) != MPI_SUCCESS) {
      fail(Way::kSetUpFailed, kNoCommunication);
      return std::vector<T>(all.size());
    }
    std::vector<T> values;
    for (const Told& one : all) {
      values.push_back(one.value);
      if (one.failure < told_) told_ = one.failure;
    }
    return values;
  }
  // What had failed in any rank before the last exchange(): kEngine, or one rank's failure, the same in all ranks. That rank says
  // it, once in a program. `segment` is this rank's, null for none.
  Way told(const Segment* segment);

  // Something failed here. The first failure counts; `way` is what the communicator becomes.
  void fail(Way way, std::string problem);
  bool has_failed() const { return failure_ != kFine; }
  // Collective: as told(), of what has failed until now.
  Way agree(const Segment* segment);

 private:
  static constexpr long long kFine = LLONG_MAX;
  static constexpr const char* kNoCommunication = "the set-up's communication failed";
  bool reduce(long long own, long long& first);  // false: it failed
  Way conclude(long long first, const Segment* segment);

  Shim& shim_;
  const Pmpi& pmpi_;
  MPI_Comm comm_;
  const char* consequence_;
  int rank_ = 0;
  int num_ranks_ = 0;
  long long failure_ = kFine;  // way and rank: the smallest of all ranks' is the one that counts
  long long told_ = kFine;
  std::string problem_;
};

}  // namespace hierbar::mpi
