// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/others.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace hierbar::bench {
namespace {

double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

LoadMeter::Times LoadMeter::read() {
  // The first line: "cpu", then ticks of user, nice, system, idle, iowait, irq, softirq, steal.
  std::ifstream file("/proc/stat");
  std::string label;
  double user = 0;
  double nice = 0;
  double system = 0;
  double idle = 0;
  double iowait = 0;
  double irq = 0;
  double softirq = 0;
  double steal = 0;
  if (!(file >> label >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal))
    return {};
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const double busy = user + nice + system + irq + softirq;
  return {(busy + idle + iowait + steal) * tick_s, busy * tick_s, steal * tick_s,
          cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN)};
}

double LoadMeter::share_of_part() const {
  constexpr double kFewestCpuSeconds = 0.5;
  return read().total - start_.total < kFewestCpuSeconds ? 0 : since_start().share();
}

Disturbance LoadMeter::since_start() const {
  const Times now = read();
  const double total = now.total - start_.total;
  if (start_.total < 0 || now.total < 0 || total <= 0) return {-1, -1};
  const double others = (now.busy - start_.busy) - (now.own - start_.own);
  return {std::max(0.0, others / total), std::max(0.0, (now.steal - start_.steal) / total)};
}

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
