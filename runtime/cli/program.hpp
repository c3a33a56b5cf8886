// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace hierbar {

// What stands behind "--" on the command line: a program and its arguments. Empty when there is none.
using Program = std::vector<std::string>;

// Cuts "-- program ..." off the end of the command line; `argc` then counts what is left. Behind the first "--" everything is the
// program's, whatever it looks like.
Program cut_off_program(int& argc, char** argv);

// Becomes the program, found as a shell finds it, with this process's environment. Returns only when that fails, with what a
// shell returns then, 127 or 126, after a message.
int become(const Program& program);

// The word as a shell takes it.
std::string shell_quoted(const std::string& word);

}  // namespace hierbar
