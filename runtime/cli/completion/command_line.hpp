// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hierbar {

// What a shell has to know of an option.
struct OptionWords {
  enum class Value { kNone, kFile, kOther };
  std::vector<std::string> names;    // with their dashes
  std::string summary;               // one line
  Value value = Value::kNone;        // whether it takes one, and whether that names a file
  std::vector<std::string> choices;  // the words that the value may be; empty if it is no such word
};

struct CommandWords {
  std::string name;
  std::string summary;
  std::vector<OptionWords> options;
  std::vector<std::string> choices;  // of its argument
  bool takes_files = false;
  bool starts_program = false;  // behind "--"
};

// All commands of the program, in the order of its help, as they were declared to CLI11. A value's
// type name, which help shows, says what it can be: alternatives such as "close|spread", or FILE.
std::vector<CommandWords> describe_commands(const CLI::App& app);

std::string join(const std::vector<std::string>& words, const std::string& separator);

}  // namespace hierbar
