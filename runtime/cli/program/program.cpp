// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

namespace hierbar {

Program cut_off_program(int& argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    Program program(argv + i + 1, argv + argc);
    argc = i;
    return program;
  }
  return {};
}

bool starts_programs(std::string_view command) {
  return command == "advise" || command == "check" || command == "doctor" || command == "run" || command == "show" ||
         command == "tune";
}

int become(const Program& program) {
  std::vector<char*> arguments;
  for (const std::string& argument : program) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::cout.flush();
  execvp(arguments[0], arguments.data());
  const int problem = errno;
  std::cerr << "hierbar: cannot run '" << program[0] << "': " << std::strerror(problem) << '\n';
  return problem == ENOENT ? 127 : 126;
}

std::string shell_quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string shell_line(const Program& program) {
  std::string text;
  for (const std::string& word : program) text += (text.empty() ? "" : " ") + shell_quoted(word);
  return text;
}

}  // namespace hierbar
