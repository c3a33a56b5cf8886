// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions. Above 4 threads libomp combines in the gather of a barrier; KMP_FORCE_REDUCTION=tree
// makes it do so always.

// BUILD: clang
// BUILD: gcc
// TEST (clang): all_operators result_is_there_after_the_loop without_a_barrier_of_the_loop
//     user_declared_operator array_sections tasks_in_its_barrier_reduce_too
//   CHECK: --counter phased>=20
// TEST trees (clang): all_operators result_is_there_after_the_loop
//   ENV: $trees
//   CHECK: --counter phased>=20
// TEST (clang): bitwise_repeatable
//   CHECK: --repeat 3 --counter phased>=600
// TEST forced (clang): bitwise_repeatable
//   ENV: KMP_FORCE_REDUCTION=tree
//   CHECK: --repeat 3 --counter phased>=1400
// TEST trees (clang): bitwise_repeatable
//   ENV: $trees KMP_FORCE_REDUCTION=tree
//   CHECK: --repeat 3 --counter phased>=1400
// TEST (gcc): all_operators result_is_there_after_the_loop without_a_barrier_of_the_loop
//     user_declared_operator array_sections tasks_in_its_barrier_reduce_too
//   CHECK: --counter phased>=10

#include <omp.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 16;

template <class Body>
void for_every_size(Body&& body) {
  for (int num_threads = 1; num_threads <= kMaxThreads; ++num_threads) body(num_threads);
}

void all_operators() {
  for_every_size([](int num_threads) {
    constexpr int kCount = 203;
    long sum = 5, difference = 0, product = 3;
    unsigned all_bits = ~0U, any_bits = 0, odd_bits = 0;
    int smallest = 1000, largest = -1000;
    bool all = true, any = false, all_broken = true;
#pragma omp parallel for num_threads(num_threads) reduction(+ : sum) reduction(- : difference)     \
    reduction(* : product) reduction(& : all_bits) reduction(| : any_bits) reduction(^ : odd_bits) \
    reduction(min : smallest) reduction(max : largest) reduction(&& : all, all_broken)             \
    reduction(|| : any)
    for (int i = 0; i < kCount; ++i) {
      sum += i;
      difference -= i;
      if (i % 20 == 0) product *= 2;
      all_bits &= ~(1U << i % 16);
      any_bits |= 1U << i % 9;
      odd_bits ^= 1U << i % 8;
      smallest = i - 7 < smallest ? i - 7 : smallest;
      largest = i * 2 > largest ? i * 2 : largest;
      all = all && i >= 0;
      all_broken = all_broken && i != kCount / 2;
      any = any || i == kCount - 1;
    }
    CHECK_EQUAL(sum, 5 + kCount * (kCount - 1) / 2);
    CHECK_EQUAL(difference, -kCount * (kCount - 1) / 2);
    CHECK_EQUAL(product, 3 << 11);
    CHECK_EQUAL(all_bits, 0xFFFF0000U);
    CHECK_EQUAL(any_bits, 0x1FF);
    CHECK_EQUAL(
        odd_bits,
        0xF8);  // 203 = 25 * 8 + 3: the bits 3 to 7 were flipped 25 times, the others 26 times
    CHECK_EQUAL(smallest, -7);
    CHECK_EQUAL(largest, 2 * (kCount - 1));
    CHECK(all && !all_broken && any);
  });
}

// The reduction's own barrier must not let a thread pass before the result is there, and not let
// the next one begin too early.
void result_is_there_after_the_loop() {
  for_every_size([](int num_threads) {
    long sum = 0;
#pragma omp parallel num_threads(num_threads)
    for (int round = 1; round <= 50; ++round) {
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < 64; ++i) sum += round;
      CHECK_EQUAL(sum, 64 * round * (round + 1) / 2);
#pragma omp barrier
    }
  });
}

void without_a_barrier_of_the_loop() {
  for_every_size([](int num_threads) {
    long sum = 0, count = 0;
#pragma omp parallel num_threads(num_threads) reduction(+ : count)
    {
      for (int round = 1; round <= 50; ++round) {
#pragma omp for reduction(+ : sum) nowait
        for (int i = 0; i < 64; ++i) sum += i;
#pragma omp barrier
        CHECK_EQUAL(sum, 2016L * round);
#pragma omp barrier
        ++count;
      }
    }
    CHECK_EQUAL(count, 50 * num_threads);
  });
}

