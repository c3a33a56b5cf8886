// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>

#include "base/bound_thread.hpp"
#include "placement/evidence/cpu_pool.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "tests/support/surroundings.hpp"

namespace hierbar {
namespace {

// What `say` returns in a child process, which may bind itself and join control groups.
std::string in_child(const std::function<std::string()>& say) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = say();
    const bool is_written =
        write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(is_written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return "the child failed";
  return text;
}

std::string text_of(const Result<CpuSet>& cpus) { return cpus ? cpus->to_string() : cpus.error(); }

TEST(KernelCpus, ProbingSeesPastTheMaskAndLeavesIt) {
  const CpuSet allowed = *probe_kernel_cpus();
  ASSERT_FALSE(allowed.empty());
  const std::uint32_t last = static_cast<std::uint32_t>(allowed.last());
  const std::string seen = in_child([&] {
    if (!bind_this_thread(last)) return std::string("cannot bind");
    return text_of(probe_kernel_cpus()) + " and " + text_of(own_cpus());
  });
  EXPECT_EQ(seen, allowed.to_string() + " and " + std::to_string(last));
}

TEST(KernelCpus, AllowedOnesAreOnline) {
  EXPECT_TRUE(probe_kernel_cpus()->is_subset_of(online_cpus()));
}

TEST(KernelCpus, OnlineOnesAreEmptyWhereTheyCannotBeRead) {
  EXPECT_TRUE(online_cpus("/nonexistent").empty());
}

// A job bound by taskset, without a launcher: the pool is what the ranks were given.
TEST(KernelCpus, PoolOfABoundJobIsItsMask) {
  const std::uint32_t first = static_cast<std::uint32_t>(probe_kernel_cpus()->first());
  const std::string seen = in_child([&] {
    if (!bind_this_thread(first)) return std::string("cannot bind");
    PoolEvidence evidence = *read_pool_evidence(test::environment_of({}), {});
    evidence.online.set(evidence.online.last() + 1);  // or else a machine of one cpu is not cut out
    evidence.kernel = evidence.online;
    evidence.ranks = *own_cpus();
    const Result<CpuPool> pool = choose_pool(evidence, PoolChoice::kAuto);
    return pool ? std::string(pool_choice_name(pool->source)) + " " + pool->cpus.to_string()
                : pool.error();
  });
  EXPECT_EQ(seen, "union " + std::to_string(first));
}

// A control group at the top of a controller's hierarchy, version 1 or 2, if this process may make
// one that has the named file.
class Group {
 public:
  Group(const std::string& controller, const std::string& file_1, const std::string& file_2) {
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line) && directory_.empty();) {
      std::string mount_point;
      std::istringstream fields(line);
      for (int i = 0; i < 5; ++i) fields >> mount_point;
      const std::string options = "," + line.substr(line.rfind(' ') + 1) + ",";
      if (line.find(" - cgroup2 ") != std::string::npos) {
        try_in(mount_point, file_2);
      } else if (line.find(" - cgroup ") != std::string::npos &&
                 options.find("," + controller + ",") != std::string::npos) {
        try_in(mount_point, file_1);
      }
    }
  }
  ~Group() {
    if (!directory_.empty()) rmdir(directory_.c_str());
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  bool exists() const { return !directory_.empty(); }

  bool set(const std::string& file, const std::string& value) const {
    std::ofstream stream(directory_ + "/" + file);
    stream << value << std::flush;
    return stream.good();
  }
  bool has(const std::string& file) const {
    return access((directory_ + "/" + file).c_str(), W_OK) == 0;
  }
  std::string get_from_parent(const std::string& file) const {
    std::ifstream stream(directory_ + "/../" + file);
    std::string value;
    stream >> value;
    return value;
  }
  bool join() const { return set("cgroup.procs", "0"); }

 private:
  void try_in(const std::string& mount_point, const std::string& file) {
    const std::string directory = mount_point + "/hierbar_test_" + std::to_string(getpid());
    std::error_code error;
    if (!std::filesystem::create_directory(directory, error)) return;
    if (access((directory + "/" + file).c_str(), W_OK) == 0) {
      directory_ = directory;
    } else {
      rmdir(directory.c_str());
    }
  }

  std::string directory_;
};

// Two cores of two cpus each.
TEST(ShareCores, IsToldByTheKernelsListsOfSiblings) {
  const test::TemporaryDirectory sys;
  const auto write = [&](const std::string& file, const std::string& text) {
    const std::filesystem::path path = sys / ("devices/system/cpu/" + file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  };
  EXPECT_FALSE(share_cores(CpuSet::range(0, 3), sys.path())) << "nothing is known";
  for (int cpu = 0; cpu < 4; ++cpu) {
    write("cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          cpu % 2 == 0 ? "0,2" : "1,3");
  }
  EXPECT_TRUE(share_cores(CpuSet::range(0, 3), sys.path()));
  EXPECT_TRUE(share_cores(*CpuSet::parse("0,1,3"), sys.path()));
  EXPECT_FALSE(share_cores(CpuSet::range(0, 1), sys.path())) << "one cpu of each core";
  write("smt/active", "1");
  EXPECT_TRUE(share_cores(CpuSet::range(0, 3), sys.path()));
  write("smt/active", "0");
  EXPECT_FALSE(share_cores(CpuSet::range(0, 3), sys.path()));
}

TEST(KernelCpus, AreThoseOfTheCpuset) {
  const Group group("cpuset", "cpuset.cpus", "cpuset.cpus");
  if (!group.exists()) GTEST_SKIP() << "no cpuset control group can be made here (needs root)";
  const std::string last = std::to_string(probe_kernel_cpus()->last());
  if (!group.set("cpuset.cpus", last)) GTEST_SKIP() << "a cpuset control group takes no cpus here";
  if (group.has("cpuset.mems")) group.set("cpuset.mems", group.get_from_parent("cpuset.mems"));
  const std::string seen = in_child([&] {
    if (!group.join()) return std::string("cannot join");
    const PoolEvidence evidence = *read_pool_evidence(test::environment_of({}), {});
    std::string text = evidence.kernel.to_string();
    if (const Result<CpuPool> pool = choose_pool(evidence, PoolChoice::kCpuset))
      text += ", pool " + pool->cpus.to_string();
    return text;
  });
  if (seen == "cannot join") GTEST_SKIP() << "a cpuset control group cannot be joined here";
  EXPECT_EQ(seen, last + ", pool " + last);
}

TEST(LiveCpuQuota, IsReadFromALiveControlGroup) {
  const Group group("cpu", "cpu.cfs_quota_us", "cpu.max");
  if (!group.exists()) GTEST_SKIP() << "no cpu control group can be made here (needs root)";
  const bool is_set = group.has("cpu.max") ? group.set("cpu.max", "150000 100000")
                                           : group.set("cpu.cfs_quota_us", "150000");
  if (!is_set) GTEST_SKIP() << "a cpu control group takes no quota here";
  const std::string seen = in_child([&] {
    if (!group.join()) return std::string("cannot join");
    return std::to_string(read_cpu_quota().value_or(0));
  });
  if (seen == "cannot join") GTEST_SKIP() << "a cpu control group cannot be joined here";
  const std::optional<std::uint32_t> around = read_cpu_quota();
  EXPECT_EQ(seen, std::to_string(std::min<std::uint32_t>(2, around.value_or(2))));
}

// A /proc and control groups in files. The lines of mountinfo and cgroup are those of the named
// systems, shortened.
class CpuQuota : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            (std::string("hierbar_quota_") +
             testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(
        (root_.string() + path).substr(0, (root_.string() + path).rfind('/')));
    std::ofstream(root_.string() + path) << text;
  }

  // Systemd with version 2 only.
  void make_version_2(const std::string& group, const std::string& mounted_group = "/") {
    write("/proc/self/mountinfo",
          "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n29 23 0:26 " + mounted_group +
              " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    write("/proc/self/cgroup", "0::" + group + "\n");
  }

  // Version 1, two controllers in one hierarchy.
  void make_version_1(const std::string& group, const std::string& mounted_group = "/") {
    write("/proc/self/mountinfo",
          "31 23 0:28 " + mounted_group +
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

// There is no list of mounts to read.
TEST_F(CpuQuota, IsFoundInTheUsualPlaceOfVersion2) {
  write("/proc/self/cgroup", "0::/job/step\n");
  write("/sys/fs/cgroup/job/step/cgroup.controllers", "cpu\n");
  write("/sys/fs/cgroup/job/cpu.max", "500000 100000\n");
  EXPECT_EQ(quota(), 5U);
}

TEST_F(CpuQuota, IsFoundInTheUsualPlaceOfVersion1) {
  write("/proc/self/cgroup", "4:cpu,cpuacct:/job\n");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
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
