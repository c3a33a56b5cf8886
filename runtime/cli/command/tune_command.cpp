// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/command/tune_command.hpp"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/environment.hpp"
#include "base/files/new_file.hpp"
#include "base/trusted_variable.hpp"
#include "base/words.hpp"
#include "cli/machine_option.hpp"
#include "cli/option_values.hpp"
#include "plan/profile/profile.hpp"
#include "topology/load.hpp"
#include "tune/tune.hpp"
#include "tune/tune_report.hpp"

namespace hierbar {
namespace {

constexpr const char* kOutputOption = "--output";
constexpr const char* kTimeLimitOption = "--time-limit";
constexpr std::uint32_t kMostThreads = 4096;
constexpr std::size_t kMostTeams = 32;
constexpr double kLongest_s = 3600;

struct TuneOptions {
  std::string output;
  std::string team_sizes;
  std::string time_limit = "60";
  bool json = false;
  bool quiet = false;
};

// Atomic, because any of the measuring threads can be the one that takes the signal.
std::atomic<int> stop_signal = 0;
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
    std::fprintf(stderr, terminal_ ? "\r\033[K[%3.0f %%] %s" : "hierbar tune: %3.0f %%: %s\n", 100 * fraction, what.c_str());
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

[[noreturn]] void fail(const std::string& problem, int exit_code = kExitBadInput) {
  std::cerr << "hierbar tune: " << problem << '\n';
  throw CLI::RuntimeError(exit_code);
}

TuneRequest read_request(const TuneOptions& options) {
  TuneRequest request;
  const char* end = options.time_limit.data() + options.time_limit.size();
  const auto [stop, error] = std::from_chars(options.time_limit.data(), end, request.time_limit_s);
  // This form also refuses "nan".
  if (error != std::errc() || stop != end || !(request.time_limit_s > 0 && request.time_limit_s <= kLongest_s)) {
    refuse(kTimeLimitOption, options.time_limit, "no such time", "seconds above 0, up to 3600");
  }
  if (options.team_sizes.empty()) return request;
  for (const std::string& word : lower_words(options.team_sizes, ',')) {
    const std::uint32_t size = parse_count(word, kMostThreads);
    if (size < 2) refuse("-n", options.team_sizes, "'" + word + "' is no such number of threads", "a comma list of 2 to 4096");
    request.team_sizes.push_back(size);
  }
  if (request.team_sizes.size() > kMostTeams) refuse("-n", options.team_sizes, "too many teams", "up to 32");
  return request;
}

// The path of the profile: the option's, else the path from which plans will read it.
std::string output_path(const CLI::App& command, const TuneOptions& options) {
  if (command.count(kOutputOption) > 0) {
    if (options.output.empty()) refuse(kOutputOption, options.output, "no name of a file", "the path of a file");
    return options.output;
  }
  const char* variable = trusted_variable(kProfileVariable);
  const std::string named = variable == nullptr ? "" : variable;
  if (lower_word(named) == "off") std::cerr << "hierbar tune: HIERBAR_PROFILE=off: plans do not use what is written now\n";
  if (!named.empty() && lower_word(named) != "off") return named;
  const std::string path = default_profile_path(own_environment());
  if (path.empty()) fail("neither XDG_CONFIG_HOME nor HOME is a directory; say with --output where the profile is to be");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return path;  // if the directory was not made, opening the file fails and reports it
}

void measure(const CLI::App& command, const TuneOptions& options) {
  const TuneRequest request = read_request(options);
  if (trusted_variable(kTopologyVariable) != nullptr) {
    std::cerr << "hierbar tune: HIERBAR_TOPOLOGY is not looked at: threads can be measured on this machine only\n";
  }
  const Result<Machine> machine = load_live_machine();
  if (!machine) fail(machine.error());
  NewFile file(output_path(command, options));
  if (!file.problem().empty()) fail("cannot write '" + file.path() + "': " + file.problem());

  const StopOnSignal stop;
  TuneProgress progress(options.quiet);
  const std::unique_ptr<Meter> meter = make_thread_meter();
  const TuneHooks hooks{[&] { return progress.seconds(); }, [] { return stop_signal != 0; },
                        [&](double fraction, const std::string& what) { progress.show(fraction, what); }};
  const Result<TuneReport> report = tune(*machine, request, *meter, hooks);
  progress.clear();
  if (!report) fail(report.error() + "; nothing is written", stop_signal != 0 ? 128 + stop_signal : kExitBadInput);

  const std::string profile = to_json(*report).dump(1) + '\n';
  if (const std::string problem = file.finish(profile); !problem.empty()) fail("cannot write '" + file.path() + "': " + problem);
  if (options.json) {
    std::cout << profile;
    return;
  }
  for (const std::string& line : describe(*report)) std::cout << line << '\n';
  std::cout << "\nprofile written: " << file.path() << '\n';
}

}  // namespace

void add_tune_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune", "Measure this machine and write the profile from which plans take their shape");
  auto options = std::make_shared<TuneOptions>();
  command
      ->add_option("-n,--participants", options->team_sizes,
                   "Teams to measure: a comma list of 2 to 4096 threads; default: one for each\ncore, and one for each cpu where "
                   "cores have several")
      ->type_name("LIST");
  command
      ->add_option(kOutputOption, options->output,
                   "The profile; default: HIERBAR_PROFILE, else profile.json in\n$XDG_CONFIG_HOME/hierbar or ~/.config/hierbar")
      ->type_name("FILE");
  command->add_option(kTimeLimitOption, options->time_limit, "Seconds, above 0 up to 3600, on a machine of any size")
      ->type_name("S")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print the profile, which holds all figures, in place of the summary");
  command->add_flag("--quiet", options->quiet, "Show no progress on stderr");
  command->footer(
      "What is measured:\n"
      "  one way  the time in which a line goes from one cpu to another, for sampled pairs of every kind: SMT\n"
      "           siblings (core), and cpus whose nearest common unit is an L2, an L3, a NUMA node, ...\n"
      "  teams    barriers of threads bound to one core each, back to back: the automatic plan, everybody in the\n"
      "           exchange, 2 to 32 leaders, each with flag lines and group lines. They take turns; the best one\n"
      "           then takes turns with the automatic plan alone, and these turns decide\n"
      "Ratios are medians over the turns, with quartiles. Leave the machine alone meanwhile.\n"
      "\n"
      "How it is used: plans of libomp.so, libhierbar_mpi.so and libhierbar.so take the measured shape for a team of\n"
      "as many participants that are bound to as many cores in as many domains; all others keep the automatic one. A\n"
      "profile of another machine or another version of hierbar is ignored with one message. HIERBAR_PROFILE names\n"
      "another profile, or is 'off'; HIERBAR_LEVELS and HIERBAR_RELEASE win over it. 'hierbar plan' shows the result.\n"
      "\n"
      "Exit status: 0 a profile was written; 2 wrong arguments, or it could not be written; 130 Ctrl-C (nothing is written)\n"
      "\n"
      "Examples:\n"
      "  hierbar tune\n"
      "  hierbar tune -n 16,32,64 --time-limit 180\n"
      "  hierbar tune --output node17.json && HIERBAR_PROFILE=$PWD/node17.json hierbar plan -n 64\n");
  command->callback([command, options] { measure(*command, *options); });
}

}  // namespace hierbar
