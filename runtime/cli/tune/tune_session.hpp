// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "cli/option/machine_option.hpp"
#include "cli/program/program.hpp"
#include "network/contention/contention_table.hpp"

namespace hierbar {

// What a launcher may need besides the time of what it launches.
inline constexpr double kForTheLauncher_s = 60;

// How a program ended that printed lines for this process.
struct WorkerEnd {
  std::string problem;  // it could not be started, or was stopped at the deadline
  int exit_code = 0;    // its own, or 128 and the number of the signal that ended it
  bool was_finished =
      false;  // the listener had all that it needs, and the program was not waited for any longer
};

// Whoever listens to the program's lines.
struct WorkerListener {
  std::function<void(const std::string& line)> on_line;
  std::function<bool()> has_all;    // asked after each line
  std::function<bool()> must_stop;  // asked a few times a second
};

// Runs a program in a process group of its own and gives each line of its output to the listener.
// It is ended (SIGTERM, then SIGKILL) when it runs for longer than `limit_s`, when the listener
// wants that, or when it has not ended some seconds after the listener had all: MPI libraries may
// hang in MPI_Finalize.
WorkerEnd run_worker(const Program& program, double limit_s, const WorkerListener& listener);

inline constexpr const char* kBetweenNodesOption = "--between-nodes";
inline constexpr const char* kOutputOption = "--output";
inline constexpr const char* kRanksAsNodesOption = "--ranks-as-nodes";
inline constexpr const char* kOversubscribedOption = "--oversubscribed";

// What `hierbar tune` is asked for, of the machine and of the network.
struct TuneOptions {
  std::string output;
  std::string team_sizes;
  std::string time_limit = "60";
  bool json = false;
  bool quiet = false;
  bool network = false;
  bool contention = false;
  std::string pairs = "8";
  std::string sizes;
  std::string mpi = "auto";
  bool ranks_as_nodes = false;
  bool oversubscribed = false;
};

// Prints the problem and ends the command.
[[noreturn]] void fail_tuning(const std::string& problem, int exit_code = kExitBadInput);

// Where programs look for what is measured.
struct ProfilePlace {
  const char* variable;
  const char* user;  // who reads it, with a verb: "plans do"
  std::string default_path;
};

// The path of the profile: the option's, else the path from which programs will read it.
std::string output_path(const CLI::App& command, const TuneOptions& options,
                        const ProfilePlace& place);

// Atomic, because any of the measuring threads can be the one that takes the signal.
inline std::atomic<int> stop_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

// As long as it lives, Ctrl-C and SIGTERM end the measuring but not the process. So threads are
// joined, and the unfinished file is removed.
class StopOnSignal {
 public:
  StopOnSignal() {
    struct sigaction action{};
    action.sa_handler = [](int signal) { stop_signal = signal; };
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
  }
  ~StopOnSignal() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  struct sigaction interrupt_{};
  struct sigaction terminate_{};
};

// Shows the progress: on a terminal in one line that changes, otherwise in a line every few
// seconds, for logs.
class TuneProgress {
 public:
  explicit TuneProgress(bool quiet) : quiet_(quiet) {}
  ~TuneProgress() { clear(); }
  TuneProgress(const TuneProgress&) = delete;
  TuneProgress& operator=(const TuneProgress&) = delete;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void show(double fraction, const std::string& what) {
    if (quiet_ || (!terminal_ && seconds() < next_line_s_)) return;
    next_line_s_ = seconds() + kSecondsBetweenLines;
    std::fprintf(stderr, terminal_ ? "\r\033[K[%3.0f %%] %s" : "hierbar tune: %3.0f %%: %s\n",
                 100 * fraction, what.c_str());
    std::fflush(stderr);
  }
  void clear() const {
    if (terminal_ && !quiet_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kSecondsBetweenLines = 5;

  const bool quiet_;
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  const Clock::time_point start_ = Clock::now();
  double next_line_s_ = 0;
};

// `hierbar tune --between-nodes --contention`: measures what shared channels cost, with the worker
// behind the user's launcher line. What goes wrong ends the command.
network::Contention measure_contention(const TuneOptions& options, const Program& launcher);

// Prints t(m, cf) and the slowdown of each cell; marked are cells that are more than cf times
// slower.
void print(const network::Contention& contention);

// `hierbar tune --between-nodes -- LAUNCHER...`: has the launcher start the worker of its MPI
// family, and puts what it measures into the file of networks. Ends the command if that is not
// possible.
void measure_network(const CLI::App& command, const TuneOptions& options, const Program& launcher);

// The user's launcher line, and behind it the worker of that name for the launcher's MPI library.
// What is missing ends the command.
Program worker_command(const Program& launcher, const TuneOptions& options, const std::string& name,
                       const std::vector<std::string>& arguments);

}  // namespace hierbar
