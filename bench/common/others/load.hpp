// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::bench {

// How much of the machine's time others used during a measurement. It explains a wide spread.
struct Disturbance {
  double others = 0;  // share of all online cpus' time that other processes used; -1 if unknown
  double steal = 0;   // share that the hypervisor gave to other machines; -1 if unknown
};

// Counts from its construction on. Children of this process that have been waited for are not
// others.
class LoadMeter {
 public:
  LoadMeter() : start_(read()) {}

  [[nodiscard]] Disturbance since_start() const;

 private:
  struct Times {        // seconds, summed over all cpus
    double total = -1;  // -1 if the kernel does not say
    double busy = 0;
    double steal = 0;
    double own = 0;  // this process and its children
  };
  static Times read();

  Times start_;
};

}  // namespace hierbar::bench
