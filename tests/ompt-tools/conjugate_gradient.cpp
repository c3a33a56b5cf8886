// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program as people write them, for real_programs.sh: conjugate gradients on Poisson's equation
// in a square, all in one parallel region, whose loops and reductions end in barriers.
//
//   conjugate_gradient [SIDE [ITERATIONS]]    default 200 300
//
// Prints the residual before and after. Exits with 1 when it has not become a thousand times
// smaller.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Vector = std::vector<double>;

// The grid's points with a border of zeros around them.
struct Square {
  std::size_t side;
  std::size_t width() const { return side + 2; }
  std::size_t at(std::size_t row, std::size_t column) const { return row * width() + column; }
  std::size_t size() const { return width() * width(); }
};

// Orphaned, so that each loop is shared out among the threads of the region that calls.
void apply_laplacian(const Square& square, const Vector& x, Vector& result) {
#pragma omp for schedule(static)
  for (std::size_t row = 1; row <= square.side; ++row)
    for (std::size_t column = 1; column <= square.side; ++column) {
      const std::size_t i = square.at(row, column);
      result[i] = 4 * x[i] - x[i - 1] - x[i + 1] - x[i - square.width()] - x[i + square.width()];
    }
}

double shared_sum = 0;

double dot(const Vector& x, const Vector& y) {
#pragma omp single
  shared_sum = 0;
#pragma omp for schedule(static) reduction(+ : shared_sum)
  for (std::size_t i = 0; i < x.size(); ++i) shared_sum += x[i] * y[i];
  const double sum = shared_sum;
#pragma omp barrier
  return sum;
}

// y = x + factor * y, or y += factor * x
void scale_and_add(const Vector& x, double factor, Vector& y) {
#pragma omp for schedule(static)
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + factor * y[i];
}
void add_scaled(const Vector& x, double factor, Vector& y) {
#pragma omp for schedule(static)
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

// Solves for a right-hand side of ones. Returns how much smaller the residual has become.
double solve(const Square& square, int iterations) {
  Vector x(square.size()), residual(square.size()), direction, applied(square.size());
  for (std::size_t row = 1; row <= square.side; ++row)
    for (std::size_t column = 1; column <= square.side; ++column)
      residual[square.at(row, column)] = 1;
  direction = residual;
  double first = 0, last = 0;
#pragma omp parallel
  {
    double now = dot(residual, residual);
#pragma omp single nowait
    first = now;
    for (int i = 0; i < iterations && now > 0; ++i) {
      apply_laplacian(square, direction, applied);
      const double step = now / dot(direction, applied);
      add_scaled(direction, step, x);
      add_scaled(applied, -step, residual);
      const double before = now;
      now = dot(residual, residual);
      scale_and_add(residual, now / before, direction);
    }
#pragma omp single
    last = now;
  }
  std::printf("residual %.3e, at the end %.3e\n", std::sqrt(first), std::sqrt(last));
  return std::sqrt(first / last);
}

}  // namespace

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 200;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 300;
  if (side < 1 || iterations < 1) {
    std::fprintf(stderr, "conjugate_gradient: SIDE and ITERATIONS must be positive numbers\n");
    return 2;
  }
  return solve({static_cast<std::size_t>(side)}, iterations) >= 1000 ? 0 : 1;
}
