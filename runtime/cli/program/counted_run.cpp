// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/counted_run.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
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
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string kind;
      words >> kind;
      if (kind == kOtherRuntimeLine) {
        std::getline(words >> std::ws, barriers.other_runtime);
        continue;
      }
      const bool is_more = kind == kMoreOfMpi;
      ServedBarriers::Count& count = kind == kAllreducesOfMpi   ? barriers.mpi_allreduces
                                     : is_more || kind == "mpi" ? barriers.mpi
                                                                : barriers.openmp;
      std::uint64_t served = 0;
      std::uint64_t others = 0;
      if (!(words >> served >> others)) continue;
      if (!is_more) ++count.num_processes;
      count.num_served += served;
      count.num_others += others;
    }
    return barriers;
  }

 private:
  std::string path_;
  std::string problem_;
};

constexpr int kPassedOn[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2};

// As long as it lives, signals wait until wait_for() takes them. None is lost before the child
// exists, and no handler runs in between.
class TakenSignals {
 public:
  TakenSignals() {
    sigemptyset(&taken_);
    sigaddset(&taken_, SIGCHLD);
    for (const int signal : kPassedOn) sigaddset(&taken_, signal);
    sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
    // A parent that ignores SIGCHLD leaves that to this process, and then no status is kept.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child_action_before_);
  }
  ~TakenSignals() { give_back(); }
  TakenSignals(const TakenSignals&) = delete;
  TakenSignals& operator=(const TakenSignals&) = delete;

  void give_back() const {
    sigaction(SIGCHLD, &child_action_before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }

  // The child's status; what arrives meanwhile is passed on to it. A terminal sends ^C to the child
  // too, so what the kernel sends is not repeated.
  Result<int> wait_for(pid_t child) const {
    int status = 0;
    for (pid_t ended = 0; (ended = waitpid(child, &status, WNOHANG)) != child;) {
      if (ended < 0)
        return Error{std::string("cannot wait for the program: ") + std::strerror(errno)};
      siginfo_t info;
      const int signal = sigwaitinfo(&taken_, &info);
      if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) kill(child, signal);
    }
    return status;
  }

 private:
  sigset_t taken_{};
  sigset_t mask_before_{};
  struct sigaction child_action_before_{};
};

}  // namespace

Result<CountedRun> run_and_count(const Program& program) {
  const ServedFile file;
  if (!file.problem().empty()) return Error{file.problem()};
  setenv(kServedFileVariable, file.path().c_str(), 1);

  const TakenSignals signals;
  const pid_t child = fork();
  if (child < 0) return Error{std::string("cannot start a process: ") + std::strerror(errno)};
  if (child == 0) {
    signals.give_back();
    _exit(become(program));
  }
  const Result<int> status = signals.wait_for(child);
  if (!status) return Error{status.error()};
  const int exit_code = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
  const int signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
  return CountedRun{.exit_code = exit_code, .signal = signal, .barriers = file.read()};
}

}  // namespace hierbar
