// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/process/autogroups.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace hierbar {
namespace {

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
