// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/cpu_quota.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace hierbar {
namespace {

// A /proc and control groups in files. The lines of mountinfo and cgroup are those of the named
// systems, shortened.
class CpuQuota : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            (std::string("hierbar_quota_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_.string() + path).substr(0, (root_.string() + path).rfind('/')));
    std::ofstream(root_.string() + path) << text;
  }

  // Systemd with version 2 only.
  void make_version_2(const std::string& group, const std::string& mounted_group = "/") {
    write("/proc/self/mountinfo", "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n29 23 0:26 " + mounted_group +
                                      " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    write("/proc/self/cgroup", "0::" + group + "\n");
  }

  // Version 1, two controllers in one hierarchy.
  void make_version_1(const std::string& group, const std::string& mounted_group = "/") {
    write("/proc/self/mountinfo", "31 23 0:28 " + mounted_group +
                                      " /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
                                      "32 23 0:29 / /sys/fs/cgroup/cpuset rw shared:10 - cgroup cgroup rw,cpuset\n");
    write("/proc/self/cgroup", "5:cpuset:/elsewhere\n4:cpu,cpuacct:" + group + "\n");
  }

  std::optional<std::uint32_t> quota() { return read_cpu_quota(root_.string()); }

  std::filesystem::path root_;
};

TEST_F(CpuQuota, RoundsUpToWholeCpus) {
  make_version_2("/job");
  write("/sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 3U);
  write("/sys/fs/cgroup/job/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2U);
  write("/sys/fs/cgroup/job/cpu.max", "1000 100000\n");
  EXPECT_EQ(quota(), 1U);
}

TEST_F(CpuQuota, IsTheSmallestOnTheWayToTheRoot) {
  make_version_2("/system.slice/job_7/step_0");
  write("/sys/fs/cgroup/system.slice/job_7/step_0/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/system.slice/job_7/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/system.slice/cpu.max", "1600000 100000\n");
  EXPECT_EQ(quota(), 4U);
}

TEST_F(CpuQuota, FindsVersion1BesideOtherControllers) {
  make_version_1("/job");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 2U);
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(CpuQuota, FindsAContainersGroupWhereItIsMounted) {
  make_version_1("/docker/1a2b", "/docker/1a2b");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3U);
  make_version_1("/docker/1a2b/inner", "/docker/1a2b");
  EXPECT_EQ(quota(), 3U);
  make_version_1("/docker/other", "/docker/1a2b");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(CpuQuota, IsNoneWhereThereIsNone) {
  EXPECT_EQ(quota(), std::nullopt);
  make_version_2("/");
  EXPECT_EQ(quota(), std::nullopt);
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("/sys/fs/cgroup/cpu.max", "garbage\n");
  EXPECT_EQ(quota(), std::nullopt);
}

}  // namespace
}  // namespace hierbar
