// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/counted_run.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "base/clock.hpp"
#include "base/served_file.hpp"

namespace hierbar {
namespace {

constexpr int kPassedOn[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2};

// In the child.
[[noreturn]] void become_with(const Program& program, const ChildSetting& setting,
                              const std::string& served_file) {
  setenv(kServedFileVariable, served_file.c_str(), 1);
  for (const auto& [name, value] : setting.variables) setenv(name.c_str(), value.c_str(), 1);
  if (setting.input >= 0) dup2(setting.input, STDIN_FILENO);
  if (setting.output >= 0) dup2(setting.output, STDOUT_FILENO);
  if (setting.errors >= 0) dup2(setting.errors, STDERR_FILENO);
  _exit(become(program));
}

}  // namespace

ProgramRunner::ProgramRunner() {
  // Signals wait until wait_for() takes them: none is lost before a child exists, and no handler
  // runs in between.
  sigemptyset(&taken_);
  sigaddset(&taken_, SIGCHLD);
  for (const int signal : kPassedOn) sigaddset(&taken_, signal);
  sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
  // A parent that ignores SIGCHLD leaves that to this process, and then no status is kept.
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &child_action_before_);
}

ProgramRunner::~ProgramRunner() { give_back_signals(); }

void ProgramRunner::give_back_signals() const {
  sigaction(SIGCHLD, &child_action_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void ProgramRunner::note(int signal) {
  const bool asks = signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
  if (asks && asked_to_end_ == 0) asked_to_end_ = signal;
}

int ProgramRunner::asked_to_end() {
  constexpr timespec kNoTime{};
  for (int signal = 0; (signal = sigtimedwait(&taken_, nullptr, &kNoTime)) > 0;) note(signal);
  return asked_to_end_;
}

// The child's status; what arrives meanwhile is passed on to it. A terminal sends ^C to the child
// too, so what the kernel sends is not repeated.
Result<int> ProgramRunner::wait_for(pid_t child, double& cpu_seconds) {
  int status = 0;
  rusage usage{};
  for (pid_t ended = 0; (ended = wait4(child, &status, WNOHANG, &usage)) != child;) {
    if (ended < 0)
      return Error{std::string("cannot wait for the program: ") + std::strerror(errno)};
    siginfo_t info;
    const int signal = sigwaitinfo(&taken_, &info);
    if (signal <= 0 || signal == SIGCHLD) continue;
    note(signal);
    if (info.si_code <= 0) kill(child, signal);
  }
  cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  return status;
}

Result<CountedRun> ProgramRunner::run(const Program& program, const ChildSetting& setting) {
  const ServedBarriersFile file;
  if (!file.problem().empty()) return Error{file.problem()};
  std::cout.flush();  // else the child has what is in its buffer, too
  const std::int64_t start_ns = monotonic_ns();
  const pid_t child = fork();
  if (child < 0) return Error{std::string("cannot start a process: ") + std::strerror(errno)};
  if (child == 0) {
    give_back_signals();
    become_with(program, setting, file.path());
  }
  CountedRun run;
  const Result<int> status = wait_for(child, run.cpu_seconds);
  if (!status) return Error{status.error()};
  run.wall_seconds = 1e-9 * static_cast<double>(monotonic_ns() - start_ns);
  run.exit_code = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
  run.signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
  run.barriers = file.read();
  return run;
}

}  // namespace hierbar
