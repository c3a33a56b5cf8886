// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/memory_binding.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "topology/load.hpp"
#include "topology/machine.hpp"

namespace hierbar {
namespace {

constexpr int kNotBound = 1;
constexpr int kRefused = 2;
constexpr int kMpolBind = 2;  // of <linux/mempolicy.h>

// In a child, whose memory may be bound for good: 0, or what is wrong.
int bind_in_child(const MemoryBinding& memory, const CpuSet& nodes) {
  const pid_t child = fork();
  if (child == 0) {
    if (!memory.bind_this_thread(nodes).empty()) _exit(kRefused);
    int policy = -1;
    const long result = syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0);
    _exit(result == 0 && policy == kMpolBind ? 0 : kNotBound);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(MemoryBinding, BindsTheCallingThreadStrictly) {
  const Result<MemoryBinding> memory = MemoryBinding::load();
  ASSERT_TRUE(memory.ok()) << memory.error();
  const Result<Machine> machine = load_live_machine();
  ASSERT_TRUE(machine.ok()) << machine.error();
  const CpuSet nodes = memory->nodes_near(machine->allowed);
  EXPECT_FALSE(nodes.empty());
  EXPECT_TRUE(nodes.is_subset_of(memory->all_nodes()));
  EXPECT_TRUE(memory->nodes_near(CpuSet()).empty());
  const int result = bind_in_child(*memory, nodes);
  if (result == kRefused) GTEST_SKIP() << "this kernel does not bind memory";
  EXPECT_EQ(result, 0);
}

TEST(MemoryBinding, SaysWhyItCannotBind) {
  const MemoryBinding memory = *MemoryBinding::load();
  CpuSet absent;
  absent.set(static_cast<std::uint32_t>(memory.all_nodes().last()) + 1);
  EXPECT_NE(memory.bind_this_thread(absent), "");
}

TEST(MemoryBinding, RefusesTheMemoryOfAnotherMachine) {
  setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:2 pu:1", 1);
  const Result<MemoryBinding> memory = MemoryBinding::load();
  unsetenv("HWLOC_SYNTHETIC");
  ASSERT_FALSE(memory.ok());
  EXPECT_NE(memory.error().find("another machine"), std::string::npos) << memory.error();
}

}  // namespace
}  // namespace hierbar