struct Matrix {
  long entry[2][2];
  static Matrix identity() { return {{{1, 0}, {0, 1}}}; }
  Matrix operator*(const Matrix& other) const {
    Matrix result{};
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        result.entry[i][j] = entry[i][0] * other.entry[0][j] + entry[i][1] * other.entry[1][j];
      }
    }
    return result;
  }
};
#pragma omp declare reduction(multiply:Matrix : omp_out = omp_out * omp_in) \
    initializer(omp_priv = Matrix::identity())

// A thread that waits in the barrier of a reduction runs tasks. Regions in these reduce as well, in
// teams of other sizes, so by other methods.
void tasks_in_its_barrier_reduce_too() {
  for (int round = 0; round < 50; ++round) {
    constexpr int kThreads = 6;
    long sum = 0;
    std::atomic<long> of_tasks{0};
#pragma omp parallel num_threads(kThreads)
    {
      for (int task = 0; task < 10; ++task) {
#pragma omp task
        {
          long inner = 0;
#pragma omp parallel for num_threads(2) reduction(+ : inner)
          for (int i = 0; i < 10; ++i) inner += i;
          of_tasks += inner;
        }
      }
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < 60; ++i) sum += i;
#pragma omp for reduction(+ : sum) nowait
      for (int i = 0; i < 60; ++i) sum += i;
    }
    CHECK_EQUAL(sum, 2 * 60 * 59 / 2);
    CHECK_EQUAL(of_tasks.load(), kThreads * 10 * 45);
  }
}

void user_declared_operator() {
  for_every_size([](int num_threads) {
    Matrix shears = Matrix::identity();  // these commute, as OpenMP demands
#pragma omp parallel for num_threads(num_threads) reduction(multiply : shears)
    for (int i = 0; i < 100; ++i) shears = shears * Matrix{{{1, i}, {0, 1}}};
    CHECK_EQUAL(shears.entry[0][1], 4950);
    CHECK_EQUAL(shears.entry[0][0], 1);
  });
}

void array_sections() {
  for_every_size([](int num_threads) {
    std::vector<long> storage(300);
    long* const histogram = storage.data();
#pragma omp parallel for num_threads(num_threads) reduction(+ : histogram[ : 300])
    for (int i = 0; i < 3000; ++i) ++histogram[i * 7 % 300];
    for (int i = 0; i < 300; ++i) CHECK_EQUAL(histogram[i], 10);
  });
}

// Rounding makes the sum depend on the order of the additions: 1/i over static shares, so that only
// the order in which the threads' shares are combined could differ.
double harmonic_sum(int num_threads) {
  double sum = 0;
#pragma omp parallel for num_threads(num_threads) schedule(static) reduction(+ : sum)
  for (int i = 1; i < 20011; ++i) sum += 1.0 / i;
  return sum;
}

// Also from one process to the next: the caller compares the output. Smaller teams combine in the
// order of their arrival, in libomp as it is, unless KMP_FORCE_REDUCTION=tree.
void bitwise_repeatable() {
  const char* forced = std::getenv("KMP_FORCE_REDUCTION");
  for (int num_threads = forced != nullptr ? 2 : 5; num_threads <= kMaxThreads; ++num_threads) {
    const auto first = std::bit_cast<std::uint64_t>(harmonic_sum(num_threads));
    for (int run = 1; run < 50; ++run) {
      CHECK_EQUAL(std::bit_cast<std::uint64_t>(harmonic_sum(num_threads)), first);
    }
    std::printf("%d threads: %016llx\n", num_threads, static_cast<unsigned long long>(first));
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"all_operators", all_operators},
                             {"result_is_there_after_the_loop", result_is_there_after_the_loop},
                             {"without_a_barrier_of_the_loop", without_a_barrier_of_the_loop},
                             {"tasks_in_its_barrier_reduce_too", tasks_in_its_barrier_reduce_too},
                             {"user_declared_operator", user_declared_operator},
                             {"array_sections", array_sections},
                             {"bitwise_repeatable", bitwise_repeatable}});
}
