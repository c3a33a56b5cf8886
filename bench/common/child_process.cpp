// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "bench/common/stop_requests.hpp"

namespace hierbar::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kExecFailed = 127;
// A request to stop between a look at it and the wait for output is seen after this time.
constexpr long long kLookMs = 200;

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  static void shut(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  ~Pipe() {
    shut(read_end);
    shut(write_end);
  }
};

bool is_runtime_setting(std::string_view entry) {
  constexpr std::array<std::string_view, 5> kPrefixes{"KMP_", "OMP_", "GOMP_",
                                                      "LD_LIBRARY_PATH=", "LD_PRELOAD="};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [entry](auto prefix) { return entry.starts_with(prefix); });
}

// The stack's begin depends on the size of the environment, and the time of a parallel region
// depends on the stack's begin, by about 5 %. A configuration with more variables than another must
// not always gain or lose by that. So each process gets an environment of another size.
std::size_t random_padding() {
  static std::mt19937 random{std::random_device{}()};
  return random() % 4096;
}

std::vector<std::string> child_environment(const Variables& variables) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool is_set_anew = variables.contains(std::string(text.substr(0, text.find('='))));
    if (!is_runtime_setting(text) && !is_set_anew) environment.emplace_back(text);
  }
  for (const auto& [name, value] : variables)
    environment.push_back(fmt::format("{}={}", name, value));
  environment.push_back("HIERBAR_BENCH_PADDING=" + std::string(random_padding(), 'x'));
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Appends what the pipe holds. Returns false at the pipe's end.
bool drain(int file, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(file, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

// Reads both pipes until the child closes them. Returns false if the deadline passes first, or if
// the benchmark is asked to stop.
bool collect(Pipe& output, Pipe& errors, ChildResult& result, Clock::time_point deadline) {
  while (output.read_end >= 0 || errors.read_end >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 || stop_request() != 0) return false;
    std::array<pollfd, 2> files{pollfd{output.read_end, POLLIN, 0},
                                pollfd{errors.read_end, POLLIN, 0}};
    const int wait_ms = static_cast<int>(std::min<long long>(left, kLookMs));
    if (poll(files.data(), files.size(), wait_ms) <= 0) continue;
    if (files[0].revents != 0 && !drain(output.read_end, result.output))
      Pipe::shut(output.read_end);
    if (files[1].revents != 0 && !drain(errors.read_end, result.errors))
      Pipe::shut(errors.read_end);
  }
  return true;
}

std::string first_line(std::string_view text) {
  const std::size_t start = text.find_first_not_of("\r\n");
  if (start == std::string_view::npos) return "";
  return std::string(text.substr(start, text.find_first_of("\r\n", start) - start));
}

std::string describe_end(int status, const std::string& errors) {
  if (WIFSIGNALED(status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  const int code = WEXITSTATUS(status);
  if (code == 0) return "";
  const std::string line = first_line(errors);
  return line.empty() ? fmt::format("exit status {}", code)
                      : fmt::format("exit status {}: {}", code, line);
}

// The rest of the child, which calls nothing that allocates.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& environment,
                         const Pipe& output, const Pipe& errors, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExecFailed);
  dup2(output.write_end, STDOUT_FILENO);
  dup2(errors.write_end, STDERR_FILENO);
  execve(arguments[0], arguments.data(), environment.data());
  dprintf(STDERR_FILENO, "cannot run %s: %s\n", arguments[0], std::strerror(errno));
  _exit(kExecFailed);
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& argv, const Variables& variables,
                      std::chrono::milliseconds timeout) {
  // 1. Allocate everything before the fork.
  ChildResult result;
  std::vector<std::string> argument_strings = argv;
  std::vector<std::string> environment_strings = child_environment(variables);
  const std::vector<char*> arguments = pointers(argument_strings);
  const std::vector<char*> environment = pointers(environment_strings);
  Pipe output;
  Pipe errors;
  if (!output.open() || !errors.open()) {
    result.failure = fmt::format("cannot open a pipe: {}", std::strerror(errno));
    return result;
  }

  // 2. Start the child.
  const Clock::time_point deadline = Clock::now() + timeout;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become(arguments, environment, output, errors, parent);
  if (child < 0) {
    result.failure = fmt::format("cannot fork: {}", std::strerror(errno));
    return result;
  }

  // 3. Read its output, then wait for its end.
  Pipe::shut(output.write_end);
  Pipe::shut(errors.write_end);
  const bool in_time = collect(output, errors, result, deadline);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.failure = in_time               ? describe_end(status, result.errors)
                   : stop_request() != 0 ? "stopped"
                                         : fmt::format("no result within {:.1f} s, killed",
                                                       static_cast<double>(timeout.count()) / 1000);
  return result;
}

}  // namespace hierbar::bench
