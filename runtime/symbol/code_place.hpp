// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hierbar {

// The name as people write it, if it is one that a C++ or Fortran compiler has mangled; else as it
// is.
std::string demangle(const std::string& name);

// The name of the function in the source to which a function belongs that a compiler has made of a
// parallel region: "solve" of "solve._omp_fn.0" or "solve.omp_outlined". Empty if the name does not
// say it. Other names stay.
std::string source_function(const std::string& name);

// A C++ function's name without its parameters, its result, unnamed namespaces, and long arguments
// of templates: "model::step<int>" for "void (anonymous namespace)::model::step<int>(int) const".
std::string short_name(const std::string& name);

// What a symbol table calls a function, short, and with what a compiler has added to tell copies
// and parts of functions apart: "step.omp_outlined".
std::string symbol_name(const std::string& name);

// Whether a compiler has made the function of a part of another one.
bool is_outlined(const std::string& name);

// A program or library as this process has or had it in memory.
struct CodeObject {
  std::string path;         // from which it can be opened
  std::string name;         // for people: without directories
  std::uintptr_t bias = 0;  // what the loader has added to the file's addresses
  std::string build_id;     // as hexadecimal digits; empty if it has none
};

// Notes which object an address belongs to, so that it is still known when the library has been
// unloaded and another one has its place. Takes no lock of the loader: a barrier may be inside a
// library's initialisation, while the thread that loads it waits for the barrier's other threads.
// Does nothing where the C library cannot tell without that lock (glibc before 2.35).
void remember_code(const void* address);

// The object that had the address when it was remembered, or that has it now. `path` is empty if
// there is none. Takes the loader's lock.
CodeObject object_of(const void* address);

// The object that has the address now.
CodeObject loaded_object(const void* address);

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
