// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/advice/timed_runs.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>

namespace hierbar {
namespace {

// Empty if the line ended well.
std::string run(const std::string& line) {
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) return std::string("cannot start a process: ") + std::strerror(errno);
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                             : "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<TimedRuns> time_lines(const std::vector<std::string>& lines, std::uint32_t num_rounds,
                             const std::function<void(std::uint32_t done, std::uint32_t all)>& progress) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> times(lines.size());
  const auto all = static_cast<std::uint32_t>(lines.size() * num_rounds);
  for (std::uint32_t done = 0; done < all; ++done) {
    progress(done, all);
    const std::size_t round = done / lines.size();
    const std::size_t turn = done % lines.size();
    const std::size_t at = round % 2 == 0 ? turn : lines.size() - 1 - turn;
    const Clock::time_point start = Clock::now();
    if (const std::string problem = run(lines[at]); !problem.empty()) return Error{"'" + lines[at] + "': " + problem};
    times[at].push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  TimedRuns result;
  for (const auto& values : times) result.seconds.push_back(quartiles_of(values));
  return result;
}

}  // namespace hierbar
