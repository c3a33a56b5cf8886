// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/decode_graph.hpp"
#include "bench/common/floors/floors.hpp"
#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"

namespace hierbar::bench {

// Measures the floors between other measurements, each in a process of its own. If that fails, it
// says so on stderr, once.
class FloorRunner {
 public:
  // `program` is the name in messages, and `worker` is the path of floor_worker. `host` must live
  // longer than this object.
  FloorRunner(std::string program, std::filesystem::path worker, const Host& host,
              std::chrono::milliseconds timeout)
      : program_(std::move(program)), worker_(std::move(worker)), host_(host), timeout_(timeout) {}

  // Adds to `group` the exchange that is a lower limit for the period of the group's barrier.
  void measure_exchange(Group& group, int repetition, double budget_ms);

  // Adds to `group` the hand-made pool that is a lower limit for a parallel region, if each
  // participant has a cpu.
  void measure_pool(Group& group, int repetition, double budget_ms);

  // Adds to `group` the same graph with a spin barrier after each operation, as a peer; and as the
  // floor its work alone. Only if each participant has a cpu, because such a barrier never yields.
  void measure_decode(Group& group, int repetition, double budget_ms, const DecodeGraph& graph);

  // The time in ns in which a line travels one way, between the first and the last cpu that
  // `num_cpus` participants use. Nothing if there is only one cpu.
  [[nodiscard]] std::optional<double> measure_one_way(int num_cpus);

 private:
  void add(Group& group, int repetition, std::vector<std::string> command);
  FloorSamples run(std::vector<std::string> command);
  void append_cpus(std::vector<std::string>& command, int count) const;

  const std::string program_;
  const std::filesystem::path worker_;
  const Host& host_;
  const std::chrono::milliseconds timeout_;
  bool failure_said_ = false;
};

}  // namespace hierbar::bench
