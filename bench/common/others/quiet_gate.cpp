// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/others/quiet_gate.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "bench/common/others/load.hpp"

namespace hierbar::bench {
namespace {

// Of one look: 30 of the kernel's ticks on each cpu.
constexpr double kLookS = 0.3;

}  // namespace

void QuietGate::wait(const Say& say) {
  while (waited_s_ + kLookS <= limit_s_) {
    const LoadMeter meter;
    std::this_thread::sleep_for(std::chrono::duration<double>(kLookS));
    waited_s_ += kLookS;
    const double share = meter.since_start().share();
    if (share <= kDisturbed) return;
    say(fmt::format("waiting for a quieter machine, {:.0f} of at most {:.0f} s: others take {:.0f} % of the cpus", waited_s_,
                    limit_s_, 100 * share));
  }
}

}  // namespace hierbar::bench
