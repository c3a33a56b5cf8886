// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An OMPT tool, for OMP_TOOL_LIBRARIES: counts what libomp tells about barriers and prints it at
// the end.

// BUILD as counting_tool.so: clang -fPIC -shared

#include <omp-tools.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

struct Pairs {
  std::atomic<long> begins{0};
  std::atomic<long> ends{0};
  void count(ompt_scope_endpoint_t endpoint) {
    if (endpoint == ompt_scope_begin || endpoint == ompt_scope_beginend) ++begins;
    if (endpoint == ompt_scope_end || endpoint == ompt_scope_beginend) ++ends;
  }
  void print(const char* name) const {
    std::fprintf(stderr, "tool: %s: %ld begins, %ld ends\n", name, begins.load(), ends.load());
  }
};

Pairs explicit_regions, explicit_waits, parallel_ends, reductions;

thread_local int depth = 0;  // of explicit barriers: begin region, begin wait, end wait, end region

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
                    ompt_data_t* task, const void*) {
  if (kind == ompt_sync_region_barrier_implicit_parallel) parallel_ends.count(endpoint);
  if (kind != ompt_sync_region_barrier_explicit) return;
  explicit_regions.count(endpoint);
  depth += endpoint == ompt_scope_begin ? 1 : -1;
  if (depth != (endpoint == ompt_scope_begin ? 1 : 0) || parallel == nullptr || task == nullptr) {
    std::fprintf(stderr,
                 "tool: a barrier region is not well nested, or without its region or task\n");
    std::_Exit(1);
  }
}

void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*,
                         ompt_data_t*, const void*) {
  if (kind != ompt_sync_region_barrier_explicit) return;
  explicit_waits.count(endpoint);
  depth += endpoint == ompt_scope_begin ? 1 : -1;
  if (depth != (endpoint == ompt_scope_begin ? 2 : 1)) {
    std::fprintf(stderr, "tool: a barrier wait is not inside its barrier region\n");
    std::_Exit(1);
  }
}

void on_reduction(ompt_sync_region_t, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*,
                  const void*) {
  reductions.count(endpoint);
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set_callback = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  set_callback(ompt_callback_sync_region, reinterpret_cast<ompt_callback_t>(on_sync_region));
  set_callback(ompt_callback_sync_region_wait,
               reinterpret_cast<ompt_callback_t>(on_sync_region_wait));
  set_callback(ompt_callback_reduction, reinterpret_cast<ompt_callback_t>(on_reduction));
  return 1;
}

void finalize(ompt_data_t*) {
  explicit_regions.print("explicit barriers");
  explicit_waits.print("explicit barrier waits");
  parallel_ends.print("parallel ends");
  reductions.print("reductions");
}

ompt_start_tool_result_t result = {initialize, finalize, ompt_data_none};

}  // namespace

extern "C" __attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(
    unsigned, const char*) {
  return &result;
}
