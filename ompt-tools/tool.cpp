// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libhierbar_ompt.so, an OMPT tool: what the runtime calls, and the report at the end. How the events become figures is in
// team.hpp.
//
//   parallel_begin   a region borrows a Team, which rides in parallel_data (region.hpp); parallel_end gives it back
//   implicit_task    a thread enters the team, or leaves it
//   sync_region      a thread arrives at a barrier, or leaves it. Not sync_region_wait: runtimes fire both at the same points.
//   task_schedule    a waiting thread begins or ends a task
//
// The end of a region's last barrier is told to the workers early or late: libomp does so when their final wait begins if there
// are no tasks, else when the next region does. So the end is taken from the primary alone, whom it releases in time, and what
// the workers wait for after it is idle time and no barrier's.
//
// What a thread is in is kept in the thread, and not in task_data or thread_data. It never changes while a barrier is under way,
// except that tasks which a waiting thread runs may have regions of their own; hence a stack.

#include <dlfcn.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>

#include "ompt-tools/chain.hpp"
#include "ompt-tools/ompt_api.h"
#include "ompt-tools/raw_trace.hpp"
#include "ompt-tools/report.hpp"
#include "ompt-tools/report_entry.h"
#include "ompt-tools/report_files.hpp"
#include "ompt-tools/report_lstopo.hpp"
#include "ompt-tools/report_perfetto.hpp"
#include "ompt-tools/team_pool.hpp"
#include "placement/kernel_cpus.hpp"
#include "trace/stamps.h"

namespace hierbar::ompt {
namespace {

struct Tool {
  explicit Tool(const Settings& chosen) : settings(chosen), clock(TraceClock::measure()), teams(chosen.every, clock) {}

  const Settings settings;
  const Process process = this_process();
  const TraceClock clock;
  const ClockOffset offset = measure_clock_offset(clock, first_cpus_of_packages());
  TeamPool teams;
  RawTrace raw{settings.trace_events, clock};  // used for pictures only
  std::string runtime;
  const hierbar_trace_interface* trace = nullptr;  // our libomp's; null with any other runtime
  std::atomic<std::uint64_t> idle_ticks{0};
  std::atomic<std::uint32_t> largest_team{0};
  std::atomic<bool> taken{false};  // the MPI shim has what came before
  std::atomic<bool> ended{false};
};
Tool* tool = nullptr;  // never freed: a thread may still be in a callback when the program exits

// One region that a thread is in.
struct Frame {
  Team* team = nullptr;
  std::uint32_t me = 0;
  Countdown* until_record = nullptr;
  Record* record = nullptr;       // of the barrier that it waits in
  Record* last_record = nullptr;  // of the barrier before, if that was recorded
  const ompt_data_t* waiting_task = nullptr;
  std::uint64_t task_start = 0;
};

constexpr int kMaxDepth = 16;  // regions nested deeper are not recorded

struct Thread {
  Frame frames[kMaxDepth];
  int depth = 0;
  RawRing* ring = nullptr;           // null: nobody asked for pictures
  hierbar_stamps* stamps = nullptr;  // what our libomp tells of its phases
  std::uint64_t* wanted = nullptr;   // asks for them; somewhere when stamps are there
  std::uint64_t stamps_any_barrier;  // a target for it where nobody needs to be asked
  std::uint64_t num_stamped = 0;     // barriers, at the last arrival
  // The last outer region that it was the primary of.
  std::uint64_t region_end = 0;
  std::uint32_t region_size = 0;

