// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

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
  for (std::size_t size; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) result.output.append(buffer.data(), size);
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

}  // namespace hierbar::test
