// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpi/record/team_rows.hpp"
#include "report/report.hpp"
#include "report/settings.hpp"
#include "report/team.hpp"
#include "report/timeline.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::mpi {

class CommTrace;
struct Pmpi;

// What this process has recorded of its barriers, over all communicators, and the files that it
// writes.
//
// While the program runs, every process that has to write files keeps one of its own with what it
// knows so far: NAME.partial.json. Renaming replaces it as a whole. It remains if the program is
// killed. There is no signal handler to write it, because memory and locks must not be used there.
class Recorder {
 public:
  using Tables = report::RecordedTeam::Tables;

  // Must be called before the first CommTrace is made. `rank` is this process's rank in
  // MPI_COMM_WORLD, or -1 without one. Thread-safe.
  void prepare(long rank);
  // In a recorded communicator ranks outnumber cpus.
  void record_outnumbered();

  const TraceClock& clock() const { return *clock_; }
  std::mutex& mutex() { return mutex_; }
  // The tables of this process as rank `me`, of whatever communicator. The caller holds the mutex.
  Tables& tables(std::uint32_t me) { return tables_[me]; }
  // The tables of a thread of this process as participant `me` of a team, on these cpus. The caller
  // holds the mutex.
  Tables& team_tables(std::uint32_t me, const std::string& cpus);
  // Keeps a barrier for the time line, if there is to be one. The caller holds the mutex.
  void keep(const report::RawEvent& event) {
    if (ring_ != nullptr) ring_->add(event);
  }
  // The rows of a team's threads in the time line. Empty if there is to be none.
  std::vector<report::RawRing*> take_rows(std::uint32_t num_threads);
  void give_back_rows(const std::vector<report::RawRing*>& rows);

  void add(CommTrace* trace);
  void remove(const CommTrace* trace);

  // A batch has been settled. Writes the partial file if that is due.
  void checkpoint(const Pmpi& pmpi);
  // The program is being aborted. Writes the partial file if that is possible.
  void abort(const Pmpi& pmpi);

  // At the end of the program. With `together`, which must be the same in all ranks, it is
  // collective over MPI_COMM_WORLD: the last batches of the communicators are settled, and rank 0
  // writes one report of all ranks. Otherwise this process writes its own report.
  void finish(const Pmpi& pmpi, bool together);

 private:
  report::Report report(const Pmpi& pmpi, bool take);
  void write_partial(const Pmpi& pmpi);
  void settle_all(const Pmpi& pmpi);
  bool write_merged(const Pmpi& pmpi, report::Report own);
  void write_timeline() const;

  std::mutex mutex_;
  std::once_flag prepared_;
  std::optional<TraceClock> clock_;
  report::Process process_;
  std::string cpus_;  // the cpus on which this process may run
  std::optional<report::RawTrace> raw_;
  report::RawRing* ring_ = nullptr;
  std::optional<TeamRows> team_rows_;
  std::map<std::uint32_t, Tables> tables_;
  struct OfThread {
    Tables tables;
    std::string cpus;
  };
  std::map<std::uint32_t, OfThread> team_tables_;
  std::vector<CommTrace*> traces_;
  bool outnumbered_ = false;
  bool finished_ = false;
  std::string partial_;  // the partial file; empty if there is none
  long last_written_ns_ = 0;
};

}  // namespace hierbar::mpi