  Frame* top() { return depth > 0 && depth <= kMaxDepth ? &frames[depth - 1] : nullptr; }
};
thread_local Thread self;

// For what happens at every barrier: the compiler would ask the loader for the address again at each use.
Thread& this_thread() {
  Thread* thread = &self;
  asm("" : "+r"(thread));
  return *thread;
}

bool is_barrier(int kind) {
  return (kind >= ompt_sync_region_barrier && kind <= ompt_sync_region_barrier_implementation) ||
         (kind >= ompt_sync_region_barrier_implicit_workshare && kind <= ompt_sync_region_barrier_teams);
}

// Null when the region is not to be recorded.
Region* begin_region(unsigned requested, int flags) {
  if (requested < 2 || (flags & ompt_parallel_league) != 0) return nullptr;
  if (self.depth == 0 && self.region_end != 0)
    tool->idle_ticks.fetch_add((tool->clock.now() - self.region_end) * (self.region_size - 1), std::memory_order_relaxed);
  Region* region = tool->teams.take(requested);
  region->team->begin_region();
  return region;
}

void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* parallel, unsigned requested, int flags,
                       const void* address) {
  parallel->ptr = begin_region(requested, flags);
  if (has_chained()) chained_data(parallel);  // made here, before the workers look for it
  if (chained().parallel_begin != nullptr)
    chained().parallel_begin(task, frame, chained_data(parallel), requested, flags, address);
}

void on_parallel_end(ompt_data_t* parallel, ompt_data_t* task, int flags, const void* address) {
  if (chained().parallel_end != nullptr) chained().parallel_end(chained_data(parallel), task, flags, address);
  Region* region = region_of(parallel);
  if (region == nullptr) return;
  if (region->team == nullptr) {
    delete region;
    return;
  }
  region->team->end_region();
  if (self.depth == 0) {
    self.region_end = tool->clock.now();
    self.region_size = region->team->capacity();
  }
  tool->teams.give_back(region);
}

void note_size(std::uint32_t size) {
  std::uint32_t largest = tool->largest_team.load(std::memory_order_relaxed);
  while (largest < size && !tool->largest_team.compare_exchange_weak(largest, size, std::memory_order_relaxed)) {
  }
}

// The tree of the team that the calling primary leads.
void read_shape(Team& team, std::uint32_t size) {
  std::vector<std::uint32_t>& parents = team.primarys_scratch();
  parents.resize(size);
  const std::uint64_t serial = tool->trace->shape(parents.data(), size);
  if (serial == 0 || team.find_shape(serial) != nullptr) return;
  std::vector<std::uint8_t> units;
  std::uint32_t exchange = HIERBAR_UNIT_UNKNOWN;
  if (tool->trace->version >= 2) {
    units.resize(size);
    exchange = tool->trace->units(units.data(), size);
  }
  team.add_shape(std::make_unique<Shape>(serial, parents, units, exchange));
}

// Runtimes before LLVM 17 call every implicit barrier alike. The last one that a thread was in is the end of the region; its name
// in the report is the primary's.
void name_region_end() {
  const Frame* frame = self.top();
  if (frame == nullptr || frame->team == nullptr || frame->last_record == nullptr) return;
  Record& record = *frame->last_record;
  if (record.kind != ompt_sync_region_barrier_implicit) return;
  if (frame->me == 0) record.kind = ompt_sync_region_barrier_implicit_parallel;
  RawEvent* event = self.ring == nullptr ? nullptr : self.ring->last();
  if (event != nullptr) event->kind = ompt_sync_region_barrier_implicit_parallel;
}

void enter_or_leave(int endpoint, const ompt_data_t* parallel, unsigned size, unsigned index, int flags) {
  if ((flags & ompt_task_initial) != 0) return;
  if (endpoint == ompt_scope_end) {
    name_region_end();
    if (self.depth > 0) --self.depth;
    return;
  }
  ++self.depth;
  Frame* frame = self.top();
  if (frame == nullptr) return;
  *frame = Frame{};
  const Region* region = region_of(parallel);
  Team* team = region == nullptr ? nullptr : region->team;
  if (team == nullptr || size < 2 || size > team->capacity()) return;
  frame->until_record = &team->enter(index, size);
  if (team->cpus(index).empty()) {
    if (const Result<CpuSet> cpus = own_cpus(); cpus.ok()) team->set_cpus(index, cpus->to_string());
  }
  if (tool->settings.perfetto && self.ring == nullptr) self.ring = tool->raw.add_thread(index);
  if (index == 0) note_size(size);
  if (tool->trace != nullptr && index == 0) read_shape(*team, size);
  if (tool->trace != nullptr && self.stamps == nullptr) {
    self.stamps = tool->trace->stamps();
    self.wanted = tool->trace->version >= 2 ? &self.stamps->wanted : &self.stamps_any_barrier;
  }
  frame->team = team;
  frame->me = index;
}

void on_implicit_task(int endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size, unsigned index, int flags) {
  enter_or_leave(endpoint, parallel, size, index, flags);
  if (chained().implicit_task != nullptr) chained().implicit_task(endpoint, chained_data(parallel), task, size, index, flags);
}

void arrive(Thread& thread, Frame& frame, int kind, const ompt_data_t* task, const void* address) {
  if (!frame.until_record->is_over()) return;
  frame.record = frame.team->open(frame.me, address, static_cast<std::uint32_t>(kind));
  frame.waiting_task = task;
  frame.task_start = 0;
  if (thread.stamps != nullptr) {
    thread.num_stamped = thread.stamps->num_barriers;
    *thread.wanted = 1;
  }
  const std::uint64_t now = tool->clock.now();
  frame.record->arrived = now;
  frame.record->done = now;
}

// Returns the stamps of the barrier that the thread has left; null when it went another way.
const hierbar_stamps* note_phases(const Thread& thread, Frame& frame) {
  hierbar_stamps* stamps = thread.stamps;
  if (stamps == nullptr) return nullptr;
  *thread.wanted = 0;
  if (stamps->num_barriers == thread.num_stamped) return nullptr;
  Phases& phases = frame.team->phases(frame.me);
  phases.arrived = stamps->arrived;
  phases.gathered = stamps->gathered;
  phases.released = stamps->released;
  phases.shape = stamps->shape;
  return stamps;
}

// `stamps` may be null. Those of a worker at the end of a region do not tell its release.
void keep_barrier(RawRing& ring, const Frame& frame, const Record& record, const hierbar_stamps* stamps) {
  RawEvent event;
  event.begin = record.arrived;
  event.end = record.released;
  event.done = record.done;
  event.team = frame.team;
  event.episode = record.episode;
  event.me = frame.me;
  event.kind = record.kind;
  event.address = record.address;
  if (stamps != nullptr && stamps->released != 0) {
    const Shape* shape = frame.team->find_shape(stamps->shape);
    event.arrived = stamps->arrived;
    event.gathered = stamps->gathered;
    event.released = stamps->released;
    event.is_leader = shape != nullptr && shape->parents[frame.me] == frame.me;
  }
  ring.add(event);
}

// `is_told`: this is the time at which the thread was released.
void leave(const Thread& thread, Frame& frame, bool is_told) {
  Record* record = frame.record;
  frame.last_record = record;
  frame.record = nullptr;
  if (record == nullptr) return;
  if (is_told) record->released = tool->clock.now();
  const hierbar_stamps* stamps = note_phases(thread, frame);
  if (thread.ring != nullptr) keep_barrier(*thread.ring, frame, *record, stamps);
  if (!is_told) return;
  frame.team->catch_up(frame.me);
}

// The other tool's time counts as the program's, and not as the barrier's.
void on_sync_region(int kind, int endpoint, ompt_data_t* parallel, ompt_data_t* task, const void* address) {
  const auto pass_on = [&] {
    if (chained().sync_region != nullptr) chained().sync_region(kind, endpoint, chained_data(parallel), task, address);
  };
  if (endpoint == ompt_scope_begin) pass_on();
  Thread& thread = this_thread();
  Frame* frame = thread.top();
  if (frame != nullptr && frame->team != nullptr && is_barrier(kind)) {
    if (endpoint == ompt_scope_begin)
      arrive(thread, *frame, kind, task, address);
    else
      leave(thread, *frame, frame->me == 0 || (parallel != nullptr && kind != ompt_sync_region_barrier_implicit_parallel));
  }
  if (endpoint != ompt_scope_begin) pass_on();
}

void begin_or_end_task(const ompt_data_t* prior, const ompt_data_t* next) {
  Frame* frame = self.top();
  if (frame == nullptr || frame->record == nullptr) return;
  if (prior == frame->waiting_task) {
    frame->task_start = tool->clock.now();
  } else if (next == frame->waiting_task && frame->task_start != 0) {
    const std::uint64_t now = tool->clock.now();
    frame->record->tasks = frame->record->tasks + (now - frame->task_start);
    frame->record->done = now;
    if (self.ring != nullptr) {
      RawEvent event;
      event.begin = frame->task_start;
      event.end = now;
      self.ring->add(event);
    }
    frame->task_start = 0;
  }
}

void on_task_schedule(ompt_data_t* prior, int status, ompt_data_t* next) {
  begin_or_end_task(prior, next);
  if (chained().task_schedule != nullptr) chained().task_schedule(prior, status, next);
}

// ---- beginning and end ----

// What was decided, and a warning where it cannot go well.
std::string describe_placement(std::uint32_t largest_team) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return "not known";
  const int count = CPU_COUNT(&cpus);
  std::string text = std::to_string(largest_team) + " threads at most, " + std::to_string(count) + " cpus for the initial thread";
  if (largest_team > static_cast<std::uint32_t>(count))
    text += ": warning: threads > cpus; if all share these, the figures show the scheduler and not the barrier";
  const char* decided = tool->trace != nullptr && tool->trace->version >= 2 ? tool->trace->placement() : nullptr;
  return decided == nullptr ? text : text + "; " + decided;
}

