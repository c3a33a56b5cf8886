// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <climits>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/node/segment.hpp"

namespace hierbar::mpi {

// While it exists, says after every `timeout_ns` on stderr that this process waits inside the MPI
// library, in a set-up or in a barrier before it, where no barrier's watchdog can look. It does so
// in a thread of its own, which calls no function of MPI and gets no signal. With 0 there is no
// thread.
//
// Only the lowest and the highest rank of `comm` watch: one of them waits where the other is
// missing.
class SetUpWatch {
 public:
  // What is waited for, and which process never comes to it.
  struct Subject {
    std::string what;  // for instance "the set-up in barrier 8"
    const char* stranger;
  };
  SetUpWatch(const Pmpi& pmpi, MPI_Comm comm, int rank, int num_ranks, const Subject& subject,
             long timeout_ns);
  ~SetUpWatch();
  SetUpWatch(const SetUpWatch&) = delete;
  SetUpWatch& operator=(const SetUpWatch&) = delete;

 private:
  void watch(long timeout_ns, const std::string& who, const std::string& on_what);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;  // with the mutex
  std::thread thread_;
};

// Sets something up in all ranks of a communicator together, although any step may fail in any
// rank.
//
// Requires: all ranks make the same calls of exchange() and agree(), in the same order. A rank in
// which something fails calls fail() and goes on with these calls.
//
// Guarantees: agree() returns the same Route in all ranks. It is kEngine, or the smallest failure
// by (way, rank). The rank that had this failure reports it, once in a program. See
// docs/design/mpi-setup.md#d0034.
//
// One collective call may fail in one rank although it has taken place for the others, or in all
// ranks (docs/design/mpi-setup.md#d0038):
//
// 1. exchange() fails: the rank does not learn what the others have sent. It reports that in the
//    next call. So the next call must be the same in all ranks, whatever they have learnt.
// 2. agree() makes two calls. A rank in which the first one fails reports that in the second, which
//    otherwise repeats the result of the first. After the second nobody can report anything. A rank
//    in which it fails uses what it knows. This is wrong only if both calls fail, in different
//    ranks.
// 3. A call fails before it has sent anything to the others: they wait inside the MPI library. They
//    would do so without the shim, too.
class Agreement {
 public:
  // `consequence` is printed after the reason: "...; the MPI library's own barrier is used
  // instead".
  // `what` is being set up, and is to be watched (SetUpWatch); null: it is part of something else.
  Agreement(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, const char* consequence,
            const char* what = nullptr);

  ProcessState& process() const { return process_; }
  const Pmpi& pmpi() const { return pmpi_; }
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  // 0: the library knows no such communicator.
  int num_ranks() const { return num_ranks_; }

  // Collective. Returns the values of all ranks, by rank, or zeroes if the call fails here. They
  // are sent as plain bytes: all ranks run the same build on one kind of machine.
  template <class T>
  std::vector<T> exchange(const T& own) {
    struct Told {
      T value;
      long long failure;
    };
    std::vector<Told> all(static_cast<std::size_t>(num_ranks_));
    const Told mine{own, failure_};
    const int bytes = static_cast<int>(sizeof(Told));
    known_ = failure_;
    if (pmpi_.Allgather(&mine, bytes, pmpi_.byte, all.data(), bytes, pmpi_.byte, comm_) !=
        MPI_SUCCESS) {
      fail(Route::kSetUpFailed, kNoCommunication);
      return std::vector<T>(all.size());
    }
    std::vector<T> values;
    for (const Told& one : all) {
      values.push_back(one.value);
      if (one.failure < known_) known_ = one.failure;
    }
    return values;
  }
  // What had failed in any rank before the last exchange(): kEngine if nothing had, or else the
  // smallest failure, the same in all ranks that were told. The rank that had it reports it, once
  // in a program. `segment` is this rank's segment, or null.
  Route known_failure(const NodeSegment* segment);

  // Something failed here, so the communicator should take `route`. Only the first failure counts.
  // One without a text is not reported.
  void fail(Route route, std::string problem);
  bool has_failed() const { return failure_ != kFine; }
  // Collective. Returns what has failed in any rank until now, and reports it as
  // known_failure() does.
  Route agree(const NodeSegment* segment);

 private:
  static constexpr long long kFine = LLONG_MAX;
  static constexpr const char* kNoCommunication = "the set-up's communication failed";
  // Returns false if the call failed.
  bool reduce(long long own, long long& first);
  Route conclude(long long first, const NodeSegment* segment);

  ProcessState& process_;
  const Pmpi& pmpi_;
  MPI_Comm comm_;
  const char* consequence_;
  int rank_ = 0;
  int num_ranks_ = 0;
  // A failure as one number: way, then rank. The smallest number of all ranks counts.
  long long failure_ = kFine;
  long long known_ = kFine;
  std::string problem_;
  std::optional<SetUpWatch> watch_;
};

}  // namespace hierbar::mpi
