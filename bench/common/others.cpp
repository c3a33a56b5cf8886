// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/others.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "bench/common/stop_requests.hpp"

namespace hierbar::bench {
namespace {

// Of one look: 30 of the kernel's ticks on each cpu.
constexpr double kLookS = 0.3;

}  // namespace

void QuietGate::wait(const Say& say) {
  while (waited_s_ + kLookS <= limit_s_ && stop_request() == 0) {
    const LoadMeter meter;
    std::this_thread::sleep_for(std::chrono::duration<double>(kLookS));
    waited_s_ += kLookS;
    const double share = meter.since_start().share();
    if (share <= kDisturbed) return;
    say(
        fmt::format("waiting for a quieter machine, {:.0f} of at most {:.0f} s: others take {:.0f} "
                    "% of the cpus",
                    waited_s_, limit_s_, 100 * share));
  }
}

namespace {

// The longest that it computes, if nobody ends it.
constexpr unsigned kLimitS = 600;

[[noreturn]] void compute(const cpu_set_t& cpu) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(kLimitS);
  sched_setaffinity(0, sizeof cpu, &cpu);
  for (unsigned long i = 0;; ++i) asm volatile("" : "+r"(i));
}

}  // namespace

BusyNeighbour::BusyNeighbour(const std::vector<int>& cpus) {
  if (cpus.size() < 2 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t both{};
  CPU_SET(static_cast<unsigned>(cpus[0]), &both);
  CPU_SET(static_cast<unsigned>(cpus[1]), &both);
  cpu_set_t second{};
  CPU_SET(static_cast<unsigned>(cpus[1]), &second);
  if (sched_setaffinity(0, sizeof both, &both) != 0) return;
  child_ = fork();
  if (child_ == 0) compute(second);
  if (child_ < 0) sched_setaffinity(0, sizeof before_, &before_);
}

BusyNeighbour::~BusyNeighbour() {
  if (!is_there()) return;
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
  sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace hierbar::bench
