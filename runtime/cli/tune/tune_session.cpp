// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/tune/tune_session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/trusted_variable.hpp"
#include "cli/option/machine_option.hpp"

namespace hierbar {
namespace {

constexpr int kPoll_ms = 200;
constexpr double kAfterAll_s = 5;  // for the program to end by itself
constexpr double kAfterTerm_s = 5;

class WorkerRun {
 public:
  WorkerRun(double limit_s, const WorkerListener& listener)
      : limit_s_(limit_s), listener_(listener) {}

  WorkerEnd run(const Program& program) {
    std::array<int, 2> pipe{};
    if (pipe2(pipe.data(), O_CLOEXEC) != 0)
      return {.problem = std::string("no pipe: ") + std::strerror(errno)};
    child_ = fork();
    if (child_ < 0)
      return {.problem = std::string("cannot start a process: ") + std::strerror(errno)};
    if (child_ == 0) {
      setpgid(0, 0);
      dup2(pipe[1], STDOUT_FILENO);
      _exit(become(program));
    }
    setpgid(child_, child_);
    close(pipe[1]);
    output_ = pipe[0];
    while (listen()) {
    }
    close(output_);
    return end();
  }

 private:
  static double now_s() { return static_cast<double>(monotonic_ns()) * 1e-9; }

  // False once there is nothing more to listen to.
  bool listen() {
    pollfd polled{output_, POLLIN, 0};
    if (poll(&polled, 1, kPoll_ms) > 0) {
      std::array<char, 4096> buffer;
      const ssize_t size = read(output_, buffer.data(), buffer.size());
      if (size <= 0) return false;
      take(std::string(buffer.data(), static_cast<std::size_t>(size)));
    }
    if (listener_.must_stop()) return stop("it was stopped");
    if (has_all_ && now_s() > all_s_ + kAfterAll_s) return stop("");
    return now_s() < start_s_ + limit_s_ ||
           stop("it did not end within " + std::to_string(static_cast<int>(limit_s_)) + " s");
  }

  void take(const std::string& text) {
    pending_ += text;
    for (std::size_t end; (end = pending_.find('\n')) != std::string::npos;
         pending_.erase(0, end + 1)) {
      listener_.on_line(pending_.substr(0, end));
      if (has_all_ || !listener_.has_all()) continue;
      has_all_ = true;
      all_s_ = now_s();
    }
  }

  bool stop(const std::string& problem) {
    result_.problem = problem;
    result_.was_finished = problem.empty();
    kill(-child_, SIGTERM);
    for (const double end_s = now_s() + kAfterTerm_s; now_s() < end_s && !has_ended();)
      poll(nullptr, 0, kPoll_ms);
    kill(-child_, SIGKILL);
    return false;
  }

  bool has_ended() { return reaped_ || (reaped_ = waitpid(child_, &status_, WNOHANG) == child_); }

  WorkerEnd end() {
    while (!reaped_ && waitpid(child_, &status_, 0) != child_ && errno == EINTR) {
    }
    result_.exit_code = exit_code_of(status_);
    return result_;
  }

  const double limit_s_;
  const WorkerListener& listener_;
  const double start_s_ = now_s();
  pid_t child_ = 0;
  int output_ = -1;
  int status_ = 0;
  bool reaped_ = false;
  std::string pending_;
  bool has_all_ = false;
  double all_s_ = 0;
  WorkerEnd result_;
};

}  // namespace

WorkerEnd run_worker(const Program& program, double limit_s, const WorkerListener& listener) {
  return WorkerRun(limit_s, listener).run(program);
}

void fail_tuning(const std::string& problem, int exit_code) {
  std::cerr << "hierbar tune: " << problem << '\n';
  throw CLI::RuntimeError(exit_code);
}

std::string output_path(const CLI::App& command, const TuneOptions& options,
                        const ProfilePlace& place) {
  if (command.count(kOutputOption) > 0) {
    if (options.output.empty())
      refuse(kOutputOption, options.output, "not a file name", "the path of a file");
    return options.output;
  }
  const char* variable = trusted_variable(place.variable);
  const std::string named = variable == nullptr ? "" : variable;
  if (lower_word(named) == "off") {
    std::cerr << "hierbar tune: " << place.variable << "=off: " << place.user
              << " not use the result\n";
  }
  if (!named.empty() && lower_word(named) != "off") return named;
  if (place.default_path.empty()) {
    fail_tuning("neither XDG_CONFIG_HOME nor HOME is a directory; name the profile with --output");
  }
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(place.default_path).parent_path(),
                                      error);
  return place
      .default_path;  // if the directory was not made, opening the file fails and reports it
}

}  // namespace hierbar
