// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/counted_run.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/served_file.hpp"

namespace hierbar {
namespace {

// The file to which the processes add their lines. It goes with this object.
class ServedFile {
 public:
  ServedFile() {
    std::error_code none;
    std::filesystem::path directory = std::filesystem::temp_directory_path(none);
    if (none) directory = "/tmp";
    path_ = (directory / "hierbar-served-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0) problem_ = "cannot make " + path_ + ": " + std::strerror(errno);
    if (file >= 0) close(file);
  }
  ~ServedFile() {
    if (problem_.empty()) unlink(path_.c_str());
  }
  ServedFile(const ServedFile&) = delete;
  ServedFile& operator=(const ServedFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

  ServedBarriers read() const {
    ServedBarriers barriers;
    std::ifstream file(path_);
    std::string kind;
    for (std::uint64_t served, others; file >> kind >> served >> others;) {
      ServedBarriers::Count& count = kind == "mpi" ? barriers.mpi : barriers.openmp;
      ++count.num_processes;
      count.num_served += served;
      count.num_others += others;
    }
    return barriers;
  }

 private:
  std::string path_;
  std::string problem_;
};

volatile std::sig_atomic_t child_to_signal = 0;

// A terminal sends ^C to the child too. The kernel's own senders are therefore not repeated.
void pass_on(int signal, siginfo_t* info, void*) {
  if (child_to_signal != 0 && info->si_code <= 0) kill(static_cast<pid_t>(child_to_signal), signal);
}

constexpr int kPassedOn[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2};

void pass_signals_on() {
  struct sigaction action{};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : kPassedOn) sigaction(signal, &action, nullptr);
}

}  // namespace

Result<CountedRun> run_and_count(const Program& program) {
  const ServedFile file;
  if (!file.problem().empty()) return Error{file.problem()};
  setenv(kServedFileVariable, file.path().c_str(), 1);

  // Blocked until the handler knows the child: a signal in between would be lost.
  sigset_t passed_on, before;
  sigemptyset(&passed_on);
  for (const int signal : kPassedOn) sigaddset(&passed_on, signal);
  sigprocmask(SIG_BLOCK, &passed_on, &before);
  const pid_t child = fork();
  if (child < 0) return Error{std::string("cannot start a process: ") + std::strerror(errno)};
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    _exit(become(program));
  }
  child_to_signal = child;
  pass_signals_on();
  sigprocmask(SIG_SETMASK, &before, nullptr);

  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return Error{std::string("cannot wait for the program: ") + std::strerror(errno)};
  }
  child_to_signal = 0;
  return CountedRun{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), .barriers = file.read()};
}

}  // namespace hierbar
