// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <string>

namespace hierbar {

// Ends process groups when this process is killed before it could do so itself. It is a process of
// its own, in a session of its own, which sleeps in a read from a pipe. When this process ends, for
// whatever reason, the kernel closes the pipe, and the keeper sends SIGKILL to the groups that were
// added and not removed.
//
// PR_SET_PDEATHSIG does that for a child alone: what a script has started would go on.
class GroupKeeper {
 public:
  // If there can be no such process, problem() is not empty, and the other calls do nothing.
  GroupKeeper();
  // Returns when the keeper has ended.
  ~GroupKeeper();
  GroupKeeper(const GroupKeeper&) = delete;
  GroupKeeper& operator=(const GroupKeeper&) = delete;

  const std::string& problem() const { return problem_; }

  void add(pid_t group) const { tell(group); }
  // For a group without processes, whose number the kernel may give to another one.
  void remove(pid_t group) const { tell(-group); }

 private:
  void tell(pid_t word) const;

  pid_t keeper_ = -1;
  int pipe_ = -1;
  std::string problem_;
};

}  // namespace hierbar
