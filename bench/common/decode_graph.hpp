// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bench/common/measured_program.hpp"
#include "bench/common/random.hpp"

// The work of a decode: what a language model's inference on cpus does for one token. It is a graph
// of many short operations, one after the other. All threads share each operation evenly, and none
// begins the next one before all have finished.
//
//   operation_times_ns()  the operations' sizes, the same on every machine
//   DecodePart            what one thread does of each operation
//   measure_decode()      graphs, and in turns with them their work alone
//
// Uses nothing but the C++ library, so that every measured program can include it.
namespace hierbar::bench {

struct DecodeGraph {
  int num_operations = 2000;  // about those of a model with 30 layers
  std::uint64_t seed = 1;     // of their sizes
  double work_ms = 0;         // of all operations in one thread; 0: as they are drawn
};

// The work of an operation in all threads together is drawn between these. Its logarithm is
// distributed evenly, as most operations of a decode are short (norms, additions) and few are long
// (products with a matrix). The mean is (50 - 1) / ln 50 = 12.5 us.
inline constexpr double kShortestOperationNs = 1000;
inline constexpr double kLongestOperationNs = 50000;

inline std::vector<double> operation_times_ns(const DecodeGraph& graph) {
  constexpr std::uint32_t kSteps = 1U << 20;
  test::Random random(graph.seed);
  std::vector<double> times(static_cast<std::size_t>(graph.num_operations));
  for (double& time : times) {
    const double position = (random.below(kSteps) + 0.5) / kSteps;
    time = kShortestOperationNs * std::pow(kLongestOperationNs / kShortestOperationNs, position);
  }
  if (graph.work_ms > 0) {
    const double drawn_ns = std::accumulate(times.begin(), times.end(), 0.0);
    for (double& time : times) time *= graph.work_ms * 1e6 / drawn_ns;
  }
  return times;
}

// All operations together, in ns.
inline double graph_work_ns(const DecodeGraph& graph) {
  const std::vector<double> times = operation_times_ns(graph);
  return std::accumulate(times.begin(), times.end(), 0.0);
}

// Numbers of one thread, which stay in the caches nearest to it. Work is counted in lines of them.
class alignas(128) DecodeData {
 public:
  // Multiplies and adds the next lines. The amount of work does not depend on the clock, so a
  // thread that is interrupted comes late, as in a program.
  void compute(long num_lines) {
    std::array<double, kPerLine> sums{};
    std::size_t next = next_;
    for (long i = 0; i < num_lines; ++i) {
      const double* const line = numbers_.data() + next;
      for (std::size_t k = 0; k < kPerLine; ++k) sums[k] += line[k] * line[k];
      next = (next + kPerLine) % kSize;
    }
    next_ = next;
    result_ = std::accumulate(sums.begin(), sums.end(), 0.0);
  }

 private:
  static constexpr std::size_t kPerLine = 8;
  static constexpr std::size_t kSize = 16384 / sizeof(double);

  std::vector<double> numbers_ = std::vector<double>(kSize, 0.5);
  std::size_t next_ = 0;
  volatile double result_ = 0;  // nobody reads it, but no compiler may leave the work out
};

// The cpu time of one line. The fastest of several trials counts: a disturbed one would make the
// work shorter.
inline double decode_line_ns() {
  constexpr long kTrial = 20000;
  DecodeData data;
  double trial_ns = 1e9;
  for (int i = 0; i < 10; ++i) {
    const double start = thread_cpu_ns();
    data.compute(kTrial);
    trial_ns = std::min(trial_ns, thread_cpu_ns() - start);
  }
  return trial_ns / kTrial;
}

// The size of each operation in lines, at least one.
inline std::vector<long> operation_lines(const DecodeGraph& graph) {
  const double line_ns = decode_line_ns();
  std::vector<long> lines;
  for (const double time_ns : operation_times_ns(graph))
    lines.push_back(std::max(1L, std::lround(time_ns / line_ns)));
  return lines;
}

// One thread's part of each operation, in memory of that thread, which must make it.
class DecodePart {
 public:
  // The parts of the threads differ by one line at most.
  DecodePart(const std::vector<long>& operations, int thread, int num_threads) {
    for (const long lines : operations)
      parts_.push_back(lines * (thread + 1) / num_threads - lines * thread / num_threads);
  }

  std::size_t num_operations() const { return parts_.size(); }
  void operate(std::size_t operation) { data_.compute(parts_[operation]); }

  // The cpu time in ns of all operations, one after the other, without any other thread.
  double cpu_ns_alone() {
    const double start = thread_cpu_ns();
    for (std::size_t i = 0; i < parts_.size(); ++i) operate(i);
    return thread_cpu_ns() - start;
  }

 private:
  std::vector<long> parts_;
  DecodeData data_;
};

// In ns for a graph. Values of the same index were measured one after the other.
struct DecodeSamples {
  std::vector<double> graph;
  std::vector<double> ideal;  // the work divided among the cpus, without any synchronisation
};

// Measures in turns until the budget is spent: time_graph() runs a graph, time_ideal() its work
// alone. At least three of each, even if that takes longer; but not more than four budgets.
template <class TimeGraph, class TimeIdeal>
DecodeSamples measure_decode(double budget_ns, TimeGraph time_graph, TimeIdeal time_ideal) {
  constexpr std::size_t kFewestGraphs = 3;
  DecodeSamples samples;
  time_ideal();  // warms up caches and clocks
  const double start = now_ns();
  while (true) {
    samples.graph.push_back(time_graph());
    samples.ideal.push_back(time_ideal());
    const double spent = now_ns() - start;
    if (spent > budget_ns && (samples.graph.size() >= kFewestGraphs || spent > 4 * budget_ns))
      return samples;
  }
}

}  // namespace hierbar::bench
