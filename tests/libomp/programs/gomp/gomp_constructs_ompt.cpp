// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What an OMPT tool is told of a program that GCC 17 compiled: which barriers it crosses, and the
// begins and ends of its constructs. The tool is in the program.

// Its omp.h is GCC's; omp-tools.h is libomp's.
// BUILD: gcc -L$library_dir -rdynamic -idirafter $openmp_include_dir
// TEST: barriers masked single scope reductions static_loops leagues control_tool
// TEST stock_barrier: barriers single
//   ENV: KMP_BARRIER
// TEST: cancelled
//   ENV: OMP_CANCELLATION=true

#include <dlfcn.h>
#include <omp-tools.h>
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <string>

#include "gomp_constructs.hpp"

extern "C" {
VERSIONED(int, omp_control_tool, "OMP_6.0", int, int, void*);
VERSIONED(int, omp_control_tool_, "OMP_6.0", const int*, const int*);
VERSIONED(int, omp_control_tool_8_, "OMP_6.0", const int*, const long*);
}

namespace {

using omp_test::Chunk;
using omp_test::reported_loop;
using omp_test::static_part;

constexpr int kThreads = 3;

// ---- what the tool has seen, each thread by itself, as text ----

thread_local std::string events;

void note(const std::string& what, int end, const void* address) {
  Dl_info found{}, program{};
  CHECK(dladdr(reinterpret_cast<void*>(&note), &program) != 0);
  CHECK(address != nullptr && dladdr(address, &found) != 0);
  CHECK(found.dli_fbase == program.dli_fbase);
  const char* const ends[] = {"", "<", ">", "!"};  // begin, end, both in one
  events += what + ends[end] + " ";
}

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t*,
                    ompt_data_t* task, const void* address) {
  // The barrier at the end of a region is the library's.
  if (kind == ompt_sync_region_barrier_implicit_parallel || kind == ompt_sync_region_taskgroup)
    return;
  CHECK(task != nullptr);
  note("barrier" + std::to_string(kind), end, address);
}

void on_reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t*, ompt_data_t*,
                  const void* address) {
  CHECK_EQUAL(kind, ompt_sync_region_reduction);
  note("reduction", end, address);
}

void on_work(ompt_work_t kind, ompt_scope_endpoint_t end, ompt_data_t* region, ompt_data_t* task,
             uint64_t count, const void* address) {
  CHECK(region != nullptr && task != nullptr);
  note("work" + std::to_string(kind) + ":" + std::to_string(count), end, address);
}

void on_dispatch(ompt_data_t*, ompt_data_t*, ompt_dispatch_t kind, ompt_data_t instance) {
  const auto* const chunk = static_cast<const ompt_dispatch_chunk_t*>(instance.ptr);
  events += "chunk" + std::to_string(kind) + ":" + std::to_string(chunk->start) + "+" +
            std::to_string(chunk->iterations) + " ";
}

void on_masked(ompt_scope_endpoint_t end, ompt_data_t*, ompt_data_t*, const void* address) {
  note("masked", end, address);
}

int on_control_tool(uint64_t command, uint64_t modifier, void* argument, const void* address) {
  note("control" + std::to_string(command) + ":" + std::to_string(modifier) +
           (argument != nullptr ? "*" : ""),
       0, address);
  return 7;
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  set(ompt_callback_sync_region, reinterpret_cast<ompt_callback_t>(on_sync_region));
  set(ompt_callback_reduction, reinterpret_cast<ompt_callback_t>(on_reduction));
  set(ompt_callback_work, reinterpret_cast<ompt_callback_t>(on_work));
  set(ompt_callback_dispatch, reinterpret_cast<ompt_callback_t>(on_dispatch));
  set(ompt_callback_masked, reinterpret_cast<ompt_callback_t>(on_masked));
  set(ompt_callback_control_tool, reinterpret_cast<ompt_callback_t>(on_control_tool));
  return 1;
}

void expect(const std::string& expected) {
  if (events != expected) {
    std::fprintf(stderr, "thread %d: the tool has seen '%s', not '%s'\n", omp_get_thread_num(),
                 events.c_str(), expected.c_str());
    std::_Exit(1);
  }
  events.clear();
}

std::string barrier(ompt_sync_region_t kind) {
  const std::string name = "barrier" + std::to_string(kind);
  return name + "< " + name + "> ";
}

const std::string kWorkshareBarrier = barrier(ompt_sync_region_barrier_implicit_workshare);

// ---- cases ----

void barriers() {
#pragma omp parallel num_threads(kThreads)
  {
    versioned_GOMP_barrier_ext(kOfParallel);
    expect(barrier(ompt_sync_region_barrier_implementation));
    versioned_GOMP_barrier_ext(kOfWorkshare);
    expect(kWorkshareBarrier);
    versioned_GOMP_barrier_ext(kExplicit);
    expect(barrier(ompt_sync_region_barrier_explicit));
    // Without cancellation, these are the same.
    versioned_GOMP_barrier_cancel_ext(kOfWorkshare);
    expect(kWorkshareBarrier);
    versioned_GOMP_barrier_cancel_ext(kExplicit);
    expect(barrier(ompt_sync_region_barrier_explicit));
  }
}

