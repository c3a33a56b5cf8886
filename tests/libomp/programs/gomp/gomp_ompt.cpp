// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What an OMPT tool is told of a program that GCC compiled: regions and tasks that the program has,
// and addresses of the program's code, also where an entry point of GCC's does its work by several
// functions of libomp. The tool is in the program, which is built with -rdynamic, and without calls
// that do not return to it.

// Its omp.h is GCC's; omp-tools.h is libomp's.
// BUILD: gcc -Wno-maybe-uninitialized -rdynamic -fno-optimize-sibling-calls
//     -idirafter $openmp_include_dir
// TEST: target_regions tasks loops cancelled
//   ENV: OMP_CANCELLATION=true

#include <dlfcn.h>
#include <omp-tools.h>
#include <omp.h>

#include <atomic>

#include "tests/libomp/programs/check.hpp"

namespace {

ompt_get_task_info_t get_task_info;

// ---- what the tool has seen ----

std::atomic<int> regions_begun, regions_ended, initial_begun, initial_ended, target_tasks;
std::atomic<int> addresses[64];  // that were right, by callback

void check_address(ompt_callbacks_t callback, int kind, const void* address) {
  Dl_info found{}, program{};
  CHECK(dladdr(reinterpret_cast<void*>(&check_address), &program) != 0);
  if (address == nullptr || dladdr(address, &found) == 0 || found.dli_fbase != program.dli_fbase) {
    std::fprintf(stderr, "callback %d, kind %d: the address %p is in %s and not in the program\n",
                 callback, kind, address, found.dli_fname ? found.dli_fname : "nothing");
    std::_Exit(1);
  }
  ++addresses[callback];
}

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* region, unsigned, int,
                       const void* address) {
  region->value = ++regions_begun;
  check_address(ompt_callback_parallel_begin, 0, address);
}

void on_parallel_end(ompt_data_t* region, ompt_data_t*, int, const void*) {
  CHECK(region->value > 0);
  ++regions_ended;
}

void on_implicit_task(ompt_scope_endpoint_t end, ompt_data_t* region, ompt_data_t* task, unsigned,
                      unsigned, int flags) {
  if (end == ompt_scope_begin) {
    CHECK_EQUAL(task->value, 0);
    task->value = 1;
  }
  CHECK_EQUAL(task->value, 1);
  if (flags & ompt_task_initial) {
    ++(end == ompt_scope_begin ? initial_begun : initial_ended);
  } else if (end == ompt_scope_begin) {
    CHECK(region->value > 0);
  }
}

void on_task_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int flags, int,
                    const void* address) {
  task->value = 2;
  if (flags & ompt_task_target) ++target_tasks;
  check_address(ompt_callback_task_create, flags, address);
}

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t*, ompt_data_t*,
                    const void* address) {
  // The barrier at the end of a region is the library's for all threads but one.
  if (kind == ompt_sync_region_barrier_implicit_parallel ||
      (end == ompt_scope_end && address == nullptr))
    return;
  check_address(ompt_callback_sync_region, kind, address);
}

void on_work(ompt_work_t kind, ompt_scope_endpoint_t end, ompt_data_t*, ompt_data_t*, uint64_t,
             const void* address) {
  // A thread that gets nothing of a loop is told so at once, by an address that is the library's.
  if (end == ompt_scope_begin) check_address(ompt_callback_work, kind, address);
}

void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t, const void* address) {
  // libomp asks for that of an atomic construct in a function that only a release build inlines.
  if (kind != ompt_mutex_atomic) check_address(ompt_callback_mutex_acquire, kind, address);
}

void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t, const void* address) {
  if (kind != ompt_mutex_atomic) check_address(ompt_callback_mutex_released, kind, address);
}

void on_cancel(ompt_data_t*, int flags, const void* address) {
  check_address(ompt_callback_cancel, flags, address);
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  get_task_info = reinterpret_cast<ompt_get_task_info_t>(lookup("ompt_get_task_info"));
  set(ompt_callback_parallel_begin, reinterpret_cast<ompt_callback_t>(on_parallel_begin));
  set(ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(on_parallel_end));
  set(ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(on_implicit_task));
  set(ompt_callback_task_create, reinterpret_cast<ompt_callback_t>(on_task_create));
  set(ompt_callback_sync_region, reinterpret_cast<ompt_callback_t>(on_sync_region));
  set(ompt_callback_sync_region_wait, reinterpret_cast<ompt_callback_t>(on_sync_region));
  set(ompt_callback_work, reinterpret_cast<ompt_callback_t>(on_work));
  set(ompt_callback_mutex_acquire, reinterpret_cast<ompt_callback_t>(on_mutex_acquire));
  set(ompt_callback_mutex_released, reinterpret_cast<ompt_callback_t>(on_mutex_released));
  set(ompt_callback_cancel, reinterpret_cast<ompt_callback_t>(on_cancel));
  return 1;
}

// ---- cases ----

