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

// What `hierbar tune --between-nodes` and its workers (mpi/tools) tell each other. Launchers pass
// on what ranks print, among lines of their own, so the lines of a worker have beginnings of their
// own.

// The lines of rank 0 of the worker that measures messages.
inline constexpr const char* kProgressLine =
    "hierbar-network-progress: ";                                         // "0.25 what is measured"
inline constexpr const char* kRefusalLine = "hierbar-network-refusal: ";  // why there is nothing
inline constexpr const char* kNetworkLine = "hierbar-network: ";          // a file of one network

// The lines of the worker that measures shared channels (--contention).
inline constexpr const char* kCellLine =
    "hierbar-contention-cell: ";  // channel bytes pairs q1 median q3
inline constexpr const char* kLeftOutLine = "hierbar-contention-left-out: ";
inline constexpr const char* kContentionRefusalLine = "hierbar-contention-refusal: ";
inline constexpr const char* kContentionEndLine = "hierbar-contention-end";

// P3's sizes begin at 4 MB; libraries change their ways below.
inline const std::vector<std::uint64_t> kMeasuredSizes{1U << 10, 1U << 12, 1U << 14, 1U << 16,
                                                       1U << 18, 1U << 20, 1U << 22, 1U << 24,
                                                       1U << 26, 1U << 27};

// Pairs of cpus whose messages go over one channel. None: between nodes.
struct WorkerChannel {
  std::string name;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cpu_pairs;
  friend bool operator==(const WorkerChannel&, const WorkerChannel&) = default;
};

// What the worker of shared channels is asked to measure.
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
