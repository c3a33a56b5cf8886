// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hierbar {

// What follows "--" on the command line: a program and its arguments. Empty if there is none.
using Program = std::vector<std::string>;

// Cuts "-- program ..." off the command line. `argc` then counts what is left. After the first "--"
// everything belongs to the program, options too.
Program cut_off_program(int& argc, char** argv);

// Whether this command takes a program behind "--".
bool starts_programs(std::string_view command);

// Replaces this process by the program, which is searched for as a shell does and gets this
// process's environment. Returns only on failure: prints a message and returns 127 or 126, as a
// shell does.
int become(const Program& program);

// The word, quoted for a shell if it needs quotes.
std::string shell_quoted(const std::string& word);
// The same of all words.
std::string shell_line(const Program& program);

}  // namespace hierbar
