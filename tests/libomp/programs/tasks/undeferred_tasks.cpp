// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tasks that are executed at once: their if clause is false, their team has one thread, their
// parent is final, or the thread's deque is full. Each is a task of its own all the same.

// BUILD: clang
// BUILD: gcc
// TEST: taskwaits children_that_outlive_it taskgroups settings final_tasks regions_inside
//     dependences_inside copies full_deque reductions detached_children tasks_held_back
//     deep_recursion untied_tasks
// TEST: cancelled_taskgroup
//   ENV: OMP_CANCELLATION=true

#include <omp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 4;

// body() in one thread of teams of 1 to 4 threads, some rounds each. At the barrier after it all
// tasks are done.
template <class Body>
void in_one_thread(int num_rounds, Body&& body) {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    for (int round = 0; round < num_rounds; ++round) {
#pragma omp parallel num_threads(num_threads)
#pragma omp single
      body();
    }
  }
}

// A taskwait waits for the children of its own task: those of the undeferred one inside it, and
// outside of it for none of these.
void taskwaits() {
  std::atomic<bool> may_end{false};
  std::atomic<int> done{0};
  in_one_thread(50, [&] {
    done = 0;
    may_end = omp_get_num_threads() == 1;  // where the child runs at once
#pragma omp task if (0) shared(may_end, done)
    {
#pragma omp task shared(done)
      ++done;
#pragma omp taskwait
      CHECK_EQUAL(done.load(), 1);
#pragma omp task shared(may_end, done)
      {
        while (!may_end) std::this_thread::yield();
        ++done;
      }
    }
#pragma omp taskwait
    if (omp_get_num_threads() > 1) CHECK_EQUAL(done.load(), 1);
    may_end = true;
  });
  CHECK_EQUAL(done.load(), 2);
}

// Levels of tasks that all end before their children. What the children have of their parent must
// stay theirs although the thread begins many others in between.
void leave_children(int level, std::atomic<int>& done) {
  if (level == 0) return;
  for (int i = 0; i < 3; ++i) {
#pragma omp task if (level % 2) shared(done) firstprivate(level)
    {
#pragma omp task shared(done)
      {
#pragma omp task shared(done)
        ++done;
      }
      leave_children(level - 1, done);
      ++done;
    }
#pragma omp task if (0) shared(done)
    {
      int of_children = 0;
#pragma omp task shared(of_children)
      ++of_children;
#pragma omp taskwait
      CHECK_EQUAL(of_children, 1);
    }
  }
}

void children_that_outlive_it() {
  constexpr int kTasks = 3 + 9 + 27 + 81;
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) {
    for (int round = 0; round < 40; ++round) {
      std::atomic<int> done{0};
#pragma omp parallel num_threads(num_threads)
      {
#pragma omp single nowait
        leave_children(4, done);
#pragma omp barrier
        CHECK_EQUAL(done.load(), 2 * kTasks);
      }
    }
  }
}

void taskgroups() {
  in_one_thread(50, [] {
    std::atomic<int> done{0};
#pragma omp taskgroup
    for (int i = 0; i < 4; ++i) {
#pragma omp task if (0) shared(done)
      {
#pragma omp task shared(done)
        {
          std::this_thread::yield();
#pragma omp task if (0) shared(done)
          {
#pragma omp task shared(done)
            ++done;
          }
        }
      }
    }
    CHECK_EQUAL(done.load(), 4);
  });
}

// A task begins with its parent's settings, and what it sets is its own.
void settings() {
  in_one_thread(20, [] {
    const int of_parent = omp_get_max_threads();
    for (int i = 0; i < 5; ++i) {
#pragma omp task if (0) firstprivate(i)
      {
        CHECK_EQUAL(omp_get_max_threads(), of_parent);
        omp_set_num_threads(10 + i);
#pragma omp task if (0) firstprivate(i)
        {
          CHECK_EQUAL(omp_get_max_threads(), 10 + i);
          omp_set_num_threads(20 + i);
        }
        CHECK_EQUAL(omp_get_max_threads(), 10 + i);
      }
      CHECK_EQUAL(omp_get_max_threads(), of_parent);
    }
  });
}

void final_tasks() {
  in_one_thread(50, [] {
    for (int i = 0; i < 4; ++i) {
      const bool is_final = i % 2 == 1;
      bool has_run = false;
#pragma omp task if (0) final(is_final) shared(has_run)
      {
        CHECK_EQUAL(omp_in_final(), is_final);
        bool child_has_run = false;
#pragma omp task shared(child_has_run)
        {
          CHECK_EQUAL(omp_in_final(), is_final);
          child_has_run = true;
        }
        if (is_final) CHECK(child_has_run);
#pragma omp taskwait
        has_run = child_has_run;
      }
      CHECK(has_run);
      CHECK(!omp_in_final());
    }
  });
}

