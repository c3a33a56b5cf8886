// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace hierbar::test {

// In front of a program: a launcher with two ranks on a core each, or on all cpus. Empty where it
// is not installed.
struct Launcher {
  const char* name;
  const char* on_cores;
  const char* anywhere;
};

inline constexpr Launcher kLaunchers[] = {
    {"mpiexec.mpich", "mpiexec.mpich -bind-to core -n 2", "mpiexec.mpich -bind-to none -n 2"},
    {"mpiexec.openmpi", "mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to core -n 2",
     "mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none -n 2"},
};

inline bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// What has to hold for two ranks to be bound to a core each; empty if it does.
inline std::string reason_to_skip(const Launcher& launcher) {
  if (!is_installed(launcher.name)) return std::string(launcher.name) + " is not installed";
  return std::thread::hardware_concurrency() < 2 ? "needs two cpus" : "";
}

// "mpich": what parametrised tests are called.
inline std::string launcher_name(const testing::TestParamInfo<Launcher>& launcher) {
  return std::string(launcher.param.name).substr(sizeof "mpiexec." - 1);
}

// Nothing of OpenMP's from outside, then what `text` sets and starts.
inline std::string fresh(const std::string& text) {
  return "-u OMP_PLACES -u OMP_PROC_BIND -u OMP_NUM_THREADS -u KMP_BARRIER -u HIERBAR_PLACE " + text;
}

}  // namespace hierbar::test
