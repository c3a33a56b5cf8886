// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/process.hpp"
#include "placement/evidence/kernel_cpus.hpp"

namespace hierbar {
namespace {

// A /proc in files.
class FakeProc : public testing::Test {
 protected:
  void SetUp() override {
    proc_ = testing::TempDir() + "hierbar_proc_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(proc_);
  }
  void TearDown() override { std::filesystem::remove_all(proc_); }

  void add(int pid, const std::string& name, int parent, const std::string& cpus = "0-3") {
    const std::string directory = proc_ + "/" + std::to_string(pid);
    std::filesystem::create_directories(directory);
    std::ofstream(directory + "/stat")
        << pid << " (" << name << ") S " << parent
        << " 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 " << 1000 + pid << " 23 24\n";
    std::ofstream(directory + "/status")
        << "Name:\t" << name << "\nUid:\t1000\t1001\t1002\t1003\nCpus_allowed:\tf\n"
        << "Cpus_allowed_list:\t" << cpus << "\n";
  }

  std::string proc_;
};

TEST_F(FakeProc, ProcessesAreReadWhateverTheirName) {
  for (const char* name : {"prted", "a b", "x) S 1 (y", ")"}) {
    add(42, name, 7, "0-1,1030");
    const std::optional<Process> process = read_process(42, proc_);
    ASSERT_TRUE(process) << name;
    EXPECT_EQ(process->name, name);
    EXPECT_EQ(process->pid, 42);
    EXPECT_EQ(process->parent, 7);
    EXPECT_EQ(process->start_ticks, 1042U);
    EXPECT_EQ(process->user, 1001U);
    EXPECT_EQ(process->cpus.to_string(), "0-1,1030");
  }
}

TEST_F(FakeProc, WhatCannotBeReadIsNoProcess) {
  EXPECT_FALSE(read_process(42, proc_));
  add(42, "sh", 7);
  std::ofstream(proc_ + "/42/stat") << "42 (sh) S";
  EXPECT_FALSE(read_process(42, proc_));
  add(42, "sh", 7, "0-x");
  EXPECT_FALSE(read_process(42, proc_));
}

TEST_F(FakeProc, AncestorsEndWhereTheyAreHidden) {
  add(getppid(), "sh", 100000001);
  add(100000001, "hydra_pmi_proxy", 100000002);
  const std::vector<Process> ancestors = read_ancestors(proc_);
  ASSERT_EQ(ancestors.size(), 2U);
  EXPECT_EQ(ancestors[0].pid, getppid());
  EXPECT_EQ(ancestors[1].name, "hydra_pmi_proxy");
}

TEST_F(FakeProc, AncestorsInACircleEnd) {
  add(getppid(), "sh", 100000001);
  add(100000001, "sh", getppid());
  EXPECT_LE(read_ancestors(proc_).size(), 1000U);
}

TEST(Process, ThisOneIsReadFromTheRealProc) {
  const std::optional<Process> self = read_process(getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, getppid());
  EXPECT_EQ(self->user, geteuid());
  EXPECT_GT(self->start_ticks, 0U);
  EXPECT_TRUE(own_cpus()->is_subset_of(self->cpus));
  EXPECT_EQ(read_boot_id().size(), 36U);
}

}  // namespace
}  // namespace hierbar
