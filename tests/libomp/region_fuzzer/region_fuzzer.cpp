// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random parallel regions between which random settings change. Each region is checked against
// what OpenMP promises for the settings as they are. Most regions repeat the one before, so that
// libomp may run them in its lean way.

// Random regions, always the same ones; .ci/long draws others, for ten minutes.
//
// BUILD: clang -ldl
// BUILD: gcc -ldl
// TEST: settings
//   ARGS: --seed 1 --regions 1000
//   CHECK: --counter lean>=100
// TEST: sleepers
//   ARGS: --seed 2 --regions 500
//   ENV: KMP_BLOCKTIME=0 $trees
//   CHECK: --counter lean>=50
// TEST: roots
//   ARGS: --seed 3 --regions 200 --roots 3 --threads 4
//   ENV: KMP_BLOCKTIME=infinite
//   CHECK: --counter lean>=50
// TEST: cancellation
//   ARGS: --seed 4 --regions 500
//   ENV: OMP_CANCELLATION=true KMP_HOT_TEAMS_MODE=1
//   CHECK: --counter lean>=50
// TEST: inner
//   ARGS: --seed 5 --regions 500
//   ENV: KMP_HOT_TEAMS_MAX_LEVEL=2
//   CHECK: --counter lean>=50

#include <cstring>

#include "tests/libomp/programs/check.hpp"
#include "tests/libomp/region_fuzzer/changes.hpp"

namespace region_fuzzer {

constexpr const char* kHelp =
    "region_fuzzer [--seed N] [--seconds N] [--regions N] [--roots N] [--threads N] [--hang-after "
    "SECONDS]\n"
    "              [--verbose]\n"
    "  Runs random parallel regions for so many seconds (10), or so many regions, in each of "
    "--roots threads (1)\n"
    "  of the program at once, with at most --threads threads each (6). A region that takes longer "
    "than\n"
    "  --hang-after seconds (60) counts as hanging: the stacks are shown.\n"
    "  Exit status: 0 all were right, 1 one was not, 2 wrong usage, 3 one hangs.\n";

struct Options {
  std::uint64_t seed = 1;
  long seconds = 10;
  long regions = 0;
  int roots = 1;
  int threads = 6;
  int hang_after_s = 60;
};

[[noreturn]] void complain(const std::string& message) {
  std::fprintf(stderr, "region_fuzzer: %s; --help prints what is allowed\n", message.c_str());
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    }
    if (name == "--verbose") {
      is_verbose = true;
      continue;
    }
    if (++i == argc) complain("'" + name + "' is unknown or needs a value");
    char* end = nullptr;
    const long value = std::strtol(argv[i], &end, 10);
    if (*end != '\0' || value < 1)
      complain(name + ": '" + argv[i] + "' must be a number from 1 on");
    if (name == "--seed")
      options.seed = static_cast<std::uint64_t>(value);
    else if (name == "--seconds")
      options.seconds = value;
    else if (name == "--regions")
      options.regions = value;
    else if (name == "--roots" && value <= 16)
      options.roots = static_cast<int>(value);
    else if (name == "--threads" && value <= kMaxThreads)
      options.threads = static_cast<int>(value);
    else if (name == "--hang-after")
      options.hang_after_s = static_cast<int>(value);
    else
      complain("'" + name + " " + argv[i] + "' is not allowed");
  }
  return options;
}

using Clock = std::chrono::steady_clock;

std::atomic<long> num_regions[16];

long run_root(const Options& options, int root) {
  Generator generator(options.seed, root, options.roots == 1, options.threads);
  generator.begin();
  const auto end = Clock::now() + std::chrono::seconds(options.seconds);
  long number = 0;
  for (; options.regions > 0 ? number < options.regions : Clock::now() < end; ++number) {
    generator.change_something();
    const Step& step = generator.next_step(number);
    if (is_verbose) step.print();
    run(step, generator.model());
    num_regions[root].store(number + 1, std::memory_order_relaxed);
  }
  return number;
}

// A root that makes no progress for so long hangs.
[[noreturn]] void watch(const Options& options) {
  long seen[16] = {};
  int still[16] = {};
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    for (int root = 0; root < options.roots; ++root) {
      const long now = num_regions[root].load(std::memory_order_relaxed);
      still[root] = now == seen[root] && now >= 0 ? still[root] + 1 : 0;
      seen[root] = now;
      if (still[root] < options.hang_after_s) continue;
      std::fprintf(stderr,
                   "HANGS: root %d in region %ld\n  again: region_fuzzer --seed %llu --regions %ld "
                   "--roots %d --threads %d\n",
                   root, now, static_cast<unsigned long long>(options.seed), now + 1, options.roots,
                   options.threads);
      omp_test::show_stacks();
      std::_Exit(3);
    }
  }
}

int run_all(const Options& options) {
  std::thread(watch, options).detach();
  std::atomic<long> total{0};
  const auto count = [&](int root) {
    total += run_root(options, root);
    num_regions[root] = -1;
  };
  std::thread others[16];
  for (int root = 1; root < options.roots; ++root) others[root] = std::thread(count, root);
  count(0);
  for (int root = 1; root < options.roots; ++root) others[root].join();
  std::printf("%ld regions, all right\n", total.load());
  return 0;
}

}  // namespace region_fuzzer

int main(int argc, char** argv) { return region_fuzzer::run_all(region_fuzzer::parse(argc, argv)); }
