// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs random OpenMP programs and checks what they do behind each barrier and wait.
//
//   task_fuzzer --seed N [--programs N] [--roots N] [--no-detach] [--hang-after SECONDS] [--print]
//
// Program k of a run is made from seed N + k; 20 are run when --programs is not given. Equal seeds
// give equal programs, not equal schedules. --print shows the programs and runs none. Exit status:
// 0 all right, 1 a check failed, an abort for a hang.

// BUILD: clang
// BUILD: gcc

#include <sys/prctl.h>

#include <climits>
#include <string>
#include <thread>

#include "constructs.hpp"
#include "generate.hpp"
#include "ledger.hpp"
#include "tests/libomp/programs/check.hpp"
#include "threads.hpp"

namespace fuzzer {

void run_node(Context& context, const Node& node) {
  own_position.node() = node.id;
  switch (node.kind) {
    case Kind::kBarrier:
      return run_barrier(context);
    case Kind::kLoop:
      return run_loop(context, node);
    case Kind::kReductionLoop:
      return;  // run_region() does it
    case Kind::kSingle:
      return run_single(context, node);
    case Kind::kSections:
      return run_sections(context, node);
    case Kind::kOneThread:
      return run_one_thread(context, node);
    case Kind::kCancelLoop:
      return run_cancelled_loop(context, node);
    case Kind::kTask:
      return create_task(context, node);
    case Kind::kTaskwait:
      return run_taskwait(context);
    case Kind::kTaskgroup:
      return run_taskgroup(context, node);
    case Kind::kCancelGroup:
      return run_cancelled_taskgroup(context, node);
    case Kind::kTaskloop:
      return run_taskloop(context, node);
    case Kind::kTaskReduction:
      return run_task_reduction(context, node);
    case Kind::kCritical:
      return run_critical(node);
    case Kind::kDelay:
      return delay(node.count);
    case Kind::kRegion:
      return run_region(node, context.may_be_cancelled);
    case Kind::kCancelRegion:
      return run_cancelled_region(node);
    case Kind::kYield: {
#pragma omp taskyield
      return;
    }
  }
}

void run(Context& context, const std::vector<Node>& nodes) {
  for (const Node& node : nodes) run_node(context, node);
}

static void run_root(const std::vector<Node>& regions) {
  omp_set_max_active_levels(3);
  for (const Node& node : regions) {
    own_position.node() = node.id;
    node.kind == Kind::kRegion ? run_region(node, false) : run_cancelled_region(node);
  }
}

static void run(RootThreads& threads, const Program& program) {
  std::vector<std::function<void()>> jobs;
  for (const std::vector<Node>& root : program.roots) jobs.push_back([&root] { run_root(root); });
  threads.run(jobs);
}

// Ends the process when a program takes too long.
static void watch(int limit_s) {
  using Clock = std::chrono::steady_clock;
  long last_seen = -1;
  for (auto last_change = Clock::now();;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (running.num_done.load() != last_seen) {
      last_seen = running.num_done.load();
      last_change = Clock::now();
    }
    if (Clock::now() - last_change < std::chrono::seconds(limit_s)) continue;
    report("a program hangs");
    omp_test::show_stacks();
    std::abort();
  }
}

struct Options {
  std::uint64_t seed = 1;
  int num_programs = 20;
  int hang_after_s = 20;
  bool only_prints = false;
  Limits limits;
};

[[noreturn]] static void complain(const char* argument) {
  std::fprintf(stderr,
               "task_fuzzer: %s: allowed are --seed N, --programs N, --roots N, --hang-after "
               "SECONDS, --no-detach and --print, "
               "with numbers from 1 on\n",
               argument);
  std::exit(2);
}

static Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--print") {
      options.only_prints = true;
      continue;
    }
    if (name == "--no-detach") {
      options.limits.with_detach = false;
      continue;
    }
    if (++i == argc) complain(name.c_str());
    char* end = nullptr;
    const long long value = std::strtoll(argv[i], &end, 10);
    if (*end != '\0' || value < 1) complain(argv[i]);
    if (name == "--seed")
      options.seed = static_cast<std::uint64_t>(value);
    else if (name == "--programs")
      options.num_programs = static_cast<int>(value);
    else if (name == "--roots")
      options.limits.max_roots = static_cast<int>(value);
    else if (name == "--hang-after")
      options.hang_after_s = static_cast<int>(value);
    else
      complain(name.c_str());
  }
  return options;
}

static int run_all(const Options& options) {
  omp_set_dynamic(0);
  if (!options.only_prints) std::thread(watch, options.hang_after_s).detach();
  ForeignThreads fulfillers;
  foreign_threads = &fulfillers;
  RootThreads root_threads;
  for (int i = 0; i < options.num_programs; ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i);
    const Program program = Generator(seed, options.limits).make();
    running.seed = seed;
    running.program = &program;
    if (options.only_prints)
      print(stdout, program);
    else
      run(root_threads, program);
    running.program = nullptr;
    ++running.num_done;
  }
  return 0;
}

}  // namespace fuzzer

int main(int argc, char** argv) { return fuzzer::run_all(fuzzer::parse(argc, argv)); }
