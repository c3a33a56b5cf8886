// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/instances/group_keeper.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>

namespace hierbar {
namespace {

[[noreturn]] void keep_groups(int pipe) {
  // Neither ^C nor a signal to the group of the command ends it: it ends with the command.
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_NAME, "hierbar keeper");
  std::set<pid_t> groups;
  pid_t word = 0;
  for (ssize_t size = 0; (size = read(pipe, &word, sizeof word)) != 0;) {
    if (size < 0 && errno != EINTR) break;
    if (size != sizeof word) continue;
    if (word > 0) groups.insert(word);
    if (word < 0) groups.erase(-word);
  }
  for (const pid_t group : groups) kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

GroupKeeper::GroupKeeper() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    problem_ = std::string("cannot make a pipe: ") + std::strerror(errno);
    return;
  }
  keeper_ = fork();
  if (keeper_ == 0) {
    close(ends[1]);
    keep_groups(ends[0]);
  }
  close(ends[0]);
  pipe_ = ends[1];
  if (keeper_ < 0) problem_ = std::string("cannot start a process: ") + std::strerror(errno);
}

GroupKeeper::~GroupKeeper() {
  if (pipe_ >= 0) close(pipe_);
  while (keeper_ > 0 && waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void GroupKeeper::tell(pid_t word) const {
  // It fails if the keeper was killed. The groups then go without it.
  if (keeper_ > 0 && write(pipe_, &word, sizeof word) < 0) static_cast<void>(0);
}

}  // namespace hierbar
