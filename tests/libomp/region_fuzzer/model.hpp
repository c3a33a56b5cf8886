// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

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
    const bool has_clause = form == Form::kNumThreads || form == Form::kIf || form == Form::kSpread || form == Form::kFor ||
                            form == Form::kManyReductions;
    return has_clause ? num_threads : model.num_threads;
  }

  void print() const {
    std::fprintf(stderr, "region %ld of root %d: form %d, parts 0x%x, num_threads %d, if %d, nested %d\n", number, root,
                 static_cast<int>(form), static_cast<unsigned>(parts), num_threads, condition, nested_threads);
  }
  [[noreturn]] void fail(const char* what, long long actual, long long expected) const {
    std::fprintf(stderr, "WRONG: %s is %lld, not %lld\n  in ", what, actual, expected);
    print();
    std::fprintf(stderr, "  again: region_fuzzer --seed %llu --regions %ld\n", static_cast<unsigned long long>(seed), number + 1);
    std::_Exit(1);
  }
  void check(const char* what, long long actual, long long expected) const {
    if (actual != expected) fail(what, actual, expected);
  }
};

}  // namespace region_fuzzer
