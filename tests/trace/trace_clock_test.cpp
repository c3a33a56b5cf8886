// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>

#include "trace/trace_clock.hpp"

namespace hierbar {
namespace {

TEST(TraceClock, KnowsWhatATickIsWorth) {
  const TraceClock clock = TraceClock::measure();
  EXPECT_EQ(clock.to_ns(0), 0U);
  EXPECT_GT(clock.ns_per_tick(), 0);
  EXPECT_NEAR(static_cast<double>(clock.to_ns(1'000'000'000)), clock.ns_per_tick() * 1e9, 1e3);
  EXPECT_EQ(TraceClock::system().to_ns(12345), 12345U);
}

// A machine that stops this thread between two readings makes one attempt worthless, not all of
// them.
TEST(TraceClock, AgreesWithTheSystemsClock) {
  const TraceClock clock = TraceClock::measure();
  double best = 1;
  for (int attempt = 0; attempt < 20 && best > 0.01; ++attempt) {
    const std::uint64_t ticks = clock.now(), start = read_system_ns();
    while (read_system_ns() - start < 1'000'000) {
    }
    const auto by_clock = static_cast<double>(clock.to_ns(clock.now() - ticks));
    const auto by_system = static_cast<double>(read_system_ns() - start);
    best = std::min(best, std::abs(by_clock / by_system - 1));
  }
  EXPECT_LT(best, 0.01) << clock.name();
}

TEST(TraceClock, NeverGoesBackwardsInOneThreadAndKnowsItsCost) {
  const TraceClock clock = TraceClock::measure();
  std::uint64_t last = clock.now();
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(clock.resolution_ns(), 0);
  EXPECT_GT(clock.stamp_ns(), 0);
  EXPECT_FALSE(clock.name().empty());
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// A kernel that says which package each cpu is in.
class Sysfs {
 public:
  explicit Sysfs(const std::vector<std::pair<int, int>>& packages) {
    for (const auto& [cpu, package] : packages) {
      const std::filesystem::path directory = path_ / ("cpu" + std::to_string(cpu)) / "topology";
      std::filesystem::create_directories(directory);
      std::ofstream(directory / "physical_package_id") << package << "\n";
    }
  }
  ~Sysfs() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_; }

 private:
  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / "clock_offset_test";
};

TEST(ClockOffset, LooksAtOneCpuOfEachPackage) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "needs two cpus";
  EXPECT_THAT(first_cpus_of_packages(Sysfs({{cpus[0], 1}, {cpus[1], 0}}).path()),
              testing::ElementsAre(cpus[1], cpus[0]));
  EXPECT_THAT(first_cpus_of_packages(Sysfs({{cpus[0], 4}, {cpus[1], 4}}).path()),
              testing::ElementsAre(cpus[0]));
  EXPECT_THAT(first_cpus_of_packages("/no/such/directory"), testing::IsEmpty());
}

TEST(ClockOffset, OfOnePackageIsNotMeasured) {
  const ClockOffset offset = measure_clock_offset(TraceClock::system(), {0});
  EXPECT_EQ(offset.num_packages, 1U);
  EXPECT_EQ(offset.error_ns, 0);
  EXPECT_EQ(offset.problem, "");
}

// The system's clock is one for all cpus, so what is found must be within the error that is told.
TEST(ClockOffset, OfOneClockIsNothingButItsError) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "needs two cpus";
  ClockOffset offset;
  for (int attempt = 0; attempt < 50; ++attempt) {  // others may have the cpus
    offset = measure_clock_offset(TraceClock::system(), {cpus[0], cpus[1]});
    if (offset.problem.empty()) break;
  }
  if (!offset.problem.empty()) GTEST_SKIP() << offset.problem;
  EXPECT_EQ(offset.num_packages, 2U);
  EXPECT_GT(offset.error_ns, 0);
  EXPECT_LE(offset.offset_ns, offset.error_ns + 1);
}

TEST(ClockOffset, OfUnknownPackagesIsAProblem) {
  EXPECT_NE(measure_clock_offset(TraceClock::system(), {}).problem, "");
}

TEST(ClockOffset, GivesUpOnACpuThatIsNotThere) {
  const ClockOffset offset =
      measure_clock_offset(TraceClock::system(), {allowed_cpus().front(), 8000});
  EXPECT_THAT(offset.problem, testing::HasSubstr("8000"));
}

}  // namespace
}  // namespace hierbar
