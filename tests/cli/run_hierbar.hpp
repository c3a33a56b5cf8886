// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace hierbar::test {

struct CommandResult {
  int exit_code;
  std::string output;
  std::string errors;
};

// Runs `env <words>` through the shell: variables, then a program with arguments.
inline CommandResult run_shell(const std::string& words) {
  const std::string errors_path = "hierbar_errors_" + std::to_string(getpid());
  const std::string command = "env -u HIERBAR_TOPOLOGY " + words + " 2>" + errors_path;
  CommandResult result{-1, "", ""};
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer;
  for (std::size_t size; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    result.output.append(buffer.data(), size);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  std::ifstream errors(errors_path);
  result.errors.assign(std::istreambuf_iterator<char>(errors), {});
  unlink(errors_path.c_str());
  return result;
}

// Runs `<variables> hierbar <arguments>` through the shell. HIERBAR_COMMAND is the program's path.
inline CommandResult run_hierbar(const std::string& arguments, const std::string& variables = "") {
  return run_shell(variables + " '" HIERBAR_COMMAND "' " + arguments);
}

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
  return "-u OMP_PLACES -u OMP_PROC_BIND -u OMP_NUM_THREADS -u KMP_BARRIER -u HIERBAR_PLACE " +
         text;
}

}  // namespace hierbar::test
