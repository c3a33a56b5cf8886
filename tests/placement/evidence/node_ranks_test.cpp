// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/launcher.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hierbar {
namespace {

// Does what a launcher's child does: it binds itself, then becomes the rank's program.
[[noreturn]] void become_rank(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
  char program[] = "sleep";
  char most[] = "60";
  char* const arguments[] = {program, most, nullptr};
  char rank[] = "OMPI_COMM_WORLD_LOCAL_RANK=0";
  char size[] = "OMPI_COMM_WORLD_LOCAL_SIZE=1";
  char job[] = "PMIX_NAMESPACE=node_ranks_test";
  char* const variables[] = {rank, size, job, nullptr};
  execve("/bin/sleep", arguments, variables);
  _exit(127);
}

// A rank and processes that are none. They are read after the rank, which takes some time.
class LaunchedRank {
 public:
  LaunchedRank(unsigned cpu, useconds_t delay) {
    for (int i = 0; i <= kOthers; ++i) {
      const pid_t pid = fork();
      if (pid < 0) throw std::runtime_error("fork");
      if (pid == 0 && i == 0) {
        usleep(delay);
        become_rank(cpu);
      }
      if (pid == 0) {
        sleep(60);
        _exit(0);
      }
      children_.push_back(pid);
    }
  }
  ~LaunchedRank() {
    for (const pid_t pid : children_) kill(pid, SIGKILL);
    for (const pid_t pid : children_) waitpid(pid, nullptr, 0);
  }
  LaunchedRank(const LaunchedRank&) = delete;
  LaunchedRank& operator=(const LaunchedRank&) = delete;

 private:
  static constexpr int kOthers = 30;
  std::vector<pid_t> children_;
};

// The ranks below this process, as soon as there is one. None if that takes too long.
std::vector<NodeRank> first_seen_ranks() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::vector<NodeRank> ranks;
  while (ranks.empty() && std::chrono::steady_clock::now() < deadline)
    ranks = find_node_ranks(getpid());
  return ranks;
}

TEST(NodeRanks, AreNeverSeenBeforeTheyAreBound) {
  const std::optional<Process> self = read_process(getpid());
  ASSERT_TRUE(self);
  if (self->cpus.count() < 2) GTEST_SKIP() << "needs two cpus";
  const auto cpu = static_cast<unsigned>(self->cpus.first());
  for (unsigned i = 0; i < 100; ++i) {
    const LaunchedRank launched(cpu, i * 100);
    const std::vector<NodeRank> ranks = first_seen_ranks();
    ASSERT_EQ(ranks.size(), 1U);
    EXPECT_EQ(ranks.front().process.cpus.to_string(), std::to_string(cpu)) << "launch " << i;
  }
}

}  // namespace
}  // namespace hierbar
