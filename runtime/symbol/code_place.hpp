// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbol/code_object.hpp"

namespace hierbar {

// A function of the program and the line in it that is meant.
struct CodeFrame {
  std::string function;  // as its source has it, readable; empty if it has no name
  std::string file;      // as the compiler was given it
  std::uint32_t line = 0;
};

// What is known of a return address.
struct CodePlace {
  // The innermost function first. The others are those into which it was inlined, and the lines of
  // these calls. Empty if there is no debug information.
  std::vector<CodeFrame> frames;
  std::string symbol;               // "function+0x12", of the symbol table; empty if it has none
  CodeObject object;                // its path is empty if the address belongs to no file
  std::uintptr_t file_address = 0;  // in the object's file, as addr2line takes it
};

// A return address belongs to the call before it, so the line is that of the byte before it. Reads
// debug information, which takes milliseconds for large programs; keeps the answer. Takes the
// loader's lock. Without libdw.so.1 it only knows what the loader does.
CodePlace place_of(const void* return_address);

// While there is one, the files with debug information that place_of() opens stay open. Without one
// each call opens them anew.
class KeptDebugFiles {
 public:
  KeptDebugFiles();
  ~KeptDebugFiles();
  KeptDebugFiles(const KeptDebugFiles&) = delete;
  KeptDebugFiles& operator=(const KeptDebugFiles&) = delete;
};

// "solve (solver.c:40) in main (main.c:7)" if the line is known, else "solve+0x12 (libsolver.so)",
// else "libsolver.so+0x1234", else the address.
std::string to_string(const CodePlace& place, const void* address);

}  // namespace hierbar
