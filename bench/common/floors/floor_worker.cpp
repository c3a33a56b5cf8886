// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures physical floors, and prints them as JSON. It is a process of its own, as each measured
// configuration is.
//
//   floor_worker one-way  <budget ms> <cpu> <cpu>
//   floor_worker exchange <budget ms> <cpu> <cpu>...
//   floor_worker pool     <budget ms> <cpu> <cpu>...
//   floor_worker yield    <budget ms> <participants> [<cpu>...]
//   floor_worker decode   <budget ms> <operations> <seed> <work ms> <cpu> <cpu>...
//
// Only the benchmark drivers start it. With other arguments it exits with 2.

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "bench/common/floors/floors.hpp"
#include "bench/common/floors/spin_decode.hpp"

namespace {

using namespace hierbar::bench;

int print(const FloorSamples& samples) {
  std::puts(nlohmann::json(samples).dump().c_str());
  return 0;
}

int decode(int argc, char** argv, std::chrono::nanoseconds budget) {
  constexpr int kFirstCpu = 6;
  const DecodeGraph graph{std::atoi(argv[3]), std::strtoull(argv[4], nullptr, 10),
                          std::atof(argv[5])};
  std::vector<int> cpus;
  for (int i = kFirstCpu; i < argc; ++i) cpus.push_back(std::atoi(argv[i]));
  const DecodeSamples samples = measure_spin_decode(cpus, budget, graph);
  return print({{"spin", samples.graph}, {"work", samples.ideal}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 4) {
    const std::string_view what = argv[1];
    const std::chrono::nanoseconds budget(static_cast<long long>(std::atof(argv[2]) * 1e6));
    if (what == "decode" && argc >= 8) return decode(argc, argv, budget);
    std::vector<int> numbers;
    for (int i = 3; i < argc; ++i) numbers.push_back(std::atoi(argv[i]));
    const std::vector<int> rest(numbers.begin() + 1, numbers.end());
    if (what == "one-way" && numbers.size() == 2)
      return print(measure_one_way(numbers[0], numbers[1], budget));
    if (what == "exchange" && numbers.size() >= 2) return print(measure_exchange(numbers, budget));
    if (what == "pool" && numbers.size() >= 2) return print(measure_pool(numbers, budget));
    if (what == "yield" && numbers[0] >= 2)
      return print(measure_yield_exchange(numbers[0], rest, budget));
  }
  std::fputs("floor_worker: started by the benchmarks of hierbar, not by hand\n", stderr);
  return 2;
}
