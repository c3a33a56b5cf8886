// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace hierbar::bench {

using Variables = std::map<std::string, std::string>;  // of the environment, by name

struct ChildResult {
  std::string output;   // what it wrote to stdout
  std::string errors;   // what it wrote to stderr
  std::string failure;  // empty when it exited with 0; else why not, on one line
};

// Runs argv[0], a path, and waits for its end. Its environment is this process's without the settings of any OpenMP runtime
// (KMP_*, OMP_*, GOMP_*) and of the loader (LD_LIBRARY_PATH, LD_PRELOAD), which would reach every configuration alike, plus
// `variables` and one of a random length, HIERBAR_BENCH_PADDING. A child that runs longer than `timeout` is killed; one whose
// parent dies is killed by the kernel.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& argv, const Variables& variables,
                                    std::chrono::milliseconds timeout);

}  // namespace hierbar::bench
