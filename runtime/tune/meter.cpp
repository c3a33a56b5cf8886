// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/meter.hpp"

#include "barrier/pause.hpp"
#include "tune/crossing_team.hpp"

namespace hierbar {
namespace {

class ThreadTeamMeter : public TeamMeter {
 public:
  ThreadTeamMeter(const std::vector<std::uint32_t>& cpus, std::vector<Contestant> contestants)
      : team_(cpus, std::move(contestants)) {}
  double period_ns(std::size_t plan) override { return team_.period_ns(plan); }

 private:
  CrossingTeam team_;
};

class ThreadMeter : public Meter {
 public:
  double pause_ns() override { return measure_pause_ns(); }
  OneWay one_way(std::uint32_t cpu, std::uint32_t other_cpu) override { return measure_one_way(cpu, other_cpu); }
  std::unique_ptr<TeamMeter> team(const std::vector<std::uint32_t>& cpus, const std::vector<EnginePlan>& plans) override {
    std::vector<Contestant> contestants;
    for (const EnginePlan& plan : plans) contestants.push_back({Algorithm::kHier, plan});
    return std::make_unique<ThreadTeamMeter>(cpus, std::move(contestants));
  }
};

}  // namespace

std::unique_ptr<Meter> make_thread_meter() { return std::make_unique<ThreadMeter>(); }

}  // namespace hierbar
