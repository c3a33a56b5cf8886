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
void ProgramRunner::note(int signal) {
  if (asks_to_end(signal) && asked_to_end_ == 0) asked_to_end_ = signal;
}

int ProgramRunner::asked_to_end() {
  constexpr timespec kNoTime{};
  for (int signal = 0; (signal = sigtimedwait(&signals_.set(), nullptr, &kNoTime)) > 0;)
    note(signal);
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
    const int signal = sigwaitinfo(&signals_.set(), &info);
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
    signals_.give_back();
    setenv(kServedFileVariable, file.path().c_str(), 1);
    _exit(become_with(program, setting));
  }
  CountedRun run;
  const Result<int> status = wait_for(child, run.cpu_seconds);
  if (!status) return Error{status.error()};
  run.wall_seconds = 1e-9 * static_cast<double>(monotonic_ns() - start_ns);
  run.exit_code = exit_code_of(*status);
  run.signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
  run.barriers = file.read();
  return run;
}

}  // namespace hierbar
