// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "barrier/algorithm.hpp"
#include "base/quartiles.hpp"
#include "base/result.hpp"
#include "bench/model/machine/pair_simulator.hpp"
#include "plan/shape.hpp"
#include "tune/ping_pong.hpp"

namespace hierbar::bench::model {

// A barrier of two threads, to be predicted and measured.
struct HostCase {
  std::string_view name;
  Algorithm algorithm;
  std::uint32_t num_leaders;
};
inline constexpr std::array<HostCase, 3> kHostCases = {{
    {"exchange", Algorithm::kHier, 2},                   // both words in one line
    {"central counter", Algorithm::kSenseReversing, 2},  // with a sense
    {"gather/release", Algorithm::kHier, 1},             // one leader, one child
}};
EnginePlan host_plan(const HostCase& host_case);

// The model's prediction for barriers back to back.
struct HostPrediction {
  double period_ns;
  // Transactions in one barrier. An exchange has 3 if the loops are in step.
  double num_transfers;
};
Result<HostPrediction> predict(const HostCase& host_case, const PairCosts& costs);

// One case, predicted and measured.
struct HostRow {
  HostPrediction predicted;
  Quartiles measured_ns;
  Quartiles error_percent;  // of each round's prediction, which is made from its own ping-pong
};

struct HostReport {
  CpuPair cpus;
  Quartiles one_way_ns;
  double pause_ns;
  double poll_spacing_ns;
  std::array<HostRow, kHostCases.size()> rows;
};

// A one-way time and the length of a pause from elsewhere. They hold for all rounds.
struct KnownPair {
  double one_way_ns;
  double pause_ns;
};

// Ping-pong and barriers take turns, because the cpus of a virtual machine move. Errors: those of
// predict(). Throws what the threads' meter throws.
Result<HostReport> compare_on_host(CpuPair cpus, const KnownPair* known, int num_rounds);

}  // namespace hierbar::bench::model
