// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ompt-tools/raw_trace.hpp"
#include "ompt-tools/report.hpp"
#include "ompt-tools/settings.hpp"
#include "ompt-tools/team.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::mpi {

class CommTrace;
struct Pmpi;

// What this process has recorded of its barriers, over all communicators, and the files that it becomes.
//
// While the program runs, every process that has to write files keeps one of its own with what it knows so far, which is replaced
// by renaming: NAME.partial.json. It is what is left when the program is killed. Nothing is written in a signal handler, where
// neither memory nor locks can be had.
class Recorder {
 public:
  using Tables = ompt::Team::Tables;

  // Before the first CommTrace. `rank` is this process's in MPI_COMM_WORLD, -1 without one. Thread-safe.
  void prepare(long rank);
  // Ranks outnumber cpus in a communicator that is recorded.
  void note_outnumbered();

  const TraceClock& clock() const { return *clock_; }
  std::mutex& mutex() { return mutex_; }
  // Of this process as rank `me` of whatever communicator. The caller holds the mutex.
  Tables& tables(std::uint32_t me) { return tables_[me]; }
  // Keeps a barrier for the time line, if there is to be one. The caller holds the mutex.
  void keep(const ompt::RawEvent& event) {
    if (ring_ != nullptr) ring_->add(event);
  }

  void add(CommTrace* trace);
  void remove(const CommTrace* trace);

  // A batch has been settled: writes the partial file if that is due.
  void checkpoint(const Pmpi& pmpi);
  // The program is being aborted: writes the partial file if it can.
  void abort(const Pmpi& pmpi);

  // At the end. Collective over MPI_COMM_WORLD when `together`, which is the same in all ranks: then the communicators' last
  // batches are settled, and rank 0 writes one report of all ranks; otherwise this process writes its own.
  void finish(const Pmpi& pmpi, bool together);

 private:
  ompt::Report report(const Pmpi& pmpi, bool take);
  void write_partial(const Pmpi& pmpi);
  void settle_all(const Pmpi& pmpi);
  bool write_merged(const Pmpi& pmpi, ompt::Report own);
  void write_timeline() const;

  std::mutex mutex_;
  std::once_flag prepared_;
  std::optional<TraceClock> clock_;
  ompt::Process process_;
  std::string cpus_;  // where it may run
  std::optional<ompt::RawTrace> raw_;
  ompt::RawRing* ring_ = nullptr;
  std::map<std::uint32_t, Tables> tables_;
  std::vector<CommTrace*> traces_;
  bool outnumbered_ = false;
  bool finished_ = false;
  std::string partial_;  // the partial file; empty: there is none
  long last_written_ns_ = 0;
};

}  // namespace hierbar::mpi
