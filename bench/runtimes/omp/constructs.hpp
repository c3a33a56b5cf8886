// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <string_view>

namespace hierbar::bench::omp {

// What omp_barrier_bench can measure, in the order in which it measures. The driver and the
// measured program share this list; worker.cpp has the code for each name.
struct ConstructName {
  std::string_view name;
  std::string_view unit;  // what a figure in ns is for
  std::string_view explains;
};

inline constexpr std::string_view kBeside = "beside";
inline constexpr std::string_view kDecode = "decode";
inline constexpr std::string_view kDecodeRegions = "decode-regions";

inline constexpr std::array<ConstructName, 12> kConstructs{{
    {"barrier", "ns per barrier", "barriers back to back inside one region: their period"},
    {"isolated", "ns per barrier",
     "one barrier alone, from the last thread's arrival to the last thread's departure"},
    {"parallel", "ns per region", "an empty parallel region: fork and join"},
    {"reduction", "ns per region", "a parallel region with reduction(+) of one double"},
    {"parallel-for", "ns per region",
     "a parallel region that is a static loop, one iteration per thread"},
    {"for-reduction", "ns per loop",
     "a static loop with reduction(+) inside a region, one iteration per thread"},
    {"single", "ns per single", "an empty single construct inside a region"},
    {"for", "ns per loop", "a static loop inside a region, one iteration per thread"},
    {"tasks", "ns per task",
     "one thread creates small tasks in a single, the others wait, and work, in its barrier"},
    {kBeside, "ns per region",
     "regions of 20 us of work for each of two threads on two cpus, unbound, one of which another "
     "process holds"},
    {kDecode, "ns per graph",
     "the graph of a decode, 2000 operations of 1 to 50 us, in one region: a barrier after each"},
    {kDecodeRegions, "ns per graph", "the same graph with a region for each operation"},
}};

// Of the construct `beside`. Only two threads are measured. A process measures for so many budgets
// and gives its mean, which must hold many time slices.
inline constexpr double kBesideWorkNs = 20000;
inline constexpr double kBesideBudgets = 15;

// Whether the construct is a graph of operations (bench/common/decode_graph.hpp).
constexpr bool is_decode(std::string_view construct) {
  return construct == kDecode || construct == kDecodeRegions;
}

// Whether the construct is a whole parallel region.
constexpr bool is_region(std::string_view construct) {
  return construct == "parallel" || construct == "reduction" || construct == "parallel-for";
}

}  // namespace hierbar::bench::omp
