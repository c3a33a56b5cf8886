// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// `taskloop` as GCC compiles it: GOMP_taskloop for signed iteration variables, GOMP_taskloop_ull
// for unsigned ones that need 64 bits. Each loop must run every iteration once, whatever its
// direction and the clauses.

// BUILD: gcc
// TEST: counts_down near_the_limits_of_the_type over_pointers grain_sizes
//     strict_grain_sizes_and_numbers data_that_must_be_copied data_that_must_be_copied_at_once
//     data_of_undeferred_tasks iterators lastprivate reductions

#include <omp.h>

#include <atomic>
#include <climits>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

using ull = unsigned long long;

// Counts how often each of some iterations ran.
class Counts {
 public:
  explicit Counts(std::size_t num_iterations) : counts_(num_iterations) {}

  void add(ull iteration) {
    CHECK(iteration < counts_.size());
    ++counts_[iteration];
  }

  void check_once() const {
    for (const std::atomic<int>& count : counts_) CHECK_EQUAL(count.load(), 1);
  }

 private:
  std::vector<std::atomic<int>> counts_;
};

void counts_down() {
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    for (int step = 1; step <= 7; ++step) {
      const ull last = static_cast<ull>(step) * 99;
      Counts signed_counts(100), unsigned_counts(100);
#pragma omp taskloop num_tasks(9) shared(signed_counts)
      for (long i = static_cast<long>(last); i >= 0; i -= step)
        signed_counts.add(static_cast<ull>(i / step));
#pragma omp taskloop num_tasks(9) shared(unsigned_counts)
      for (ull i = last + 20; i > 19; i -= static_cast<ull>(step))
        unsigned_counts.add((i - 20) / static_cast<ull>(step));
      signed_counts.check_once();
      unsigned_counts.check_once();
    }
  }
}

void near_the_limits_of_the_type() {
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    Counts top(50), bottom(50), low(50);
#pragma omp taskloop grainsize(7) shared(top)
    for (ull i = ULLONG_MAX - 500; i < ULLONG_MAX - 3; i += 10)
      top.add((i - (ULLONG_MAX - 500)) / 10);
#pragma omp taskloop grainsize(7) shared(bottom)
    for (ull i = ULLONG_MAX; i > ULLONG_MAX - 50; --i) bottom.add(ULLONG_MAX - i);
#pragma omp taskloop num_tasks(3) shared(low)
    for (long i = LONG_MIN + 49; i > LONG_MIN; --i) low.add(static_cast<ull>(i - LONG_MIN));
    low.add(0);
    top.check_once();
    bottom.check_once();
    low.check_once();
  }
}

void over_pointers() {
  int values[300] = {};
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp taskloop grainsize(11)
    for (int* p = values + 299; p >= values; p -= 3) *p += 1;
#pragma omp taskloop num_tasks(5)
    for (int* p = values; p < values + 300; p += 2) *p += 10;
  }
  for (int i = 0; i < 300; ++i)
    CHECK_EQUAL(values[i], (i % 3 == 2 ? 1 : 0) + (i % 2 == 0 ? 10 : 0));
}

// How many iterations the tasks had. Each task has its own copy of `own`, at first 0.
std::vector<int> task_sizes(int num_iterations, const auto& run) {
  std::vector<std::atomic<int>> sizes(static_cast<std::size_t>(num_iterations));
  std::atomic<int> num_tasks{0};
#pragma omp parallel num_threads(4)
#pragma omp single
  run([&](int& own) {
    if (own == 0) own = ++num_tasks;
    ++sizes[static_cast<std::size_t>(own - 1)];
  });
  std::vector<int> result;
  for (int i = 0; i < num_tasks; ++i) result.push_back(sizes[static_cast<std::size_t>(i)]);
  return result;
}

int sum_of(const std::vector<int>& sizes) {
  int sum = 0;
  for (const int size : sizes) sum += size;
  return sum;
}

void grain_sizes() {
  for (int n = 1; n < 60; ++n) {
    for (int grain = 1; grain < 20; ++grain) {
      const auto sizes = task_sizes(n, [&](auto count) {
        int own = 0;
#pragma omp taskloop grainsize(grain) firstprivate(own)
        for (int i = 0; i < n; ++i) count(own);
      });
      CHECK_EQUAL(sum_of(sizes), n);
      for (const int size : sizes) CHECK(size < 2 * grain && (size >= grain || size == n));
    }
  }
}

