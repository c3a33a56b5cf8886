// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "network/contention/contention_table.hpp"

namespace hierbar::network {

// What `hierbar tune --network --contention` asks of its worker (mpi/tune/contention_worker.cpp),
// and how the worker's lines begin. Launchers pass on what ranks print, among lines of their own.
// channel bytes pairs q1 median q3
inline constexpr const char* kCellLine = "hierbar-contention-cell: ";
inline constexpr const char* kLeftOutLine = "hierbar-contention-left-out: ";
inline constexpr const char* kContentionRefusalLine = "hierbar-contention-refusal: ";
inline constexpr const char* kContentionEndLine = "hierbar-contention-end";

// P3's sizes begin at 4 MB; libraries change their ways below.
inline const std::vector<std::uint64_t> kMeasuredSizes{1U << 10, 1U << 12, 1U << 14, 1U << 16, 1U << 18,
                                                       1U << 20, 1U << 22, 1U << 24, 1U << 26, 1U << 27};

// Pairs of cpus whose messages go over one channel. None: between nodes.
struct WorkerChannel {
  std::string name;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cpu_pairs;
  friend bool operator==(const WorkerChannel&, const WorkerChannel&) = default;
};

struct WorkerPlan {
  double time_limit_s = 60;
  std::uint32_t most_pairs = 4;
  bool oversubscribed = false;
  std::vector<std::uint64_t> sizes = kMeasuredSizes;  // ascending
  std::vector<WorkerChannel> channels;
  friend bool operator==(const WorkerPlan&, const WorkerPlan&) = default;
};

// The worker's arguments, and back. Errors: an argument is not understood.
std::vector<std::string> worker_arguments(const WorkerPlan& plan);
Result<WorkerPlan> read_worker_plan(const std::vector<std::string>& arguments);

// Puts the cell of such a line, without its beginning, into its table. Errors: it is no cell.
Result<bool> put_cell_line(const std::string& line, Contention& contention);

}  // namespace hierbar::network
