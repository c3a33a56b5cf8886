// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar {

// How much of the machine's time others used during a measurement. It explains a wide spread.
struct Disturbance {
  double others = 0;  // share of all online cpus' time that other processes used; -1 if unknown
  double steal = 0;   // share that the hypervisor gave to other machines; -1 if unknown

  double share() const { return others < 0 ? 0 : others + steal; }  // 0 if unknown
};

// The share of the cpus' time from which on a machine is not quiet.
inline constexpr double kDisturbed = 0.05;
// The same of a part of a run. In its short time the kernel's ticks of 10 ms count coarsely.
inline constexpr double kPartDisturbed = 0.1;

// Counts from its construction on. Children of this process that have been waited for are not
// others.
class LoadMeter {
 public:
  LoadMeter() : start_(read()) {}

  [[nodiscard]] Disturbance since_start() const;

  // The share that others and the hypervisor took of a part of a run; 0 if that is not known, or
  // if too little time has passed for the kernel's ticks to tell.
  [[nodiscard]] double share_of_part() const;

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

}  // namespace hierbar
