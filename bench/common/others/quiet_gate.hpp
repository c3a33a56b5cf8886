// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

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

}  // namespace hierbar::bench
