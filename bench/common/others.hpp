// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/load_meter.hpp"

namespace hierbar::bench {

// Lets a benchmark wait for a moment in which others leave the machine alone. All waits together
// take no longer than the limit, so that a machine that is never quiet delays a run once.
class QuietGate {
 public:
  using Say = std::function<void(const std::string& line)>;

  explicit QuietGate(double limit_s) : limit_s_(limit_s) {}

  // Waits while others take more than kDisturbed of the cpus' time, which it looks at while this
  // process does nothing. `say` gets a line for each look.
  void wait(const Say& say);

  double waited_s() const { return waited_s_; }

 private:
  const double limit_s_;
  double waited_s_ = 0;
};

// While it lives, this process and those that it starts run on the first two of `cpus`, and another
// process computes on the second of these, as a stranger's program would. Needs two cpus. It does
// nothing if the kernel refuses; is_there() tells.
class BusyNeighbour {
 public:
  explicit BusyNeighbour(const std::vector<int>& cpus);
  ~BusyNeighbour();
  BusyNeighbour(const BusyNeighbour&) = delete;
  BusyNeighbour& operator=(const BusyNeighbour&) = delete;

  bool is_there() const { return child_ > 0; }

 private:
  cpu_set_t before_{};
  pid_t child_ = -1;
};

}  // namespace hierbar::bench
