// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace hierbar::bench {

using Variables = std::map<std::string, std::string>;  // values of environment variables, by name

struct ChildResult {
  std::string output;   // what the child wrote to stdout
  std::string errors;   // what the child wrote to stderr
  std::string failure;  // one line that says why the child failed; empty if it exited with 0
};

// Runs argv[0], which is a path, and waits for its end. A child that runs longer than `timeout` is
// killed. If the parent dies, the kernel kills the child.
//
// The child's environment is this process's, with two changes. The settings of OpenMP runtimes
// (KMP_*, OMP_*, GOMP_*) and of the loader (LD_LIBRARY_PATH, LD_PRELOAD) are removed, because they
// would affect all configurations. `variables` are added, and one of random length,
// HIERBAR_BENCH_PADDING.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& argv,
                                    const Variables& variables, std::chrono::milliseconds timeout);

}  // namespace hierbar::bench
