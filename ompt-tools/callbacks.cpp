// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The callbacks. How the events become figures is in team.hpp.
//
//   parallel_begin   a region borrows a Team, which is kept in parallel_data (team_pool.hpp)
//   parallel_end     the region gives the Team back
//   implicit_task    a thread enters the team or leaves it
//   sync_region      a thread arrives at a barrier or leaves it
//   begin_exchange   a thread arrives at a barrier of our libomp that is one exchange
//   use_wait         the thread waits there
//   end_exchange     the thread leaves it (trace/stamps.h)
//   task_schedule    a waiting thread begins or ends a task
//
// sync_region_wait is not used, because runtimes call it at the same points as sync_region.
//
// libomp reports the end of a region's last barrier to the workers early or late: when their final
// wait begins if there are no tasks, else when the next region begins. So the end is taken from the
// primary alone, which is released in time. The time for which the workers wait after it is idle
// time, and belongs to no barrier.

#include <cstdint>
#include <memory>
#include <vector>

#include "ompt-tools/chain.hpp"
#include "ompt-tools/tool.hpp"
#include "placement/evidence/kernel_cpus.hpp"

namespace hierbar::report {
namespace {

// The thread itself keeps which regions it is in; task_data and thread_data are not used. This does
// not change while a barrier is under way, with one exception: a waiting thread may run tasks, and
// these may have regions of their own. Hence a stack.

struct Thread;

// A region that a thread is in.
struct Frame {
  Thread* thread = nullptr;
  RecordedTeam* team = nullptr;
  RecordedTeam::Participant* own = nullptr;
  Record* record = nullptr;       // of the barrier in which it waits
  Record* last_record = nullptr;  // of its last barrier, if that was recorded
  const void* waiting_task = nullptr;
  std::uint64_t task_start = 0;
};

constexpr int kMaxDepth = 16;  // regions nested deeper are not recorded

struct Thread {
  Frame frames[kMaxDepth];
  int depth = 0;
  RawRing* ring = nullptr;                      // null if no pictures are asked for
  hierbar_phases* asks_nobody = nullptr;        // used in place of our libomp's pointer
  hierbar_phases** next_phases = &asks_nobody;  // where libomp finds the place for its stamps
  // The last outer region of which this thread was the primary.
  std::uint64_t region_end = 0;
  std::uint32_t region_size = 0;