std::string describe_runtime() {
  if (tool->trace == nullptr) return tool->runtime;
  return tool->runtime + ", with hierbar" + (tool->trace->version >= 2 ? std::string(" ") + tool->trace->library_version() : "");
}

// Without the sites.
Report start_report() {
  Report report;
  report.process = tool->process;
  report.runtime = describe_runtime();
  report.clock = tool->clock.name();
  report.resolution_ns = tool->clock.resolution_ns();
  report.stamp_ns = tool->clock.stamp_ns();
  report.offset = tool->offset;
  report.every = tool->settings.every;
  report.levels = tool->trace != nullptr ? "of barriers in which nobody ran tasks, by hierbar's libomp"
                                         : "not available: hierbar's libomp tells them, with KMP_BARRIER=hier";
  report.placement = describe_placement(tool->largest_team.load(std::memory_order_relaxed));
  return report;
}

// Of all that is left; nobody is in a region any more.
Report last_report() {
  Report report = start_report();
  report.idle_ns = tool->clock.to_ns(tool->idle_ticks.load(std::memory_order_relaxed));
  report.trace = {tool->raw.kept(), tool->raw.dropped()};
  tool->teams.for_each([&](Team& team) {
    team.flush();
    add_team(report, team);
  });
  sort_sites(report);
  return report;
}

