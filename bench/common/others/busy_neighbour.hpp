// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

namespace hierbar::bench {

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
