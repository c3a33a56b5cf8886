// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace region_fuzzer {

constexpr int kMaxThreads = 9;

// What the fuzzer has set, and so what each region must find. One for each root thread.
struct Model {
  int num_threads = 2;
  int max_active_levels = 1;
  omp_sched_t schedule = omp_sched_static;
  int chunk = 0;
  int rounding = FE_TONEAREST;
  omp_allocator_handle_t allocator = omp_default_mem_alloc;

  // Sets all of it: at the beginning, and where libomp has started anew.
  void apply() const {
    omp_set_dynamic(0);
    omp_set_num_threads(num_threads);
    omp_set_max_active_levels(max_active_levels);
    omp_set_schedule(schedule, chunk);
    omp_set_default_allocator(allocator);
    std::fesetround(rounding);
  }
};

// How the directive of a region is written.
enum class Form : std::uint8_t {
  kPlain,
  kNumThreads,
  kIf,
  kClose,
  kSpread,
  kPrimary,
  kNoArguments,
  kManyArguments,
  kFirstPrivate,
  kFor,
  kForDynamic,
  kReduction,
  kManyReductions,
  kSections,
  kTeams,
  kInATask,
  kCount
};

// What its threads do, one after the other.
enum Part : std::uint32_t {
  kBarrier = 1 << 0,
  kTasks = 1 << 1,
  kTasksOfSingle = 1 << 2,
  kStaticLoop = 1 << 3,
  kDynamicLoop = 1 << 4,
  kOrderedLoop = 1 << 5,
  kDoacross = 1 << 6,
  kSetIcvs = 1 << 7,
  kNested = 1 << 8,
  kLoopReduction = 1 << 9,
  kLate = 1 << 10,
  kTaskloop = 1 << 11,
  kCancel = 1 << 12,
  kNumParts = 13
};

// One region.
struct Step {
  std::uint64_t seed = 0;  // of the whole run
  long number = 0;         // in it
  int root = 0;
  Form form = Form::kPlain;
  std::uint32_t parts = 0;
  int num_threads = 0;  // of the clause
  bool condition = true;
  int nested_threads = 2;
  int late_thread = 0;
  int late_us = 0;

  int expected_size(const Model& model) const {
    if (form == Form::kIf && !condition) return 1;
    const bool has_clause = form == Form::kNumThreads || form == Form::kIf ||
                            form == Form::kSpread || form == Form::kFor ||
                            form == Form::kManyReductions;
    return has_clause ? num_threads : model.num_threads;
  }

  void print() const {
    std::fprintf(stderr,
                 "region %ld of root %d: form %d, parts 0x%x, num_threads %d, if %d, nested %d\n",
                 number, root, static_cast<int>(form), static_cast<unsigned>(parts), num_threads,
                 condition, nested_threads);
  }
  [[noreturn]] void fail(const char* what, long long actual, long long expected) const {
    std::fprintf(stderr, "WRONG: %s is %lld, not %lld\n  in ", what, actual, expected);
    print();
    std::fprintf(stderr, "  again: region_fuzzer --seed %llu --regions %ld\n",
                 static_cast<unsigned long long>(seed), number + 1);
    std::_Exit(1);
  }
  void check(const char* what, long long actual, long long expected) const {
    if (actual != expected) fail(what, actual, expected);
  }
};

// What the threads of one region leave behind. The slots are plain: that the primary reads them
// right shows that the join orders memory.
struct Region {
  const Step& step;
  const Model& model;
  int size;
  bool is_cancelled = false;
  long visits[kMaxThreads] = {};
  long crossings[kMaxThreads] = {};
  std::atomic<long> num_tasks{0};
  std::atomic<long> num_iterations{0};
  std::atomic<long> num_singles{0};
  long ordered_sum = 0;

  Region(const Step& of, const Model& now) : step(of), model(now), size(of.expected_size(now)) {}
};

constexpr int kTasksPerThread = 3;
constexpr int kIterations = 40;

// What a thread must find at its start.
inline void check_surroundings(Region& region) {
  const Step& step = region.step;
  const Model& model = region.model;
  const int self = omp_get_thread_num();
  step.check("omp_get_num_threads()", omp_get_num_threads(), region.size);
  step.check("omp_get_thread_num() < size", self >= 0 && self < region.size, 1);
  step.check("omp_in_parallel()", omp_in_parallel(), region.size > 1);
  step.check("omp_get_level()", omp_get_level(), 1);
  step.check("omp_get_active_level()", omp_get_active_level(), region.size > 1);
  step.check("omp_get_ancestor_thread_num(0)", omp_get_ancestor_thread_num(0), 0);
  step.check("omp_get_team_size(1)", omp_get_team_size(1), region.size);
  step.check("omp_get_max_threads()", omp_get_max_threads(), model.num_threads);
  step.check("omp_get_max_active_levels()", omp_get_max_active_levels(), model.max_active_levels);
  step.check("omp_get_dynamic()", omp_get_dynamic(), 0);
  omp_sched_t schedule;
  int chunk;
  omp_get_schedule(&schedule, &chunk);
  step.check("omp_get_schedule()", schedule & 0xff, model.schedule);
  step.check("omp_get_default_allocator()", static_cast<long long>(omp_get_default_allocator()),
             static_cast<long long>(model.allocator));
  step.check("fegetround()", std::fegetround(), model.rounding);
  ++region.visits[self];
}

