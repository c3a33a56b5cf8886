// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

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

}  // namespace hierbar
