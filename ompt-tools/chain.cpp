// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ompt-tools/chain.hpp"
#include "ompt-tools/team_pool.hpp"

#include <dlfcn.h>

#include <cstring>

namespace hierbar::report {
namespace {

ompt_start_tool_result_t* other = nullptr;
bool active = false;

// The runtime's functions. The other tool gets the functions below in their place.
ompt_function_lookup_t runtime_lookup = nullptr;
ompt_set_callback_t runtime_set_callback = nullptr;
ompt_get_callback_t runtime_get_callback = nullptr;
ompt_get_parallel_info_t runtime_parallel_info = nullptr;

// ---- events that carry a parallel_data and that this tool does not need ----

ompt_callback_sync_region_t other_sync_region_wait = nullptr;
ompt_callback_sync_region_t other_reduction = nullptr;
ompt_callback_work_t other_work = nullptr;
ompt_callback_masked_t other_masked = nullptr;
ompt_callback_dispatch_t other_dispatch = nullptr;

void pass_sync_region_wait(int kind, int endpoint, ompt_data_t* parallel, ompt_data_t* task,
                           const void* address) {
  other_sync_region_wait(kind, endpoint, chained_data(parallel), task, address);
}
void pass_reduction(int kind, int endpoint, ompt_data_t* parallel, ompt_data_t* task,
                    const void* address) {
  other_reduction(kind, endpoint, chained_data(parallel), task, address);
}
void pass_work(int type, int endpoint, ompt_data_t* parallel, ompt_data_t* task,
               std::uint64_t count, const void* address) {
  other_work(type, endpoint, chained_data(parallel), task, count, address);
}
void pass_masked(int endpoint, ompt_data_t* parallel, ompt_data_t* task, const void* address) {
  other_masked(endpoint, chained_data(parallel), task, address);
}
void pass_dispatch(ompt_data_t* parallel, ompt_data_t* task, int kind, ompt_data_t instance) {
  other_dispatch(chained_data(parallel), task, kind, instance);
}

// ---- the functions that the other tool's lookup finds ----

template <class Callback>
int keep(Callback& place, ompt_callback_t callback) {
  place = reinterpret_cast<Callback>(callback);
  return ompt_set_always;
}

// Keeps the other tool's callback, and registers `passes`, which calls it. If the callback is null,
// unregisters.
template <class Callback>
int pass(int event, Callback& place, ompt_callback_t callback, Callback passes) {
  place = reinterpret_cast<Callback>(callback);
  return runtime_set_callback(
      event, callback == nullptr ? nullptr : reinterpret_cast<ompt_callback_t>(passes));
}

int set_callback(int event, ompt_callback_t callback) {
  switch (event) {
    case ompt_callback_parallel_begin:
      return keep(chained_callbacks.parallel_begin, callback);
    case ompt_callback_parallel_end:
      return keep(chained_callbacks.parallel_end, callback);
    case ompt_callback_task_schedule:
      return keep(chained_callbacks.task_schedule, callback);
    case ompt_callback_implicit_task:
      return keep(chained_callbacks.implicit_task, callback);
    case ompt_callback_sync_region:
      return keep(chained_callbacks.sync_region, callback);
    case ompt_callback_sync_region_wait:
      return pass(event, other_sync_region_wait, callback, &pass_sync_region_wait);
    case ompt_callback_reduction:
      return pass(event, other_reduction, callback, &pass_reduction);
    case ompt_callback_work:
      return pass(event, other_work, callback, &pass_work);
    case ompt_callback_masked:
      return pass(event, other_masked, callback, &pass_masked);
    case ompt_callback_dispatch:
      return pass(event, other_dispatch, callback, &pass_dispatch);
    default:
      return runtime_set_callback(event, callback);
  }
}

template <class Callback>
int found(Callback place, ompt_callback_t* callback) {
  if (place == nullptr) return 0;
  *callback = reinterpret_cast<ompt_callback_t>(place);
  return 1;
}

int get_callback(int event, ompt_callback_t* callback) {
  switch (event) {
    case ompt_callback_parallel_begin:
      return found(chained_callbacks.parallel_begin, callback);
    case ompt_callback_parallel_end:
      return found(chained_callbacks.parallel_end, callback);
    case ompt_callback_task_schedule:
      return found(chained_callbacks.task_schedule, callback);
    case ompt_callback_implicit_task:
      return found(chained_callbacks.implicit_task, callback);
    case ompt_callback_sync_region:
      return found(chained_callbacks.sync_region, callback);
    case ompt_callback_sync_region_wait:
      return found(other_sync_region_wait, callback);
    case ompt_callback_reduction:
      return found(other_reduction, callback);
    case ompt_callback_work:
      return found(other_work, callback);
    case ompt_callback_masked:
      return found(other_masked, callback);
    case ompt_callback_dispatch:
      return found(other_dispatch, callback);
    default:
      return runtime_get_callback(event, callback);
  }
}

int get_parallel_info(int ancestor_level, ompt_data_t** parallel, int* team_size) {
  ompt_data_t* own = nullptr;
  const int available = runtime_parallel_info(ancestor_level, &own, team_size);
  if (available == 2 && parallel != nullptr) *parallel = chained_data(own);
  return available;
}

ompt_interface_fn_t lookup_for_other(const char* name) {
  if (std::strcmp(name, "ompt_set_callback") == 0)
    return reinterpret_cast<ompt_interface_fn_t>(&set_callback);
  if (std::strcmp(name, "ompt_get_callback") == 0)
    return reinterpret_cast<ompt_interface_fn_t>(&get_callback);
  if (std::strcmp(name, "ompt_get_parallel_info") == 0 && runtime_parallel_info != nullptr)
    return reinterpret_cast<ompt_interface_fn_t>(&get_parallel_info);
  return runtime_lookup(name);
}

}  // namespace

ChainedCallbacks chained_callbacks;
bool has_chained() noexcept { return active; }

ompt_start_tool_result_t* load_chained(const std::string& path, unsigned omp_version,
                                       const char* runtime, std::string& problem) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    problem = dlerror();
    return nullptr;
  }
  const auto start = reinterpret_cast<ompt_start_tool_t>(dlsym(library, "ompt_start_tool"));
  if (start == nullptr) {
    problem = "it has no ompt_start_tool";
    return nullptr;
  }
  other = start(omp_version, runtime);
  return other;
}

bool initialize_chained(ompt_function_lookup_t lookup, int initial_device) {
  if (other == nullptr) return false;
  runtime_lookup = lookup;
  runtime_set_callback = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  runtime_get_callback = reinterpret_cast<ompt_get_callback_t>(lookup("ompt_get_callback"));
  runtime_parallel_info =
      reinterpret_cast<ompt_get_parallel_info_t>(lookup("ompt_get_parallel_info"));
  active = true;
  active = other->initialize(&lookup_for_other, initial_device, &other->tool_data) != 0;
  if (!active) chained_callbacks = {};
  return active;
}

void finalize_chained() {
  if (active) other->finalize(&other->tool_data);
}

ompt_data_t* chained_data(ompt_data_t* parallel) {
  if (parallel == nullptr) return nullptr;
  if (parallel->ptr == nullptr) parallel->ptr = new Region;
  return &region_of(parallel)->chained;
}

}  // namespace hierbar::report
