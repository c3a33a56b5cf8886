// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/clock_offset.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include <filesystem>
#include <fstream>

namespace hierbar {
namespace {

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
  const std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) / "clock_offset_test";
};

TEST(ClockOffset, LooksAtOneCpuOfEachPackage) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "needs two cpus";
  EXPECT_THAT(first_cpus_of_packages(Sysfs({{cpus[0], 1}, {cpus[1], 0}}).path()), testing::ElementsAre(cpus[1], cpus[0]));
  EXPECT_THAT(first_cpus_of_packages(Sysfs({{cpus[0], 4}, {cpus[1], 4}}).path()), testing::ElementsAre(cpus[0]));
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

TEST(ClockOffset, OfUnknownPackagesIsAProblem) { EXPECT_NE(measure_clock_offset(TraceClock::system(), {}).problem, ""); }

TEST(ClockOffset, GivesUpOnACpuThatIsNotThere) {
  const ClockOffset offset = measure_clock_offset(TraceClock::system(), {allowed_cpus().front(), 8000});
  EXPECT_THAT(offset.problem, testing::HasSubstr("8000"));
}

}  // namespace
}  // namespace hierbar
