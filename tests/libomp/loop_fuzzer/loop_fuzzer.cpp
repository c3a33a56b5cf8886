// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "forms.hpp"
#include "generate.hpp"
#include "loop.hpp"
#include "tests/libomp/programs/check.hpp"

namespace loop_fuzzer {

static constexpr const char* kHelp =
    R"(Runs random OpenMP loops and compares what the threads do with what a serial loop would do.

  loop_fuzzer [--seed N] [--loops N] [--threads N] [--only KIND]... [--hang-after SECONDS] [--verbose]

  --seed N              of the first group of loops; group k has the seed N + k (default: 1)
  --loops N             runs this many loops, and the rest of the last group (default: 10000)
  --threads N           of the largest team, at most 64 (default: 4)
  --only KIND           only loops of this kind; repeatable, all must fit
  --hang-after SECONDS  ends the program when one group takes longer (default: 60)
  --verbose             prints each loop before it runs

Loops that the compiler itself compiles wrong are left out.

A group is what one team runs: up to four loops, or one that opens a region itself. Equal seeds and threads give equal groups.
A wrong loop is printed with the command that runs its group again; after 20 of them the program ends.
Exit status: 0 all right, 1 a loop was wrong, 2 wrong arguments; an abort: a loop hangs.

)";

#if defined(LOOP_FUZZER_MIXED)
static constexpr const Constructs* kCompilers[] = {&by_clang::constructs, &by_gcc::constructs};
#else
static constexpr const Constructs* kCompilers[] = {&LOOP_FUZZER_COMPILER::constructs};
#endif
static constexpr int kNumCompilers = std::size(kCompilers);

struct Options {
  std::uint64_t seed = 1;
  long num_loops = 10000;
  int num_threads = 4;
  int hang_after_s = 60;
  bool verbose = false;
  std::vector<std::string_view> only;
};

static std::string_view compiler_of(const Loop& loop) {
  return kCompilers[loop.compiler]->compiler;
}

// What runs, for the thread that waits for hangs.
class Running {
 public:
  void begin(const std::string& description) {
    const std::lock_guard lock(mutex_);
    description_ = description;
    ++num_begun_;
  }
  long num_begun() const { return num_begun_; }
  std::string description() {
    const std::lock_guard lock(mutex_);
    return description_;
  }

 private:
  std::mutex mutex_;
  std::string description_;
  std::atomic<long> num_begun_{0};
};
static Running running;

static void watch(int limit_s) {
  using Clock = std::chrono::steady_clock;
  long last_seen = -1;
  for (auto last_change = Clock::now();;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (running.num_begun() != last_seen) {
      last_seen = running.num_begun();
      last_change = Clock::now();
    }
    if (Clock::now() - last_change < std::chrono::seconds(limit_s)) continue;
    std::cerr << "HANGS: " << running.description() << std::endl;
    omp_test::show_stacks();
    std::abort();
  }
}

static std::string describe(const Group& group, const Options& options) {
  std::string text = describe_team(group, kCompilers[group.compiler]->compiler);
  for (const Loop& loop : group.loops) text += "\n    " + describe(loop, compiler_of(loop));
  text += "\n  again: loop_fuzzer --seed " + std::to_string(group.seed) + " --loops 1 --threads " +
          std::to_string(options.num_threads);
  for (std::string_view kind : options.only) text += " --only " + std::string(kind);
  return text;
}

struct Team {
  const Group& group;
  std::deque<Ledger> ledgers;
};

// In each thread of the team.
static void run_loops(void* argument) {
  Team& team = *static_cast<Team*>(argument);
  for (std::size_t i = 0; i < team.ledgers.size(); ++i) {
    const Loop& loop = team.group.loops[i];
    kCompilers[loop.compiler]->run(loop, team.ledgers[i]);
    if (ends_with_barrier(loop.construct)) team.ledgers[i].check_barrier();
  }
}

