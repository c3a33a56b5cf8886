// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/others/busy_neighbour.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace hierbar::bench {
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