// Its threads have implicit tasks, and what these make is done at the end of the region.
void regions_inside() {
  omp_set_max_active_levels(2);
  in_one_thread(20, [] {
    for (int size = 1; size <= 3; ++size) {
      std::atomic<int> done{0};
#pragma omp task if (0) shared(done) firstprivate(size)
      {
#pragma omp parallel num_threads(size)
        {
#pragma omp task if (0) shared(done)
          {
            CHECK_EQUAL(omp_get_num_threads(), size);
#pragma omp task shared(done)
            ++done;
          }
#pragma omp barrier
          CHECK_EQUAL(done.load(), size);
        }
#pragma omp task shared(done)
        ++done;
#pragma omp taskwait
      }
      CHECK_EQUAL(done.load(), size + 1);
    }
  });
}

// The table of the dependences of its children is its own, also when it has ended before them.
void dependences_inside() {
  std::atomic<int> num_ended{0};
  in_one_thread(30, [&] {
    static int chains[4];
    for (int& chain : chains) {
      chain = 0;
      int* const place = &chain;
#pragma omp task if (0) shared(num_ended) firstprivate(place)
      for (int i = 0; i < 5; ++i) {
#pragma omp task depend(inout : place[0]) firstprivate(place, i) shared(num_ended)
        {
          CHECK_EQUAL(*place, i);
          ++*place;
          ++num_ended;
        }
      }
    }
  });
  CHECK_EQUAL(num_ended.load(), kMaxThreads * 30 * 4 * 5);
}

#ifdef __clang__
constexpr std::size_t kAlignment = 16;  // its tasks' data has no more
#else
constexpr std::size_t kAlignment = 64;
#endif

// Counts its objects, and knows whether one is where it was made.
struct alignas(kAlignment) Counted {
  static std::atomic<int> num_made, num_destroyed;
  const Counted* self = this;
  int value = 7;
  Counted() { ++num_made; }
  Counted(const Counted& other) : value(other.value) {
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(this) % kAlignment, 0);
    ++num_made;
  }
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    CHECK(self == this);
    ++num_destroyed;
  }
};
std::atomic<int> Counted::num_made{0}, Counted::num_destroyed{0};

// A firstprivate variable is a copy, whatever makes the task run at once.
void copies() {
  std::atomic<int> num_run{0};
  in_one_thread(50, [&] {
    Counted object;
    int number = 7, list[3] = {7, 7, 7};
    for (int i = 0; i < 4; ++i) {
#pragma omp task if (i % 2) firstprivate(object, number, list) shared(num_run)
      {
        CHECK_EQUAL(object.value + number + list[2], 21);
        CHECK(object.self == &object);
        object.value = number = list[2] = 0;
        ++num_run;
      }
    }
#pragma omp taskloop num_tasks(4) firstprivate(object, number, list) shared(num_run)
    for (int i = 0; i < 4; ++i) {
      CHECK_EQUAL(object.value + number + list[2], 21);
      object.value = number = list[2] = 0;
      ++num_run;
    }
    CHECK_EQUAL(object.value + number + list[2], 21);
  });
  CHECK_EQUAL(num_run.load(), kMaxThreads * 50 * 8);
  CHECK_EQUAL(Counted::num_made.load(), Counted::num_destroyed.load());
}

// One thread makes more tasks than its deque holds, while the others are held up.
void full_deque() {
  constexpr int kTasks = 3000;
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> may_go_on{false};
    std::atomic<int> done{0}, at_once{0};
    const auto me = std::this_thread::get_id();
#pragma omp parallel num_threads(2)
    {
      if (std::this_thread::get_id() == me) {
        bool is_made = false;
        for (int i = 0; i < kTasks; ++i) {
          is_made = false;
#pragma omp task shared(done, at_once, is_made)
          {
            if (!may_go_on) {
              ++at_once;
              is_made = true;
              int of_children = 0;
#pragma omp task if (0) shared(of_children)
              ++of_children;
#pragma omp task shared(done)
              ++done;
              CHECK_EQUAL(of_children, 1);
            }
            ++done;
          }
        }
        CHECK(is_made);
        may_go_on = true;
      }
      while (!may_go_on) std::this_thread::yield();
#pragma omp barrier
      CHECK_EQUAL(done.load(), kTasks + at_once.load());
    }
    CHECK(at_once.load() > kTasks / 2);
  }
}

void reductions() {
  in_one_thread(50, [] {
    int sum = 1;
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 6; ++i) {
#pragma omp task if (i % 2) in_reduction(+ : sum) firstprivate(i)
      {
        sum += i;
#pragma omp task if (0) in_reduction(+ : sum)
        sum += 100;
      }
    }
    CHECK_EQUAL(sum, 1 + 15 + 600);
  });
}

