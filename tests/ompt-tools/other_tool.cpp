// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An OMPT tool to be put behind ours: marks every region in its parallel_data, and checks that it
// finds the mark wherever it is told about the region. Prints what it saw at the end. With
// OTHER_TOOL=inactive it does not want to be active.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trace/ompt_api.h"

namespace {

constexpr std::uint64_t kMark = 0x5AFE;
std::atomic<long> regions{0}, ends{0}, barriers{0}, waits{0}, works{0}, lookups{0}, errors{0};
ompt_get_parallel_info_t get_parallel_info = nullptr;

void check(const ompt_data_t* parallel) {
  if (parallel->value != kMark) ++errors;
}

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned, int,
                       const void*) {
  if (parallel->value != 0) ++errors;
  parallel->value = kMark;
  ++regions;
}
void on_parallel_end(ompt_data_t* parallel, ompt_data_t*, int, const void*) {
  check(parallel);
  ++ends;
}
void on_implicit_task(int endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned, unsigned,
                      int flags) {
  if ((flags & ompt_task_initial) != 0) return;
  if (endpoint == ompt_scope_begin) check(parallel);
  if (endpoint == ompt_scope_begin && task->value != 0) ++errors;  // nobody else's
  task->value = endpoint == ompt_scope_begin ? kMark : 0;
}
void on_sync_region(int kind, int endpoint, ompt_data_t* parallel, ompt_data_t*, const void*) {
  if (kind != ompt_sync_region_barrier_explicit) return;
  check(parallel);
  if (endpoint == ompt_scope_begin) ++barriers;
  ompt_data_t* found = nullptr;
  int size = 0;
  if (get_parallel_info(0, &found, &size) == 2) {
    check(found);
    ++lookups;
  }
}
void on_sync_region_wait(int kind, int endpoint, ompt_data_t* parallel, ompt_data_t*, const void*) {
  if (kind != ompt_sync_region_barrier_explicit) return;
  check(parallel);
  if (endpoint == ompt_scope_begin) ++waits;
}
void on_work(int, int, ompt_data_t* parallel, ompt_data_t*, std::uint64_t, const void*) {
  check(parallel);
  ++works;
}

template <class Callback>
void listen(ompt_set_callback_t set_callback, int event, Callback callback) {
  if (set_callback(event, reinterpret_cast<ompt_callback_t>(callback)) != ompt_set_always) ++errors;
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set_callback = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  get_parallel_info = reinterpret_cast<ompt_get_parallel_info_t>(lookup("ompt_get_parallel_info"));
  listen(set_callback, ompt_callback_parallel_begin, on_parallel_begin);
  listen(set_callback, ompt_callback_parallel_end, on_parallel_end);
  listen(set_callback, ompt_callback_implicit_task, on_implicit_task);
  listen(set_callback, ompt_callback_sync_region, on_sync_region);
  listen(set_callback, ompt_callback_sync_region_wait, on_sync_region_wait);
  listen(set_callback, ompt_callback_work, on_work);
  return 1;
}

void finalize(ompt_data_t*) {
  std::fprintf(stderr,
               "other tool: %ld regions, %ld ends, %ld barriers, %ld waits, %ld works, %ld "
               "lookups, %ld errors\n",
               regions.load(), ends.load(), barriers.load(), waits.load(), works.load(),
               lookups.load(), errors.load());
}

}  // namespace

extern "C" [[gnu::visibility("default")]] ompt_start_tool_result_t* ompt_start_tool(unsigned,
                                                                                    const char*) {
  static ompt_start_tool_result_t result = {initialize, finalize, {}};
  const char* wish = std::getenv("OTHER_TOOL");
  return wish != nullptr && std::strcmp(wish, "inactive") == 0 ? nullptr : &result;
}
