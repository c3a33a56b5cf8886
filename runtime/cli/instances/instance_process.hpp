// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "cli/program/program.hpp"
#include "cli/program/taken_signals.hpp"
#include "topology/cpu_set.hpp"
#include "topology/memory_binding.hpp"

namespace hierbar {

// What one of several copies of a program is started with.
struct InstanceSetting {
  CpuSet cpus;
  CpuSet memory_nodes;  // where its memory comes from; empty: wherever the kernel takes it
  std::vector<std::pair<std::string, std::string>> variables;
};

struct InstancesRequest {
  Program program;
  std::vector<InstanceSetting> instances;
  std::optional<MemoryBinding> memory;  // if instances have memory_nodes
  // Where instance K's output goes, as instance.K.out and instance.K.err. Empty: to this process's
  // stdout and stderr, as lines that begin with "[K] ".
  std::string output_directory;
};

// The two files to which instance `index` writes: the pipes or files behind its stdout and stderr.
struct InstanceFiles {
  // This process's ends of the pipes; null with an output directory.
  std::array<std::unique_ptr<OpenFile>, 2> pipes;
  // The child's ends, until it is started.
  std::array<std::unique_ptr<OpenFile>, 2> ends;
};

// "DIR/instance.3.err"
std::string instance_file(const std::string& directory, std::size_t index, const char* ending);

// Errors: a file or a pipe cannot be made; the text names it.
Result<InstanceFiles> open_instance_files(const InstancesRequest& request, std::size_t index);

struct StartedInstance {
  pid_t pid = 0;  // and the number of its process group
  // It has become the program. If not, its stderr says why, and it has ended.
  bool is_running = false;
};

// Starts instance `index` as a child that is the leader of a process group, with nothing to read as
// stdin, and bound to its cpus and memory. If this process ends, the child is killed.
//
// `signals` and `pipe_action`, for SIGPIPE, are what this process has changed for itself.
//
// Errors: no process can be made.
Result<StartedInstance> start_instance(const InstancesRequest& request, std::size_t index,
                                       const InstanceFiles& files, const TakenSignals& signals,
                                       const struct sigaction& pipe_action);

// ---- their end ----

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
