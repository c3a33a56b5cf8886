// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "base/process.hpp"

namespace hierbar {
namespace {

TEST(ProcessName, OwnNameIsStableAndComplete) {
  const ProcessName own = own_process();
  EXPECT_EQ(own.pid, getpid());
  EXPECT_NE(own.start_time, 0u);
  EXPECT_EQ(own_process().start_time, own.start_time);
  EXPECT_NE(state_of(own.pid, own.start_time), "gone");
  EXPECT_EQ(state_of(own.pid, own.start_time + 1), "gone");  // the number has been used again
}

TEST(ProcessName, AStoppedProcessIsToldFromOneThatIsGone) {
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  const std::uint64_t start_time = start_time_of(child);
  EXPECT_NE(start_time, 0u);
  EXPECT_EQ(state_of(child, start_time), "stopped");
  EXPECT_TRUE(is_alive(child, start_time));
  kill(child, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(state_of(child, start_time), "dead");
  EXPECT_FALSE(is_alive(child, start_time));
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(start_time_of(child), 0u);
  EXPECT_EQ(state_of(child, start_time), "gone");
  EXPECT_FALSE(is_alive(child, start_time));
}

TEST(NodeKey, IsTheSameInEveryProcessOfANodeAndDifferentOnPretendedNodes) {
  const NodeKey own = read_node_key(0);
  EXPECT_EQ(read_node_key(0), own);
  EXPECT_FALSE(read_node_key(1) == own);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const NodeKey key = read_node_key(0);
    _exit(write(pipe_ends[1], &key, sizeof(key)) == sizeof(key) ? 0 : 1);
  }
  NodeKey other{};
  EXPECT_EQ(read(pipe_ends[0], &other, sizeof(other)), static_cast<ssize_t>(sizeof(other)));
  waitpid(child, nullptr, 0);
  EXPECT_EQ(other, own);
}

// As in a container of its own, without privileges, that has the host's /dev/shm.
TEST(NodeKey, DoesNotDependOnMountsAndUserNamespaces) {
  const NodeKey own = read_node_key(0);
  const uid_t user = geteuid();
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    NodeKey key{};
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
      std::FILE* map = std::fopen("/proc/self/uid_map", "we");
      if (map != nullptr && std::fprintf(map, "7 %u 1", user) > 0 && std::fclose(map) == 0)
        key = read_node_key(0);
    }
    _exit(write(pipe_ends[1], &key, sizeof(key)) == sizeof(key) ? 0 : 1);
  }
  NodeKey other{};
  EXPECT_EQ(read(pipe_ends[0], &other, sizeof(other)), static_cast<ssize_t>(sizeof(other)));
  waitpid(child, nullptr, 0);
  if (other == NodeKey{}) GTEST_SKIP() << "no user namespaces here";
  EXPECT_EQ(other, own);
}

TEST(RandomId, DiffersEachTimeAndIsNeverZero) {
  const std::uint64_t first = random_id(), second = random_id();
  EXPECT_NE(first, second);
  EXPECT_NE(first, 0u);
  EXPECT_NE(second, 0u);
}

bool read_switch(const std::string& text) {
  const std::string file = testing::TempDir() + "autogroups_test_" + std::to_string(getpid());
  std::ofstream(file) << text;
  const bool has_autogroups = read_has_autogroups(file);
  unlink(file.c_str());
  return has_autogroups;
}

TEST(Autogroups, AreOnWhereTheKernelSaysSo) {
  EXPECT_TRUE(read_switch("1\n"));
  EXPECT_FALSE(read_switch("0\n"));
  EXPECT_FALSE(read_switch("")) << "what cannot be read is off";
  EXPECT_FALSE(read_has_autogroups("/no/such/file"));
}

// Whether a child is seen in another session, once it has run `prepare`.
template <class Prepare>
bool child_is_in_other_session(Prepare&& prepare) {
  int ready[2];
  if (pipe(ready) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    prepare();
    if (write(ready[1], "", 1) == 1) pause();
    _exit(0);
  }
  char byte;
  const bool is_ready = read(ready[0], &byte, 1) == 1;
  const bool result = is_ready && is_in_other_session(child);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  return result;
}

TEST(Autogroups, ProcessesOfOtherSessionsAreToldApart) {
  EXPECT_FALSE(is_in_other_session(getpid()));
  EXPECT_FALSE(child_is_in_other_session([] {}));
  EXPECT_FALSE(child_is_in_other_session([] { setpgid(0, 0); })) << "a group is no session";
  EXPECT_TRUE(child_is_in_other_session([] { setsid(); })) << "as Hydra's ranks";
  EXPECT_TRUE(is_in_other_session(0x7fffffff)) << "no such process";
}

}  // namespace
}  // namespace hierbar