  Frame* top() { return depth > 0 && depth <= kMaxDepth ? &frames[depth - 1] : nullptr; }
};

thread_local Thread self;

// The top frame of `self`. Null if its region is not recorded, or if the thread is in no region. It
// is in static thread-local storage, because every barrier needs it and would otherwise call the
// loader.
[[gnu::tls_model("initial-exec")]] thread_local Frame* innermost = nullptr;

void find_innermost() {
  Frame* top = self.top();
  innermost = top != nullptr && top->team != nullptr ? top : nullptr;
}

bool is_barrier(int kind) {
  return (kind >= ompt_sync_region_barrier && kind <= ompt_sync_region_barrier_implementation) ||
         (kind >= ompt_sync_region_barrier_implicit_workshare &&
          kind <= ompt_sync_region_barrier_teams);
}

// Null if the region is not recorded.
Region* begin_region(unsigned requested, int flags) {
  if (requested < 2 || (flags & ompt_parallel_league) != 0) return nullptr;
  if (self.depth == 0 && self.region_end != 0)
    tool->idle_ticks.fetch_add((tool->clock.now() - self.region_end) * (self.region_size - 1),
                               std::memory_order_relaxed);
  Region* region = tool->teams.take(requested);
  region->team->begin_region();
  return region;
}

void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* parallel,
                       unsigned requested, int flags, const void* address) {
  parallel->ptr = begin_region(requested, flags);
  if (has_chained()) chained_data(parallel);  // made here, before the workers ask for it
  if (chained().parallel_begin != nullptr)
    chained().parallel_begin(task, frame, chained_data(parallel), requested, flags, address);
}

void on_parallel_end(ompt_data_t* parallel, ompt_data_t* task, int flags, const void* address) {
  if (chained().parallel_end != nullptr)
    chained().parallel_end(chained_data(parallel), task, flags, address);
  Region* region = region_of(parallel);
  if (region == nullptr) return;
  if (region->team == nullptr) {
    delete region;
    return;
  }
  region->team->end_region();
  const std::uint32_t size = region->team->capacity();
  tool->teams.give_back(region);
  if (self.depth != 0) return;
  std::uint64_t now = tool->clock.now();
  if (checkpoint(now)) now = tool->clock.now();
  self.region_end = now;
  self.region_size = size;
}

void record_size(std::uint32_t size) {
  std::uint32_t largest = tool->largest_team.load(std::memory_order_relaxed);
  while (largest < size &&
         !tool->largest_team.compare_exchange_weak(largest, size, std::memory_order_relaxed)) {
  }
}

// Reads the tree of the calling primary's team.
void read_shape(RecordedTeam& team, std::uint32_t size) {
  std::vector<std::uint32_t>& parents = team.primarys_scratch();
  parents.resize(size);
  const std::uint64_t serial = tool->trace->shape(parents.data(), size);
  if (serial == 0 || team.find_shape(serial) != nullptr) return;
  std::vector<std::uint8_t> units(size);
  const std::uint32_t exchange = tool->trace->units(units.data(), size);
  team.add_shape(std::make_unique<Shape>(serial, parents, units, exchange));
}

// Runtimes before LLVM 17 report all implicit barriers alike. The last one that a thread was in is
// the end of the region. The report takes its kind from the primary's record.
void name_region_end() {
  const Frame* frame = innermost;
  if (frame == nullptr || frame->last_record == nullptr) return;
  Record& record = *frame->last_record;
  if (record.kind != ompt_sync_region_barrier_implicit) return;
  if (frame->own->me == 0) record.kind = ompt_sync_region_barrier_implicit_parallel;
  RawEvent* event = frame->thread->ring == nullptr ? nullptr : frame->thread->ring->last();
  if (event != nullptr) event->kind = ompt_sync_region_barrier_implicit_parallel;
}

void enter_or_leave(int endpoint, const ompt_data_t* parallel, unsigned size, unsigned index,
                    int flags) {
  if ((flags & ompt_task_initial) != 0) return;
  if (endpoint == ompt_scope_end) {
    name_region_end();
    if (self.depth > 0) --self.depth;
    find_innermost();
    return;
  }
  ++self.depth;
  innermost = nullptr;
  Frame* frame = self.top();
  if (frame == nullptr) return;
  *frame = Frame{};
  const Region* region = region_of(parallel);
  RecordedTeam* team = region == nullptr ? nullptr : region->team;
  if (team == nullptr || size < 2 || size > team->capacity()) return;
  frame->own = &team->enter(index, size);
  if (team->cpus(index).empty()) {
    if (const Result<CpuSet> cpus = own_cpus(); cpus.ok()) team->set_cpus(index, cpus->to_string());
  }
  if (tool->settings.perfetto && self.ring == nullptr) self.ring = tool->raw.add_thread(index);
  if (index == 0) record_size(size);
  if (tool->trace != nullptr && index == 0) read_shape(*team, size);
  if (tool->trace != nullptr && self.next_phases == &self.asks_nobody)
    self.next_phases = tool->trace->next_phases();
  frame->thread = &self;
  frame->team = team;
  innermost = frame;
}

void on_implicit_task(int endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                      unsigned index, int flags) {
  enter_or_leave(endpoint, parallel, size, index, flags);
  if (chained().implicit_task != nullptr)
    chained().implicit_task(endpoint, chained_data(parallel), task, size, index, flags);
}

inline Record& arrive(Frame& frame, std::uint32_t kind, const void* task, const void* address) {
  Record& record = frame.team->open(*frame.own, address, kind);
  frame.record = &record;
  frame.waiting_task = task;
  frame.task_start = 0;
  const std::uint64_t now = tool->clock.now();
  record.phases.arrived = now;
  record.done = now;
  return record;
}

hierbar_phases* phases_of(Record& record) {
  return reinterpret_cast<hierbar_phases*>(&record.phases);
}

[[gnu::noinline]] void keep_barrier(RawRing& ring, const Frame& frame, const Record& record) {
  const Phases& phases = record.phases;
  RawEvent event;
  event.begin = phases.arrived;
  event.end = phases.released;
  event.done = record.done;
  event.team = frame.team;
  event.episode = record.episode;
  event.me = frame.own->me;
  event.kind = record.kind;
  event.address = record.address;
  const Shape* shape =
      phases.shape == 0 || phases.released == 0 ? nullptr : frame.team->find_shape(phases.shape);
  if (shape != nullptr) {
    event.has_levels = true;
    event.gathered = phases.gathered;
    event.is_leader = shape->parents[event.me] == event.me;
  }
  ring.add(event);
}

// If `is_reported` is true, now is the time at which the thread was released, unless the runtime
// has stamped it.
inline void leave(Frame& frame, bool is_reported) {
  Record& record = *frame.record;
  frame.record = nullptr;
  if (record.phases.shape == 0) record.phases.released = 0;
  if (is_reported && record.phases.released == 0) record.phases.released = tool->clock.now();
  if (frame.thread->ring != nullptr) keep_barrier(*frame.thread->ring, frame, record);
  if (is_reported) frame.team->catch_up(*frame.own);
}

// ---- a barrier of our libomp that is one exchange ----

hierbar_phases* begin_exchange(std::uint32_t kind, void* task, const void* address) {
  Frame* frame = innermost;
  if (frame == nullptr || !frame->own->until_record.is_over()) return nullptr;
  return phases_of(arrive(*frame, kind, task, address));
}

// Only called between begin_exchange() and end_exchange(), or in another stamped barrier, so there
// is a frame.
void use_wait() { innermost->team->use_wait(*innermost->own); }

void end_exchange() {
  Frame& frame = *innermost;
  frame.last_record = frame.record;
  leave(frame, /*is_reported=*/true);
}

// ---- any other barrier ----

inline void arrive_or_leave(int kind, int endpoint, const ompt_data_t* parallel,
                            const ompt_data_t* task, const void* address) {
  Frame* frame = innermost;
  if (frame == nullptr || !is_barrier(kind)) return;
  if (endpoint == ompt_scope_begin) {
    if (frame->own->until_record.is_over())
      *frame->thread->next_phases =
          phases_of(arrive(*frame, static_cast<std::uint32_t>(kind), task, address));
    return;
  }
  frame->last_record = frame->record;
  if (frame->record == nullptr) return;
  *frame->thread->next_phases = nullptr;
  leave(*frame, frame->own->me == 0 ||
                    (parallel != nullptr && kind != ompt_sync_region_barrier_implicit_parallel));
}

// The order of the calls makes the other tool's time part of the program, and not of the barrier.
[[gnu::noinline]] void share_sync_region(int kind, int endpoint, ompt_data_t* parallel,
                                         ompt_data_t* task, const void* address) {
  const auto pass_on = [&] {
    chained().sync_region(kind, endpoint, chained_data(parallel), task, address);
  };
  if (endpoint == ompt_scope_begin) pass_on();
  arrive_or_leave(kind, endpoint, parallel, task, address);
  if (endpoint != ompt_scope_begin) pass_on();
}

void on_sync_region(int kind, int endpoint, ompt_data_t* parallel, ompt_data_t* task,
                    const void* address) {
  if (chained().sync_region != nullptr)
    share_sync_region(kind, endpoint, parallel, task, address);
  else
    arrive_or_leave(kind, endpoint, parallel, task, address);
}

void begin_or_end_task(const ompt_data_t* prior, const ompt_data_t* next) {
  Frame* frame = innermost;
  if (frame == nullptr || frame->record == nullptr) return;
  if (prior == frame->waiting_task) {
    frame->task_start = tool->clock.now();
  } else if (next == frame->waiting_task && frame->task_start != 0) {
    const std::uint64_t now = tool->clock.now();
    RecordedTeam::add_task(*frame->own, frame->task_start, now);
    if (frame->thread->ring != nullptr) {
      RawEvent event;
      event.begin = frame->task_start;
      event.end = now;
      frame->thread->ring->add(event);
    }
    frame->task_start = 0;
  }
}

void on_task_schedule(ompt_data_t* prior, int status, ompt_data_t* next) {
  begin_or_end_task(prior, next);
  if (chained().task_schedule != nullptr) chained().task_schedule(prior, status, next);
}

template <class Callback>
bool listen(ompt_set_callback_t set_callback, int event, Callback callback) {
  return set_callback(event, reinterpret_cast<ompt_callback_t>(callback)) == ompt_set_always;
}

}  // namespace

bool listen_to_events(ompt_set_callback_t set_callback) {
  // Its result is ignored: without tasks the tool works too.
  listen(set_callback, ompt_callback_task_schedule, on_task_schedule);
  return listen(set_callback, ompt_callback_parallel_begin, on_parallel_begin) &&
         listen(set_callback, ompt_callback_parallel_end, on_parallel_end) &&
         listen(set_callback, ompt_callback_implicit_task, on_implicit_task) &&
         listen(set_callback, ompt_callback_sync_region, on_sync_region);
}

void listen_to_phases(const hierbar_trace_interface& trace) {
  trace.enable(static_cast<std::uint32_t>(tool->clock.source()), use_wait);
  // A chained tool may need all of OMPT.
  if (!has_chained()) trace.observe(begin_exchange, end_exchange);
}

}  // namespace hierbar::report
