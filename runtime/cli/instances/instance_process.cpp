// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/instances/instance_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <sys/wait.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <set>

#include "base/bound_thread.hpp"

namespace hierbar {
namespace {

constexpr const char* kEndings[] = {"out", "err"};
// As a shell has it for a program that it finds and cannot start.
constexpr int kExitNotStarted = 126;

Error cannot_make(const std::string& what) {
  return Error{"cannot make " + what + ": " + std::strerror(errno)};
}

std::string bind_instance(const InstancesRequest& request, const InstanceSetting& instance) {
  if (!KernelMask::of_words(instance.cpus.words()).bind()) {
    return "cannot bind it to cpus " + instance.cpus.to_string() + ": " + std::strerror(errno);
  }
  if (instance.memory_nodes.empty()) return "";
  const std::string problem = request.memory->bind_this_thread(instance.memory_nodes);
  if (problem.empty()) return "";
  return "--membind: the kernel refuses to bind its memory to NUMA nodes " +
         instance.memory_nodes.to_string() + ": " + problem;
}

// In the child. Returns on failure only.
int become_instance(const InstancesRequest& request, std::size_t index,
                    const InstanceFiles& files) {
  const InstanceSetting& instance = request.instances[index];
  const int errors = files.ends[1]->get();
  if (const std::string problem = bind_instance(request, instance); !problem.empty()) {
    dprintf(errors, "hierbar run: %s\n", problem.c_str());
    return kExitNotStarted;
  }
  return become_with(request.program, {.variables = instance.variables,
                                       .input = open("/dev/null", O_RDONLY | O_CLOEXEC),
                                       .output = files.ends[0]->get(),
                                       .errors = errors});
}

}  // namespace

std::string instance_file(const std::string& directory, std::size_t index, const char* ending) {
  return (std::filesystem::path(directory) / ("instance." + std::to_string(index) + "." + ending))
      .string();
}

Result<InstanceFiles> open_instance_files(const InstancesRequest& request, std::size_t index) {
  InstanceFiles files;
  for (std::size_t i = 0; i < 2; ++i) {
    int ends[2] = {-1, -1};
    if (request.output_directory.empty()) {
      if (pipe2(ends, O_CLOEXEC) != 0) return cannot_make("a pipe for an instance's output");
      // This end alone: an instance's writes must wait while the pipe is full.
      fcntl(ends[0], F_SETFL, O_NONBLOCK);
      files.pipes[i] = std::make_unique<OpenFile>(ends[0]);
    } else {
      const std::string name = instance_file(request.output_directory, index, kEndings[i]);
      // For appending, so that no process of an instance overwrites what another one has written.
      ends[1] = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
      if (ends[1] < 0) return cannot_make(name);
    }
    files.ends[i] = std::make_unique<OpenFile>(ends[1]);
  }
  return files;
}

Result<StartedInstance> start_instance(const InstancesRequest& request, std::size_t index,
                                       const InstanceFiles& files, const TakenSignals& signals,
                                       const struct sigaction& pipe_action) {
  // A child that becomes the program closes its end without a word.
  int failed[2];
  if (pipe2(failed, O_CLOEXEC) != 0) return cannot_make("a pipe");
  const OpenFile read_end(failed[0]);
  std::cout.flush();  // else the child has what is in its buffer, too
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kExitNotStarted);  // it has ended before that call
    signals.give_back();
    sigaction(SIGPIPE, &pipe_action, nullptr);
    const int code = become_instance(request, index, files);
    if (write(failed[1], "", 1) != 1) static_cast<void>(0);  // the parent sees its end
    _exit(code);
  }
  close(failed[1]);
  if (child < 0) return Error{std::string("cannot start a process: ") + std::strerror(errno)};
  setpgid(child, child);  // whichever of the two comes first
  char word = 0;
  ssize_t size = 0;
  while ((size = read(read_end.get(), &word, 1)) < 0 && errno == EINTR) {
  }
  return StartedInstance{.pid = child, .is_running = size == 0};
}

// ---- their end ----

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