// Returns how many of its loops were wrong.
static int run(const Group& group, const Options& options) {
  const std::string description = describe(group, options);
  running.begin(description);
  if (options.verbose) std::cout << description << std::endl;
  omp_set_schedule(group.runtime_schedule, group.runtime_chunk);
  Team team{group, {}};
  for (const Loop& loop : group.loops) team.ledgers.emplace_back(loop, group);
  if (group.loops[0].construct == Construct::kParallelFor)
    kCompilers[group.loops[0].compiler]->run(group.loops[0], team.ledgers[0]);
  else
    kCompilers[group.compiler]->open_region(group.num_threads, run_loops, &team);
  int num_wrong = 0;
  for (std::size_t i = 0; i < team.ledgers.size(); ++i) {
    const std::string wrong = team.ledgers[i].judge();
    if (wrong.empty()) continue;
    ++num_wrong;
    std::cerr << "WRONG: " << describe(group.loops[i], compiler_of(group.loops[i])) << ": " << wrong
              << "\n  among " << description << std::endl;
  }
  return num_wrong;
}

static bool is_wanted(const Loop& loop, const Options& options) {
  if (is_compiled_wrong(loop, compiler_of(loop))) return false;
  const std::vector<std::string_view> kinds = kinds_of(loop, compiler_of(loop));
  return std::ranges::all_of(
      options.only, [&](std::string_view kind) { return std::ranges::count(kinds, kind) > 0; });
}

[[noreturn]] static void complain(const std::string& message) {
  std::cerr << "loop_fuzzer: " << message << "; --help prints what is allowed\n";
  std::exit(2);
}

static void print_help() {
  std::cout << kHelp << "Kinds:";
  for (std::string_view kind : all_kinds()) std::cout << ' ' << kind;
  std::cout << '\n';
  std::exit(0);
}

static Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") print_help();
    if (name == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (++i == argc) complain("'" + name + "' is unknown or needs a value");
    if (name == "--only") {
      const std::vector<std::string_view> kinds = all_kinds();
      if (std::ranges::count(kinds, argv[i]) == 0)
        complain("--only: there is no kind '" + std::string(argv[i]) + "'");
      options.only.push_back(argv[i]);
      continue;
    }
    char* end = nullptr;
    const long value = std::strtol(argv[i], &end, 10);
    if (*end != '\0' || value < 1)
      complain(name + ": '" + argv[i] + "' must be a number from 1 on");
    if (name == "--seed")
      options.seed = static_cast<std::uint64_t>(value);
    else if (name == "--loops")
      options.num_loops = value;
    else if (name == "--threads" && value <= kMaxThreads)
      options.num_threads = static_cast<int>(value);
    else if (name == "--hang-after")
      options.hang_after_s = static_cast<int>(value);
    else
      complain("'" + name + " " + argv[i] + "' is not allowed");
  }
  return options;
}

static int run_all(const Options& options) {
  omp_set_dynamic(0);
  std::thread(watch, options.hang_after_s).detach();
  long num_run = 0, num_groups = 0;
  int num_wrong = 0;
  // Kinds that no loop has together, as 'taskloop' and 'guided', would let this run for ever.
  const long limit = 200000 + 100 * options.num_loops;
  for (; num_run < options.num_loops && num_wrong < 20 && num_groups < limit; ++num_groups) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(num_groups);
    Group group = Generator(seed, options.num_threads, kNumCompilers).make();
    std::erase_if(group.loops, [&](const Loop& loop) { return !is_wanted(loop, options); });
    if (group.loops.empty()) continue;
    num_wrong += run(group, options);
    num_run += static_cast<long>(group.loops.size());
  }
  if (num_run == 0) complain("no loop is of all these kinds");
  std::cout << num_run << " loops in " << num_groups << " groups, " << num_wrong << " wrong"
            << std::endl;
  return num_wrong > 0 ? 1 : 0;
}

}  // namespace loop_fuzzer

int main(int argc, char** argv) { return loop_fuzzer::run_all(loop_fuzzer::parse(argc, argv)); }