void strict_grain_sizes_and_numbers() {
  for (int n = 1; n < 60; ++n) {
    for (int wanted = 1; wanted < 20; ++wanted) {
      const auto sizes = task_sizes(n, [&](auto count) {
        int own = 0;
#pragma omp taskloop grainsize(strict : wanted) firstprivate(own)
        for (int i = n; i > 0; --i) count(own);
      });
      CHECK_EQUAL(sum_of(sizes), n);
      CHECK_EQUAL(sizes.size(), (n + wanted - 1) / wanted);
      int num_smaller = 0;
      for (const int size : sizes) num_smaller += size != wanted;
      CHECK_EQUAL(num_smaller, n % wanted != 0);
      const auto tasks = task_sizes(n, [&](auto count) {
        int own = 0;
#pragma omp taskloop num_tasks(strict : wanted) firstprivate(own)
        for (int i = 0; i < n; ++i) count(own);
      });
      CHECK_EQUAL(tasks.size(), n < wanted ? n : wanted);
    }
  }
}

// A class that only its own functions can copy: it knows its address.
class Anchored {
 public:
  explicit Anchored(int value) : self_(this), value_(value) {}
  Anchored(const Anchored& other) : self_(this), value_(other.value()) {}
  Anchored& operator=(const Anchored&) = delete;
  ~Anchored() { self_ = nullptr; }

  int value() const {
    CHECK(self_ == this);
    return value_;
  }

 private:
  const Anchored* self_;
  int value_;
};

void copies_classes(bool deferred) {
  Anchored anchored(12345);
  int first = 7, second = 8;
  Counts down(200), up(200);
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp taskloop firstprivate(anchored, first, second) num_tasks(9) if (deferred)
    for (ull i = 200; i > 0; --i) {
      CHECK_EQUAL(anchored.value() + first + second, 12360);
      down.add(i - 1);
    }
#pragma omp taskloop firstprivate(anchored, first, second) grainsize(strict : 9) if (deferred)
    for (int i = 0; i < 200; ++i) {
      CHECK_EQUAL(anchored.value() + first + second, 12360);
      up.add(static_cast<ull>(i));
    }
  }
  CHECK_EQUAL(anchored.value(), 12345);
  down.check_once();
  up.check_once();
}

void data_that_must_be_copied() { copies_classes(true); }
void data_that_must_be_copied_at_once() { copies_classes(false); }

// With if(0) the copy is made too, or the task would read what is at the place of a copy in the
// original's record.
void data_of_undeferred_tasks() {
  for (int deferred = 0; deferred <= 1; ++deferred) {
    std::atomic<int> right{0};
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < 100; ++i) {
      Anchored anchored(i);
#pragma omp task firstprivate(anchored) if (deferred)
      right += anchored.value() == i;
#pragma omp task firstprivate(anchored) if (deferred) depend(inout : right)
      right += anchored.value() == i;
    }
    CHECK_EQUAL(right.load(), 200);
  }
}

void iterators() {
  std::vector<int> values(500);
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskloop num_tasks(13)
  for (auto it = values.rbegin(); it < values.rend(); it += 2) *it += 1;
  for (int i = 0; i < 500; ++i) CHECK_EQUAL(values[static_cast<std::size_t>(i)], i % 2);
}

void lastprivate() {
  for (int n = 1; n < 40; ++n) {
    ull last = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskloop lastprivate(last) grainsize(3)
    for (ull i = static_cast<ull>(n) * 3 + 10; i > 10; i -= 3) last = i;
    CHECK_EQUAL(last, 13);
  }
}

void reductions() {
  for (int round = 0; round < 50; ++round) {
    long sum = 1, in_tasks = 0;
#pragma omp parallel num_threads(1 + round % 5)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : in_tasks)
    {
#pragma omp taskloop reduction(+ : sum) in_reduction(+ : in_tasks) num_tasks(7)
      for (ull i = 100; i > 0; --i) {
        sum += static_cast<long>(i);
        in_tasks += 2;
      }
#pragma omp taskloop reduction(+ : sum) in_reduction(+ : in_tasks)
      for (ull i = 5; i < static_cast<ull>(round % 5); ++i) sum = in_tasks = -1;  // no iterations
    }
    CHECK_EQUAL(sum, 5051);
    CHECK_EQUAL(in_tasks, 200);
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"counts_down", counts_down},
                             {"near_the_limits_of_the_type", near_the_limits_of_the_type},
                             {"over_pointers", over_pointers},
                             {"grain_sizes", grain_sizes},
                             {"strict_grain_sizes_and_numbers", strict_grain_sizes_and_numbers},
                             {"data_that_must_be_copied", data_that_must_be_copied},
                             {"data_that_must_be_copied_at_once", data_that_must_be_copied_at_once},
                             {"data_of_undeferred_tasks", data_of_undeferred_tasks},
                             {"iterators", iterators},
                             {"lastprivate", lastprivate},
                             {"reductions", reductions}});
}