inline void be_late(const Step& step) {
  if (omp_get_thread_num() != step.late_thread) return;
  std::this_thread::sleep_for(std::chrono::microseconds(step.late_us));
}

inline void cross(Region& region) {
  const int self = omp_get_thread_num();
  const long next = region.crossings[self] + 1;
  region.crossings[self] = next;
#pragma omp barrier
  for (int i = 0; i < region.size; ++i) region.step.check("crossings", region.crossings[i], next);
#pragma omp barrier
}

// Tasks may run when this function has returned, so they get a pointer.
inline void make_tasks(Region* region) {
  for (int i = 0; i < kTasksPerThread; ++i) {
#pragma omp task firstprivate(region)
    {
#pragma omp task firstprivate(region)
      ++region->num_tasks;
      ++region->num_tasks;
    }
  }
}

inline void make_tasks_of_single(Region* region) {
#pragma omp single
  {
    ++region->num_singles;
    for (int i = 0; i < kTasksPerThread; ++i) {
#pragma omp task firstprivate(region)
      region->num_tasks += region->size;
    }
  }
}

inline void make_taskloop(Region* region) {
#pragma omp single nowait
#pragma omp taskloop num_tasks(5) nogroup firstprivate(region)
  for (int i = 0; i < kIterations; ++i) ++region->num_tasks;
}

inline void run_loops(Region& region) {
  const std::uint32_t parts = region.step.parts;
  if (parts & kStaticLoop) {
#pragma omp for
    for (int i = 0; i < kIterations; ++i) ++region.num_iterations;
  }
  if (parts & kDynamicLoop) {
#pragma omp for schedule(dynamic, 3) nowait
    for (int i = 0; i < kIterations; ++i) ++region.num_iterations;
#pragma omp for schedule(runtime)
    for (int i = 0; i < kIterations; ++i) ++region.num_iterations;
  }
  if (parts & kOrderedLoop) {
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < kIterations; ++i) {
#pragma omp ordered
      region.ordered_sum = region.ordered_sum * 3 % 1000003 + i;
    }
  }
  if (parts & kDoacross) {
#pragma omp for ordered(1)
    for (int i = 0; i < kIterations; ++i) {
#pragma omp ordered depend(sink : i - 1)
      ++region.num_iterations;
#pragma omp ordered depend(source)
    }
  }
}

// Of this thread's task alone; the next region must not see it.
inline void set_icvs() {
  const int self = omp_get_thread_num();
  omp_set_num_threads(3 + self);
  omp_set_max_active_levels(4);
  omp_set_schedule(omp_sched_guided, 5 + self);
  omp_set_dynamic(1);
  omp_set_default_allocator(omp_large_cap_mem_alloc);
  std::fesetround(FE_UPWARD);
}

inline void open_nested(Region& region) {
  const Step& step = region.step;
  const bool is_active = omp_get_max_active_levels() > omp_get_active_level();
  const int expected = is_active ? step.nested_threads : 1;
  std::atomic<int> num_inner{0};
#pragma omp parallel num_threads(step.nested_threads)
  {
    step.check("nested omp_get_num_threads()", omp_get_num_threads(), expected);
    step.check("nested omp_get_level()", omp_get_level(), 2);
    step.check("nested omp_get_ancestor_thread_num(1)",
               omp_get_ancestor_thread_num(1) < region.size, 1);
#pragma omp barrier
    ++num_inner;
  }
  step.check("threads of the nested region", num_inner.load(), expected);
}

// All threads of the region; in `if`, false conditions and nested regions, one.
inline void run_body(Region& region) {
  const Step& step = region.step;
  check_surroundings(region);
  if (step.parts & kLate) be_late(step);
  if (step.parts & kBarrier) cross(region);
  if (step.parts & kTasks) make_tasks(&region);
  if (step.parts & kTasksOfSingle) make_tasks_of_single(&region);
  run_loops(region);
  if (step.parts & kNested) open_nested(region);
  if (step.parts & kLoopReduction) {
    long sum = 0;  // of this thread's share
#pragma omp for
    for (int i = 0; i < kIterations; ++i) sum += i;
    region.num_iterations += sum * 1000;
  }
  if (step.parts & kTaskloop) make_taskloop(&region);
  if (step.parts & kSetIcvs) set_icvs();
}

// After the join.
inline void judge(const Region& region) {
  const Step& step = region.step;
  for (int i = 0; i < region.size; ++i) step.check("visits", region.visits[i], 1);
  const std::uint32_t parts = step.parts;
  const auto when = [&](std::uint32_t part, long count) { return parts & part ? count : 0L; };
  step.check("tasks", region.num_tasks.load(),
             when(kTasks, 2L * kTasksPerThread * region.size) +
                 when(kTasksOfSingle, long{kTasksPerThread} * region.size) +
                 when(kTaskloop, kIterations));
  step.check("singles", region.num_singles.load(), when(kTasksOfSingle, 1));
  const long of_reduction = kIterations * (kIterations - 1L) / 2 * 1000;
  step.check("iterations", region.num_iterations.load(),
             when(kStaticLoop, kIterations) + when(kDynamicLoop, 2 * kIterations) +
                 when(kDoacross, kIterations) + when(kLoopReduction, of_reduction));
  long ordered_sum = 0;
  for (int i = 0; i < kIterations; ++i) ordered_sum = ordered_sum * 3 % 1000003 + i;
  step.check("ordered sum", region.ordered_sum, when(kOrderedLoop, ordered_sum));
}

}  // namespace region_fuzzer