void masked() {
#pragma omp parallel num_threads(kThreads)
  {
    const bool is_one = omp_get_thread_num() == 1;
    if (versioned_GOMP_has_masked_thread_num(1)) expect("masked! ");
    if (versioned_GOMP_has_masked_thread_num_with_end(1)) {
      expect("masked< ");
      versioned_GOMP_masked_end();
    }
    expect(is_one ? "masked> " : "");
  }
}

void single() {
#pragma omp parallel num_threads(kThreads)
  for (int round = 0; round < 50; ++round) {
    const bool is_mine = versioned_GOMP_single_start_with_end();
    const std::string work = is_mine ? "work3:1" : "work4:1";
    expect(work + "< ");
    if (is_mine) {
      // One in a region inside, whose executor may be the other thread.
#pragma omp parallel num_threads(2)
      {
        const bool is_inner = versioned_GOMP_single_start_with_end();
        versioned_GOMP_single_end();
        expect(is_inner ? "work3:1< work3:1> " : "work4:1< work4:1> ");
      }
    }
    versioned_GOMP_barrier_ext(kOfWorkshare);
    versioned_GOMP_single_end();
    expect(kWorkshareBarrier + work + "> ");
  }
}

void scope() {
  int sum = 0;
#pragma omp parallel num_threads(kThreads)
  {
    versioned_GOMP_scope_start_with_end(nullptr);
    expect("work8:1< ");
    versioned_GOMP_scope_end();
    expect("work8:1> ");
    omp_test::reported_scope(&sum, [](int& mine) { mine += 1; });
    expect("work8:1< work8:1> " + kWorkshareBarrier +
           barrier(ompt_sync_region_barrier_implementation));
  }
  CHECK_EQUAL(sum, kThreads);
}

void reductions() {
#pragma omp parallel num_threads(kThreads)
  {
    versioned_GOMP_reduction_start();
    versioned_GOMP_reduction_end();
    expect("reduction< reduction> ");
  }
}

std::string chunk(ompt_dispatch_t kind, Chunk part) {
  return "chunk" + std::to_string(kind) + ":" + std::to_string(part.begin) + "+" +
         std::to_string(part.end - part.begin) + " ";
}

void static_loops() {
#pragma omp parallel num_threads(kThreads)
  {
    const Chunk part = static_part(10, versioned_GOMP_loop_static_worksharing(10));
    expect("work10:10! ");
    reported_loop(10, [](int) {});
    versioned_GOMP_barrier_ext(kOfWorkshare);
    versioned_GOMP_loop_static_worksharing_end();
    expect("work10:10< " + chunk(ompt_dispatch_ws_loop_chunk, part) + kWorkshareBarrier +
           "work10:0> ");
  }
}

void leagues() {
#pragma omp teams num_teams(2)
  {
    versioned_GOMP_distribute_static_worksharing(10);
    expect("work6:10! ");
    const Chunk part = static_part(10, versioned_GOMP_distribute_static_worksharing_start(10));
    versioned_GOMP_distribute_static_worksharing_dispatch(part.begin, part.end - part.begin);
    versioned_GOMP_distribute_static_worksharing_end();
    expect("work6:10< " + chunk(ompt_dispatch_distribute_chunk, part) + "work6:0> ");
  }
}

void control_tool() {
  const int command = 2, modifier = 3;
  const long large = 1L << 40;
  int argument = 0;
  CHECK_EQUAL(versioned_omp_control_tool(1, 5, &argument), 7);
  expect("control1:5* ");
  CHECK_EQUAL(versioned_omp_control_tool_(&command, &modifier), 7);
  expect("control2:3 ");
  CHECK_EQUAL(versioned_omp_control_tool_8_(&command, &large), 7);
  expect("control2:2147483647 ");  // the modifier is an int
}

// A barrier that ends by cancellation tells its end too, and so does the loop in front of it.
void cancelled() {
  CHECK(omp_get_cancellation());
  std::atomic<int> done{0};  // with the loop
#pragma omp parallel num_threads(kThreads)
  {
    versioned_GOMP_loop_static_worksharing_start(10);
    versioned_GOMP_cancel(omp_test::kCancelLoop, omp_get_thread_num() == 0);
    versioned_GOMP_barrier_cancel_ext(kOfWorkshare);
    versioned_GOMP_loop_static_worksharing_end();
    expect("work10:10< " + kWorkshareBarrier + "work10:0> ");
    ++done;
    if (omp_get_thread_num() == 0) {
      while (done.load() < kThreads) sched_yield();
      versioned_GOMP_cancel(omp_test::kCancelParallel, true);
    } else {
      CHECK(versioned_GOMP_barrier_cancel_ext(kExplicit));
      expect(barrier(ompt_sync_region_barrier_explicit));
    }
  }
}

}  // namespace

extern "C" ompt_start_tool_result_t* ompt_start_tool(unsigned, const char*) {
  static ompt_start_tool_result_t result{initialize, [](ompt_data_t*) {}, {}};
  return &result;
}

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  return omp_test::run_case(argc, argv,
                            {{"barriers", barriers},
                             {"masked", masked},
                             {"single", single},
                             {"scope", scope},
                             {"reductions", reductions},
                             {"static_loops", static_loops},
                             {"leagues", leagues},
                             {"control_tool", control_tool},
                             {"cancelled", cancelled}});
}
