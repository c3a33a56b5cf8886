// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/load_meter.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/clock.hpp"

namespace hierbar {
namespace {

double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
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

}  // namespace hierbar