void target_regions() {
  CHECK_EQUAL(omp_get_num_threads(), 1);
  CHECK_EQUAL(initial_begun.load(), 1);
  int flags = 0, value = 0;
#pragma omp target map(tofrom : value, flags)
  {
    ++value;
    ompt_data_t *task = nullptr, *region = nullptr;
    CHECK(get_task_info(0, &flags, &task, nullptr, &region, nullptr) == 2);
    CHECK(task != nullptr && task->value == 1);
  }
  CHECK_EQUAL(value, 1);
  CHECK_EQUAL(regions_begun.load(), 0);
  CHECK_EQUAL(initial_begun.load(), 2);
  CHECK_EQUAL(initial_ended.load(), 1);
  CHECK_EQUAL(target_tasks.load(), 1);
#pragma omp parallel num_threads(3)
  {
#pragma omp target nowait map(tofrom : value)
    {
#pragma omp atomic
      ++value;
#pragma omp parallel num_threads(2)
      {
#pragma omp atomic
        ++value;
      }
    }
  }
  CHECK_EQUAL(value, 1 + 3 * 3);
  CHECK_EQUAL(regions_begun.load(), 1 + 3);
  CHECK_EQUAL(regions_ended.load(), 1 + 3);
  CHECK_EQUAL(initial_begun.load(), 2 + 3);
  CHECK_EQUAL(initial_ended.load(), 1 + 3);
  CHECK_EQUAL(target_tasks.load(), 1 + 3);
}

struct Copied {
  Copied() = default;
  Copied(const Copied& other) : value(other.value) {}
  ~Copied() { value = -1; }
  int value = 1;
};

void tasks() {
  int sum = 0, object = 0;
  Copied copied;
  (void)object;  // only named in clauses
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop num_tasks(3) shared(sum)
    for (int i = 0; i < 9; ++i) {
#pragma omp atomic
      sum += i;
    }
#pragma omp taskloop num_tasks(3) firstprivate(copied) shared(sum)
    for (int i = 0; i < 9; ++i) {
#pragma omp atomic
      sum += copied.value;
    }
#pragma omp taskloop num_tasks(2) reduction(+ : sum)
    for (unsigned long long i = 0; i < 9; ++i) sum += 1;
#pragma omp taskgroup
    {
#pragma omp task depend(out : object)
      {
      }
#pragma omp task if (0) depend(inout : object)
      {
      }
    }
    omp_event_handle_t event;
#pragma omp task detach(event)
    omp_fulfill_event(event);
#pragma omp task detach(event) if (0)
    omp_fulfill_event(event);
#pragma omp taskwait depend(in : object)
#pragma omp taskwait
  }
  CHECK_EQUAL(sum, 36 + 9 + 9);
  CHECK(addresses[ompt_callback_task_create] >= 3 + 3 + 2 + 4);
}

void loops() {
  int sum = 0, tasks = 0, last = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic) reduction(task, + : sum)
    for (int i = 0; i < 9; ++i) sum += i;
#pragma omp for schedule(dynamic) lastprivate(conditional : last)
    for (int i = 0; i < 9; ++i) last = i;
#pragma omp for schedule(guided) ordered
    for (unsigned long long i = 0; i < 9; ++i) {
#pragma omp ordered
      last = 1;
    }
#pragma omp for schedule(runtime)
    for (int i = 0; i < 9; ++i) {
#pragma omp critical(name)
      ++tasks;
#pragma omp critical
      ++tasks;
    }
#pragma omp for ordered(1)
    for (int i = 0; i < 9; ++i) {
#pragma omp ordered depend(sink : i - 1)
#pragma omp ordered depend(source)
    }
#pragma omp scope reduction(task, + : sum)
    sum += 1;
#pragma omp sections reduction(task, + : sum)
    {
#pragma omp section
      sum += 1;
#pragma omp section
      sum += 1;
    }
#pragma omp single
    last = 2;
#pragma omp barrier
  }
#pragma omp parallel num_threads(2) reduction(task, + : sum)
  {
#pragma omp task in_reduction(+ : sum)
    sum += 1;
  }
#pragma omp parallel for num_threads(2) schedule(dynamic)
  for (int i = 0; i < 9; ++i) {
#pragma omp atomic
    ++tasks;
  }
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    last = 3;
  }
  CHECK(last >= 0);
  CHECK_EQUAL(sum, 36 + 2 + 2 + 2);
}

void cancelled() {
  CHECK(omp_get_cancellation());
#pragma omp parallel num_threads(2)
  {
#pragma omp for
    for (int i = 0; i < 9; ++i) {
#pragma omp cancel for
#pragma omp cancellation point for
    }
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp cancel sections
      }
    }
#pragma omp cancel parallel
  }
  CHECK(addresses[ompt_callback_cancel] >= 4);
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
                            {{"target_regions", target_regions},
                             {"tasks", tasks},
                             {"loops", loops},
                             {"cancelled", cancelled}});
}