// The child is complete when its parent's parent fulfils the event, long after its parent has
// ended.
void detached_children() {
  std::atomic<int> done{0};
  in_one_thread(30, [&] {
    omp_event_handle_t events[3];
    for (omp_event_handle_t& event : events) {
      omp_event_handle_t* const place = &event;
#pragma omp task if (0) shared(done) firstprivate(place)
      {
        omp_event_handle_t of_child;
#pragma omp task detach(of_child) shared(done)
        ++done;
        *place = of_child;
      }
#pragma omp task if (0)
      {
#pragma omp taskwait
      }
    }
    for (omp_event_handle_t event : events) omp_fulfill_event(event);
  });
  CHECK_EQUAL(done.load(), kMaxThreads * 30 * 3);
}

void fulfil_later(omp_event_handle_t event) {
  for (int i = 0; i < 20; ++i) std::this_thread::yield();  // the other thread may wait by then
  omp_fulfill_event(event);
}

// In a team of one thread the task with the dependence is not counted. It leaves one child that is
// detached and one that a set's lock holds back. A thread that looks whether it may execute that
// one follows its ancestors, whose data must still be theirs.
void tasks_held_back() {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> done{0};
#pragma omp parallel num_threads(1)
    {
      omp_event_handle_t event;
      [[maybe_unused]] char place, set;
#pragma omp task if (0) shared(event, place, set)
#pragma omp task if (0) shared(event, place, set)
#pragma omp task depend(inout : place) shared(event, done, set)
      {
        omp_event_handle_t own;
#pragma omp task depend(mutexinoutset : set) detach(own) shared(done)
        ++done;
#pragma omp task depend(mutexinoutset : set) shared(done)
        ++done;
        event = own;
      }
#pragma omp task if (0) shared(done)
      {
        omp_event_handle_t of_child;
#pragma omp task detach(of_child) shared(done)
        ++done;
        std::thread(fulfil_later, of_child).detach();
#pragma omp taskwait
      }
      omp_fulfill_event(event);
    }
    CHECK_EQUAL(done.load(), 3);
  }
}

// Descends, and returns by how much the stack has grown.
[[gnu::noinline]] std::ptrdiff_t stack_below(std::uintptr_t start, int levels) {
  const char here = 0;
  std::ptrdiff_t size =
      static_cast<std::ptrdiff_t>(start - reinterpret_cast<std::uintptr_t>(&here));
  if (levels == 0) return size;
#pragma omp task if (0) shared(size)
  size = stack_below(start, levels - 1);
  return size;
}

// GCC's own library takes 450 bytes for a level, this function's included.
void deep_recursion() {
  constexpr int kLevels = 1000;
  const char here = 0;
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(&here);
  const std::ptrdiff_t per_level = stack_below(start, kLevels) / kLevels;
  std::printf("%td bytes of stack a level\n", per_level);
  CHECK(per_level < 600);
}

// Also in a second part of such a task, after its taskwait.
void untied_tasks() {
  in_one_thread(50, [] {
    std::atomic<int> done{0};
#pragma omp task untied if (0) shared(done)
    {
      for (int i = 0; i < 3; ++i) {
#pragma omp task shared(done)
        ++done;
#pragma omp task untied shared(done)
        ++done;
      }
#pragma omp taskwait
      CHECK_EQUAL(done.load(), 6);
#pragma omp task untied if (0) shared(done)
      {
#pragma omp task shared(done)
        ++done;
#pragma omp taskwait
      }
      CHECK_EQUAL(done.load(), 7);
    }
  });
}

// What comes after the request is discarded, also where it would run at once.
void cancelled_taskgroup() {
  CHECK(omp_get_cancellation());
  in_one_thread(20, [] {
    std::atomic<int> num_run{0};
#pragma omp taskgroup
    {
#pragma omp task if (0)
      {
#pragma omp cancel taskgroup
      }
      for (int i = 0; i < 1000; ++i) {
#pragma omp task shared(num_run)
        ++num_run;
      }
    }
    CHECK_EQUAL(num_run.load(), 0);
  });
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"taskwaits", taskwaits},
                             {"children_that_outlive_it", children_that_outlive_it},
                             {"taskgroups", taskgroups},
                             {"settings", settings},
                             {"final_tasks", final_tasks},
                             {"regions_inside", regions_inside},
                             {"dependences_inside", dependences_inside},
                             {"copies", copies},
                             {"full_deque", full_deque},
                             {"reductions", reductions},
                             {"detached_children", detached_children},
                             {"tasks_held_back", tasks_held_back},
                             {"deep_recursion", deep_recursion},
                             {"untied_tasks", untied_tasks},
                             {"cancelled_taskgroup", cancelled_taskgroup}});
}
