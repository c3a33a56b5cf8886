// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a region is like after a function of the runtime, or another means, has changed something.
// For setters_test.py, which compares what the program prints with and without lean regions.
//
//     setters --list        the names of all changes; those of functions are the functions' names
//     setters NAME          regions that repeat, the change, and what the next ones are like
//     setters NAME N        so many regions behind it, of which nothing is printed

// BUILD: clang
// TEST: strict
//   ARGS: strict 100
//   CHECK: --counter lean>=98

#include <omp.h>
#include <sched.h>

#include <cfenv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/libomp/programs/check.hpp"

extern "C" void __kmpc_push_num_threads_strict(void*, int, int, int, const char*)
    __attribute__((weak));

namespace {

constexpr int kMaxThreads = 16;

std::string describe_thread() {
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  cpu_set_t cpus;
  CHECK_EQUAL(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  char text[300];
  std::snprintf(
      text, sizeof text,
      "thread %d of %d: max %d dynamic %d levels %d of %d schedule %d,%d device %d allocator %ld "
      "bind %d place %d "
      "limit %d teams limit %d blocktime %d rounding %d cpus %d",
      omp_get_thread_num(), omp_get_num_threads(), omp_get_max_threads(), omp_get_dynamic(),
      omp_get_level(), omp_get_max_active_levels(), static_cast<int>(kind), chunk,
      omp_get_default_device(), static_cast<long>(omp_get_default_allocator()),
      static_cast<int>(omp_get_proc_bind()), omp_get_place_num(), omp_get_thread_limit(),
      omp_get_teams_thread_limit(), kmp_get_blocktime(), std::fegetround(), CPU_COUNT(&cpus));
  return text;
}

std::vector<std::string> region() {
  std::vector<std::string> lines(kMaxThreads);
#pragma omp parallel
  lines[static_cast<std::size_t>(omp_get_thread_num())] = describe_thread();
  return lines;
}

std::vector<std::string> region_with_clause() {
  std::vector<std::string> lines(kMaxThreads);
#pragma omp parallel num_threads(3)
  lines[static_cast<std::size_t>(omp_get_thread_num())] = describe_thread();
  return lines;
}

void bind_to_first_place() {
  kmp_affinity_mask_t mask;
  kmp_create_affinity_mask(&mask);
  int cpu = 0;
  cpu_set_t cpus;
  CHECK_EQUAL(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  while (!CPU_ISSET(cpu, &cpus)) ++cpu;
  kmp_set_affinity_mask_proc(cpu, &mask);
  kmp_set_affinity(&mask);
  kmp_destroy_affinity_mask(&mask);
}

void serial_in_a_task() {
#pragma omp task if (0)
  region();
}

void one_cancelled_region() {
#pragma omp parallel
  {
#pragma omp cancel parallel
  }
}

constexpr omp_test::Case kChanges[] = {
    // Functions.
    {"kmp_set_affinity", bind_to_first_place},
    {"kmp_set_affinity_mask_proc", bind_to_first_place},
    {"kmp_set_blocktime", [] { kmp_set_blocktime(INT_MAX); }},
    {"kmp_set_defaults", [] { kmp_set_defaults("OMP_SCHEDULE=guided,7"); }},
    {"kmp_set_disp_num_buffers", [] { kmp_set_disp_num_buffers(9); }},
    {"kmp_set_library", [] { kmp_set_library(1); }},
    {"kmp_set_library_serial", [] { kmp_set_library_serial(); }},
    {"kmp_set_library_throughput", [] { kmp_set_library_throughput(); }},
    {"kmp_set_library_turnaround", [] { kmp_set_library_turnaround(); }},
    {"kmp_set_stacksize", [] { kmp_set_stacksize(1 << 22); }},
    {"kmp_set_stacksize_s", [] { kmp_set_stacksize_s(1 << 22); }},
    {"kmp_set_warnings_off", [] { kmp_set_warnings_off(); }},
    {"kmp_set_warnings_on", [] { kmp_set_warnings_on(); }},
    {"omp_control_tool", [] { omp_control_tool(omp_control_tool_flush, 0, nullptr); }},
    {"omp_init_allocator", [] { omp_init_allocator(omp_default_mem_space, 0, nullptr); }},
    {"omp_pause_resource", [] { omp_pause_resource(omp_pause_soft, omp_get_initial_device()); }},
    {"omp_pause_resource_all", [] { omp_pause_resource_all(omp_pause_hard); }},
    {"omp_set_affinity_format", [] { omp_set_affinity_format("%n"); }},
    {"omp_set_default_allocator", [] { omp_set_default_allocator(omp_const_mem_alloc); }},
    {"omp_set_default_device", [] { omp_set_default_device(1); }},
    {"omp_set_dynamic", [] { omp_set_dynamic(1); }},
    {"omp_set_max_active_levels", [] { omp_set_max_active_levels(3); }},
    {"omp_set_nested", [] { omp_set_nested(1); }},
    {"omp_set_num_teams", [] { omp_set_num_teams(2); }},
    {"omp_set_num_threads", [] { omp_set_num_threads(3); }},
    {"omp_set_schedule", [] { omp_set_schedule(omp_sched_dynamic, 5); }},
    {"omp_set_teams_thread_limit", [] { omp_set_teams_thread_limit(2); }},
    // Other means, and settings that come back.
    {"no_active_levels", [] { omp_set_max_active_levels(0); }},
    {"num_threads_to_and_fro", [] { omp_set_num_threads(4), omp_set_num_threads(2); }},
    {"serial_then_num_threads", [] { kmp_set_library_serial(), omp_set_num_threads(2); }},
    {"serial_and_back", [] { kmp_set_library_serial(), region(), kmp_set_library_turnaround(); }},
    {"blocktime_and_back", [] { kmp_set_blocktime(0), region(), kmp_set_blocktime(200); }},
    {"clause", [] { region_with_clause(); }},
    {"strict",
     [] {
       if (__kmpc_push_num_threads_strict != nullptr)
         __kmpc_push_num_threads_strict(nullptr, 0, 2, 1, nullptr);
       region();
     }},
    {"rounding", [] { std::fesetround(FE_UPWARD); }},
    {"region_in_a_task", serial_in_a_task},
    {"cancelled", one_cancelled_region},
};

int list() {
  for (const omp_test::Case& change : kChanges) std::puts(change.name);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--list") return list();
  for (const omp_test::Case& change : kChanges) {
    if (argc < 2 || std::string(argv[1]) != change.name) continue;
    omp_set_num_threads(2);
    for (int i = 0; i < 8; ++i) region();
    change.run();
    for (int i = 0; i < 2; ++i) {
      for (const std::string& line : region()) {
        if (!line.empty()) std::puts(line.c_str());
      }
    }
    for (int i = 0; argc == 3 && i < std::atoi(argv[2]); ++i) region();
    return 0;
  }
  std::fprintf(stderr, "usage: setters --list | NAME [N]\n");
  return 2;
}
