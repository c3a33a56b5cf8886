// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/record/recorder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "mpi/library/library_name.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/node/rank_host.hpp"
#include "mpi/record/comm_trace.hpp"
#include "mpi/record/ompt_tool.hpp"
#include "mpi/settings/report_settings.hpp"
#include "mpi/settings/settings.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "report/files.hpp"
#include "report/format/perfetto.hpp"
#include "report/merge.hpp"
#include "report/report.hpp"

namespace hierbar::mpi {
namespace {

// What rank 0 receives at a time at most.
constexpr long long kMostBytes = 64LL << 20;

void merge_one(report::Merger& merged, int rank, const std::string& json) try {
  merged.add(report::parse_report(json));
} catch (const std::runtime_error& error) {
  print_line("the report of rank " + std::to_string(rank) +
             " is missing from the common report: " + error.what());
}

// Collective. Returns the same in all ranks. A rank in which the call fails assumes that the others
// are as it is itself.
bool is_well_everywhere(const Pmpi& pmpi, bool is_well_here) {
  const long long own = is_well_here ? 1 : 0;
  long long least = own;
  const bool agreed =
      pmpi.Allreduce(&own, &least, 1, pmpi.long_long, pmpi.min, pmpi.comm_world) == MPI_SUCCESS;
  return agreed ? least != 0 : is_well_here;
}

// One round: ranks send their reports, from rank `begin` on, as many as fit. Returns the first rank
// of the next round.
int receive_some(const Pmpi& pmpi, int begin, const std::vector<long long>& sizes,
                 const std::string& own, int rank, report::Merger& merged) {
  const int num_ranks = static_cast<int>(sizes.size());
  // Only rank 0 needs them.
  std::vector<int> counts(rank == 0 ? sizes.size() : 0), places(counts.size());
  const auto count_of = [&](int of) {  // a report that does not fit is missing
    const long long size = sizes[static_cast<std::size_t>(of)];
    return size > kMostBytes ? 0 : static_cast<int>(size);
  };
  long long total = 0;
  int end = begin;
  for (; end < num_ranks; ++end) {
    if (end > begin && total + count_of(end) > kMostBytes) break;
    if (rank == 0) {
      counts[static_cast<std::size_t>(end)] = count_of(end);
      places[static_cast<std::size_t>(end)] = static_cast<int>(total);
    }
    total += count_of(end);
  }
  std::string received(rank == 0 ? static_cast<std::size_t>(total) : 0, '\0');
  const int count = rank >= begin && rank < end ? count_of(rank) : 0;
  const int status = pmpi.Gatherv(own.data(), count, pmpi.byte, received.data(), counts.data(),
                                  places.data(), pmpi.byte, 0, pmpi.comm_world);
  if (rank == 0 && status != MPI_SUCCESS) {
    print_line("the reports of ranks " + std::to_string(begin) + " to " + std::to_string(end - 1) +
               " are missing from the common report: they could not be received");
  }
  for (int i = begin; rank == 0 && status == MPI_SUCCESS && i < end; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (i != 0)
      merge_one(merged, i,
                received.substr(static_cast<std::size_t>(places[index]),
                                static_cast<std::size_t>(counts[index])));
  }
  return end;
}

enum class Merged { kInRank0, kHere, kNowhere };

// Puts the reports of all ranks into rank 0's. Collective over MPI_COMM_WORLD.
//
// Returns kHere in rank 0 and kInRank0 in the others. Returns kNowhere in all ranks if they cannot
// exchange their reports; then each rank still has its own.
Merged merge_ranks(const Pmpi& pmpi, report::Report& report) {
  int rank = 0, num_ranks = 1;
  if (!ask([&] { return pmpi.Comm_rank(pmpi.comm_world, &rank); }) ||
      !ask([&] { return pmpi.Comm_size(pmpi.comm_world, &num_ranks); })) {
    return Merged::kNowhere;
  }
  const std::string json = rank == 0 ? "" : report::to_json_of_rank(report);
  const auto bytes = static_cast<long long>(json.size());
  std::vector<long long> sizes(static_cast<std::size_t>(num_ranks));
  const int status = pmpi.Allgather(&bytes, sizeof(bytes), pmpi.byte, sizes.data(), sizeof(bytes),
                                    pmpi.byte, pmpi.comm_world);
  if (!is_well_everywhere(pmpi, status == MPI_SUCCESS)) return Merged::kNowhere;
  report::Merger merger(report);
  for (int begin = 0; begin < num_ranks;)
    begin = receive_some(pmpi, begin, sizes, json, rank, merger);
  if (rank != 0) return Merged::kInRank0;
  report::sort_sites(report);
  return Merged::kHere;
}

constexpr long kBetweenFiles_ns = 5'000'000'000;

// The OMPT tool's report of this process, to which the barriers of the ranks are added. Without the
// tool it is an empty report.
report::Report start_report(const Pmpi& pmpi, bool take) {
  const std::string of_tool = read_ompt_tool(take);
  report::Report report;
  if (!of_tool.empty()) report = report::parse_report(of_tool);
  report.runtime += (of_tool.empty() ? "" : ", ") + library_name(pmpi.Get_library_version);
  report.levels = (of_tool.empty() ? "" : "OpenMP: " + report.levels + "; ") +
                  "MPI_Barrier: of those that hierbar's engine served";
  return report;
}

}  // namespace

void Recorder::prepare(long rank) {
  std::call_once(prepared_, [&] {
    clock_ = TraceClock::measure();
    process_ = report::this_process();
    if (rank >= 0) process_.rank = rank;
    if (const Result<CpuSet> cpus = own_cpus(); cpus.ok()) cpus_ = cpus->to_string();
    if (!report_settings().settings.perfetto) return;
    raw_.emplace(report_settings().settings.trace_events, *clock_);
    ring_ = raw_->add_thread(0);
    team_rows_.emplace(report_settings().settings.trace_events, *clock_);
  });
}

void Recorder::record_outnumbered() {
  const std::lock_guard lock(mutex_);
  outnumbered_ = true;
}

Recorder::Tables& Recorder::team_tables(std::uint32_t me, const std::string& cpus) {
  OfThread& of_thread = team_tables_[me];
  of_thread.cpus = of_thread.cpus.empty() || of_thread.cpus == cpus ? cpus : report::kVariousCpus;
  return of_thread.tables;
}

std::vector<report::RawRing*> Recorder::take_rows(std::uint32_t num_threads) {
  if (!team_rows_) return {};
  return team_rows_->take(num_threads);
}

void Recorder::give_back_rows(const std::vector<report::RawRing*>& rows) {
  if (!rows.empty()) team_rows_->give_back(rows);
}

void Recorder::add(CommTrace* trace) {
  const std::lock_guard lock(mutex_);
  traces_.push_back(trace);
}

void Recorder::remove(const CommTrace* trace) {
  const std::lock_guard lock(mutex_);
  traces_.erase(std::remove(traces_.begin(), traces_.end(), trace), traces_.end());
}

// The caller holds the mutex.
report::Report Recorder::report(const Pmpi& pmpi, bool take) {
  report::Report report = start_report(pmpi, take);
  report.process = process_;
  report.clock = clock_->name();
  report.resolution_ns = clock_->resolution_ns();
  report.stamp_ns = clock_->stamp_ns();
  report.every = report_settings().settings.every;
  report.placement +=
      (report.placement.empty() ? "" : "; ") +
      std::string(outnumbered_
                      ? "ranks outnumber cpus: the figures show the scheduler and not the barrier"
                      : "a cpu for every rank");
  const KeptDebugFiles files;
  for (const auto& [me, tables] : tables_) report::add_tables(report, me, tables, cpus_);
  for (const auto& [me, of_thread] : team_tables_)
    report::add_tables(report, me, of_thread.tables, of_thread.cpus);
  if (ring_ != nullptr) {
    report.trace.kept += ring_->kept();
    report.trace.dropped += ring_->dropped();
  }
  if (ring_ != nullptr && take) {  // before the end teams' threads may be adding
    const report::TraceCounts of_teams = team_rows_->counts();
    report.trace.kept += of_teams.kept;
    report.trace.dropped += of_teams.dropped;
  }
  report::sort_sites(report);
  return report;
}

void Recorder::write_partial(const Pmpi& pmpi) {
  const std::string name =
      report::expand_output(report_settings().settings, process_, "partial.json");
  if (write_new_file(name, report::to_json_of_rank(report(pmpi, /*take=*/false))).empty())
    partial_ = name;
  last_written_ns_ = monotonic_ns();
}

void Recorder::checkpoint(const Pmpi& pmpi) {
  if (!report::asks_for_files(report_settings().settings)) return;
  const std::lock_guard lock(mutex_);
  if (last_written_ns_ != 0 && monotonic_ns() - last_written_ns_ < kBetweenFiles_ns) return;
  write_partial(pmpi);
}

// MPI_Abort is called in signal handlers, though it should not be. So this thread may be inside the
// recorder already, and the lock is only tried.
void Recorder::abort(const Pmpi& pmpi) {
  if (!clock_ || !report::asks_for_files(report_settings().settings)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && !finished_) write_partial(pmpi);
}

// All ranks of a communicator settle in the same order, that of the ids. So they cannot wait for
// each other in a circle.
void Recorder::settle_all(const Pmpi& pmpi) {
  std::vector<CommTrace*> traces = traces_;
  std::sort(traces.begin(), traces.end(),
            [](const CommTrace* a, const CommTrace* b) { return a->id() < b->id(); });
  for (CommTrace* trace : traces) {
    if (!trace->is_empty() && trace->comm() != pmpi.comm_null) trace->settle(pmpi, trace->comm());
  }
}

void Recorder::finish(const Pmpi& pmpi, bool together) {
  if (!clock_ || finished_) return;
  finished_ = true;
  if (together) settle_all(pmpi);
  report::Report own;
  {
    const std::lock_guard lock(mutex_);
    own = report(pmpi, /*take=*/true);
  }
  const report::ReportSettings& settings = report_settings().settings;
  const bool written = together ? write_merged(pmpi, std::move(own))
                                : report::write_reports(own, settings, process_);
  if (written && !partial_.empty()) std::remove(partial_.c_str());
  if (raw_) write_timeline();
}

// Each rank writes the time line of its barriers, and of those of its teams' threads. The tool
// writes that of the threads' other barriers.
void Recorder::write_timeline() const {
  report::Timeline timeline = raw_->timeline(process_);
  timeline.processes[0].part = "MPI_Barrier";
  team_rows_->add_to(timeline, process_);
  report::write_file(report::expand_output(report_settings().settings, process_, "mpi.trace.json"),
                     report::to_perfetto(timeline));
}

// Returns whether this process's part is in a file.
bool Recorder::write_merged(const Pmpi& pmpi, report::Report own) {
  const Merged merged = merge_ranks(pmpi, own);
  if (merged == Merged::kNowhere)
    return report::write_reports(own, report_settings().settings, process_);
  long long written = 1, all_written = 0;
  if (merged == Merged::kHere) {
    report::Process name = process_;
    name.rank = report::Process::kAllRanks;
    written = report::write_reports(own, report_settings().settings, name) ? 1 : 0;
  }
  pmpi.Allreduce(&written, &all_written, 1, pmpi.long_long, pmpi.min, pmpi.comm_world);
  return all_written != 0;
}

}  // namespace hierbar::mpi
