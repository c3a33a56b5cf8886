// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// For compare_programs.py: conjugate gradients whose vectors are so small that the parallel regions
// decide how long a solution takes. Each loop is a region of its own, as most programs have them.
//
// Prints a line for each number of unknowns. Exits with 1 where a solution is wrong.

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

using Vector = std::vector<double>;

constexpr int kIterations = 25;  // enough for the residual to become 1e-10 of what it was

// The matrix has 4 on the diagonal and -1 beside it.
void multiply(const Vector& x, Vector& result) {
  const int last = static_cast<int>(x.size()) - 1;
#pragma omp parallel for schedule(static)
  for (int i = 0; i <= last; ++i)
    result[i] = 4 * x[i] - (i > 0 ? x[i - 1] : 0) - (i < last ? x[i + 1] : 0);
}

double dot(const Vector& x, const Vector& y) {
  const int size = static_cast<int>(x.size());
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

// y = keep * y + factor * x
void add(double keep, Vector& y, double factor, const Vector& x) {
  const int size = static_cast<int>(y.size());
#pragma omp parallel for schedule(static)
  for (int i = 0; i < size; ++i) y[i] = keep * y[i] + factor * x[i];
}

struct Solver {
  explicit Solver(int size) : x(size), residual(size), direction(size), product(size) {}

  // For a right-hand side of ones. Returns how small the residual has become.
  double solve() {
    std::fill(x.begin(), x.end(), 0);
    std::fill(residual.begin(), residual.end(), 1);
    direction = residual;
    const double first = dot(residual, residual);
    double now = first;
    for (int i = 0; i < kIterations; ++i) {
      multiply(direction, product);
      const double step = now / dot(direction, product);
      add(1, x, step, direction);
      add(1, residual, -step, product);
      const double before = now;
      now = dot(residual, residual);
      add(now / before, direction, 1, residual);
    }
    return std::sqrt(now / first);
  }

  Vector x, residual, direction, product;
};

bool time_solutions(int size) {
  constexpr double kSeconds = 0.03;
  Solver solver(size);
  double residual = solver.solve();  // makes the team
  int count = 0;
  const double start = omp_get_wtime();
  double end = start;
  while (end - start < kSeconds) {
    residual = std::max(residual, solver.solve());
    ++count;
    end = omp_get_wtime();
  }
  std::printf("%d unknowns: %.3f us\n", size, (end - start) * 1e6 / count);
  return residual < 1e-9;
}

}  // namespace

int main() {
  bool is_right = true;
  for (const int size : {100, 1000, 10000}) is_right = time_solutions(size) && is_right;
  return is_right ? 0 : 1;
}
