// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libhierbar_ompt.so, an OMPT tool: its start and its report at the end. The callbacks are in
// callbacks.cpp.

#include "ompt-tools/tool.hpp"

#include <cstdio>
#include <cstring>
#include <exception>

#include "base/files.hpp"
#include "ompt-tools/chain.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "report/files.hpp"
#include "report/format/perfetto.hpp"
#include "report/report.hpp"
#include "report/report_entry.h"

namespace hierbar::report {

Tool* tool = nullptr;

namespace {

// The distance between partial files, each of which takes about 0.1 ms. The first one comes sooner.
constexpr std::uint64_t kFirstPartial_ns = 1'000'000'000;
constexpr std::uint64_t kNextPartial_ns = 5'000'000'000;

std::uint64_t in_ticks(std::uint64_t ns) {
  return static_cast<std::uint64_t>(static_cast<double>(ns) / tool->clock.ns_per_tick());
}

// The placement, with a warning if there are more threads than cpus.
std::string describe_placement(std::uint32_t largest_team) {
  const Result<CpuSet> cpus = own_cpus();
  if (!cpus) return "not known";
  const std::uint32_t count = cpus->count();
  std::string text = std::to_string(largest_team) + " threads at most, " + std::to_string(count) +
                     " cpus for the initial thread";
  if (largest_team > count)
    text +=
        ": warning: threads > cpus; if all share these, the figures show the scheduler and not the "
        "barrier";
  const char* decided = tool->trace != nullptr ? tool->trace->placement() : nullptr;
  return decided == nullptr ? text : text + "; " + decided;
}

std::string describe_runtime() {
  if (tool->trace == nullptr) return tool->runtime;
  return tool->runtime + ", with hierbar " + tool->trace->library_version();
}

// A report without sites.
Report start_report() {
  Report report;
  report.process = tool->process;
  report.runtime = describe_runtime();
  report.clock = tool->clock.name();
  report.resolution_ns = tool->clock.resolution_ns();
  report.stamp_ns = tool->clock.stamp_ns();
  report.offset = tool->offset;
  report.every = tool->settings.every;
  report.levels = tool->trace != nullptr
                      ? "of barriers without tasks, by hierbar's libomp"
                      : "not available: hierbar's libomp reports them, with KMP_BARRIER=hier";
  report.placement = describe_placement(tool->largest_team.load(std::memory_order_relaxed));
  return report;
}

// The report at the end. No thread is in a region any more.
Report last_report() {
  Report report = start_report();
  report.idle_ns = tool->clock.to_ns(tool->idle_ticks.load(std::memory_order_relaxed));
  report.trace = {tool->raw.kept(), tool->raw.dropped()};
  const KeptDebugFiles files;
  tool->teams.for_each([&](RecordedTeam& team) {
    team.flush();
    add_team(report, team);
  });
  sort_sites(report);
  return report;
}

// A report of all regions that are not running now.
Report report_so_far(bool take) {
  Report report = start_report();
  std::atomic<std::uint64_t>& idle = tool->idle_ticks;
  report.idle_ns = tool->clock.to_ns(take ? idle.exchange(0, std::memory_order_relaxed)
                                          : idle.load(std::memory_order_relaxed));
  const KeptDebugFiles files;
  tool->teams.for_each_idle([&](RecordedTeam& team) {
    team.flush();
    add_team(report, team);
    if (take) team.forget();
  });
  sort_sites(report);
  return report;
}

char* copy_report(bool take) try {
  if (tool == nullptr || tool->ended.load(std::memory_order_relaxed)) return nullptr;
  tool->shim_asks.store(true, std::memory_order_relaxed);
  const std::string json = to_json(report_so_far(take));
  if (take) tool->taken.store(true, std::memory_order_relaxed);
  return strdup(json.c_str());
} catch (const std::exception&) {
  return nullptr;
}

std::string partial_name() { return expand_output(tool->settings, tool->process, "partial.json"); }

// Returns 0 if the runtime does not offer what is needed. Then it goes on without a tool.
int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t*) try {
  const auto set_callback = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  if (set_callback == nullptr || !listen_to_events(set_callback)) {
    std::fputs(
        "hierbar: this OpenMP runtime does not tell tools about barriers; there will be no "
        "report\n",
        stderr);
    return 0;
  }
  if (const auto entry = reinterpret_cast<hierbar_trace_entry>(lookup(HIERBAR_TRACE_ENTRY));
      entry != nullptr)
    tool->trace = entry(HIERBAR_TRACE_VERSION);
  initialize_chained(lookup, initial_device);
  if (tool->trace != nullptr) listen_to_phases(*tool->trace);
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hierbar: no report: %s\n", error.what());
  return 0;
}

void finalize(ompt_data_t*) {
  try {
    tool->ended.store(true, std::memory_order_relaxed);
    const bool taken = tool->taken.load(std::memory_order_relaxed);
    const Report report = last_report();
    const bool written = (taken && report.sites.empty()) ||
                         write_reports(report, tool->settings, tool->process, taken ? "late." : "");
    if (written && tool->has_partial.load(std::memory_order_relaxed))
      std::remove(partial_name().c_str());
    if (tool->settings.perfetto)
      write_file(expand_output(tool->settings, tool->process, "trace.json"),
                 to_perfetto(tool->raw.timeline(tool->process)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hierbar: no report: %s\n", error.what());
  }
  finalize_chained();
}

// The runtime calls this first. Bad settings are reported here, once. If no report is asked for,
// the chained tool gets the runtime for itself.
ompt_start_tool_result_t* start(unsigned omp_version, const char* runtime) try {
  std::vector<std::string> problems;
  const ReportSettings settings = read_settings(problems);
  ompt_start_tool_result_t* other = nullptr;
  if (!settings.chain.empty()) {
    std::string problem;
    other = load_chained(settings.chain, omp_version, runtime, problem);
    if (!problem.empty())
      problems.push_back("HIERBAR_OMPT_CHAIN=\"" + settings.chain + "\" is not an OMPT tool (" +
                         problem + "); going on without it");
  }
  for (const std::string& line : problems) std::fprintf(stderr, "hierbar: %s\n", line.c_str());
  if (!settings.asks_for_any()) return other;
  tool = new Tool(settings);
  tool->runtime = runtime == nullptr ? "unknown" : runtime;
  if (asks_for_files(settings)) tool->next_partial = tool->clock.now() + in_ticks(kFirstPartial_ns);
  static ompt_start_tool_result_t result = {initialize, finalize, {}};
  return &result;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hierbar: no report: %s\n", error.what());
  return nullptr;
}

}  // namespace

// Partial files are written here and not in a signal handler, because that may neither allocate nor
// lock.
bool checkpoint(std::uint64_t now) try {
  std::uint64_t due = tool->next_partial.load(std::memory_order_relaxed);
  if (now < due) return false;
  if (!tool->next_partial.compare_exchange_strong(due, now + in_ticks(kNextPartial_ns),
                                                  std::memory_order_relaxed))
    return false;
  if (tool->shim_asks.load(std::memory_order_relaxed)) return true;
  if (write_new_file(partial_name(), to_json(report_so_far(/*take=*/false))).empty())
    tool->has_partial.store(true, std::memory_order_relaxed);
  return true;
} catch (const std::exception&) {
  return true;  // the report at the end is written or reports the failure
}

}  // namespace hierbar::report

extern "C" [[gnu::visibility("default")]] ompt_start_tool_result_t* ompt_start_tool(
    unsigned int omp_version, const char* runtime_version) {
  return hierbar::report::start(omp_version, runtime_version);
}

extern "C" [[gnu::visibility("default")]] char* hierbar_ompt_report(int take) {
  return hierbar::report::copy_report(take != 0);
}