// Of the regions that are not under way.
Report report_so_far(bool take) {
  Report report = start_report();
  std::atomic<std::uint64_t>& idle = tool->idle_ticks;
  report.idle_ns = tool->clock.to_ns(take ? idle.exchange(0, std::memory_order_relaxed) : idle.load(std::memory_order_relaxed));
  tool->teams.for_each_idle([&](Team& team) {
    team.flush();
    add_team(report, team);
    if (take) team.forget();
  });
  sort_sites(report);
  return report;
}

char* tell_report(bool take) try {
  if (tool == nullptr || tool->ended.load(std::memory_order_relaxed)) return nullptr;
  const std::string json = to_json(report_so_far(take));
  if (take) tool->taken.store(true, std::memory_order_relaxed);
  return strdup(json.c_str());
} catch (const std::exception&) {
  return nullptr;
}

template <class Callback>
bool listen(ompt_set_callback_t set_callback, int event, Callback callback) {
  return set_callback(event, reinterpret_cast<ompt_callback_t>(callback)) == ompt_set_always;
}

// Returns 0, so that the runtime goes on without a tool, when it cannot tell what is needed.
int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t*) try {
  const auto set_callback = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  if (set_callback == nullptr || !listen(set_callback, ompt_callback_parallel_begin, on_parallel_begin) ||
      !listen(set_callback, ompt_callback_parallel_end, on_parallel_end) ||
      !listen(set_callback, ompt_callback_implicit_task, on_implicit_task) ||
      !listen(set_callback, ompt_callback_sync_region, on_sync_region)) {
    std::fputs("hierbar: this OpenMP runtime does not tell tools about barriers; there will be no report\n", stderr);
    return 0;
  }
  listen(set_callback, ompt_callback_task_schedule, on_task_schedule);
  if (const auto entry = reinterpret_cast<hierbar_trace_entry>(lookup(HIERBAR_TRACE_ENTRY)); entry != nullptr)
    // Version 1 had no names.
    for (std::uint32_t version = HIERBAR_TRACE_VERSION; version >= 1 && tool->trace == nullptr; --version)
      tool->trace = entry(version);
  if (tool->trace != nullptr) tool->trace->enable(static_cast<std::uint32_t>(tool->clock.source()));
  initialize_chained(lookup, initial_device);
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
    if (!taken || !report.sites.empty()) write_reports(report, tool->settings, tool->process, taken ? "late." : "");
    if (tool->settings.lstopo) write_lstopo(expand_output(tool->settings, tool->process, "lstopo.xml"), report);
    if (tool->settings.perfetto)
      write_file(expand_output(tool->settings, tool->process, "trace.json"), to_perfetto(tool->raw.timeline(tool->process)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hierbar: no report: %s\n", error.what());
  }
  finalize_chained();
}

// What the runtime calls first. Bad settings are told here, once. Without a report to write the other tool has the runtime alone.
ompt_start_tool_result_t* start(unsigned omp_version, const char* runtime) try {
  std::vector<std::string> problems;
  const Settings settings = read_settings(problems);
  ompt_start_tool_result_t* other = nullptr;
  if (!settings.chain.empty()) {
    std::string problem;
    other = load_chained(settings.chain, omp_version, runtime, problem);
    if (!problem.empty())
      problems.push_back("HIERBAR_OMPT_CHAIN=\"" + settings.chain + "\" is not an OMPT tool (" + problem +
                         "); going on without it");
  }
  for (const std::string& line : problems) std::fprintf(stderr, "hierbar: %s\n", line.c_str());
  if (!settings.asks_for_any()) return other;
  tool = new Tool(settings);
  tool->runtime = runtime == nullptr ? "unknown" : runtime;
  static ompt_start_tool_result_t result = {initialize, finalize, {}};
  return &result;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hierbar: no report: %s\n", error.what());
  return nullptr;
}

}  // namespace
}  // namespace hierbar::ompt

extern "C" [[gnu::visibility("default")]] ompt_start_tool_result_t* ompt_start_tool(unsigned int omp_version,
                                                                                    const char* runtime_version) {
  return hierbar::ompt::start(omp_version, runtime_version);
}

extern "C" [[gnu::visibility("default")]] char* hierbar_ompt_report(int take) { return hierbar::ompt::tell_report(take != 0); }
