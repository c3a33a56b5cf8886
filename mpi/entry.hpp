// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "mpi/pmpi.hpp"

namespace hierbar::mpi {

// A handle as the caller passes it: a pointer or an integer, according to the program's MPI library, which may be another than
// this shim was built for. As a word it can be passed on either way.
using Word = std::uintptr_t;

template <class Handle>
Handle handle_in(Word word) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(word);
  } else {
    return static_cast<Handle>(word);
  }
}

}  // namespace hierbar::mpi

// HIERBAR_ENTRY(<result>, <MPI function>, <parameter>...) { ... }: what programs call instead of their MPI library's function.
// mpi.h declares that with its own types for handles; hence another name in the source.
#define HIERBAR_ENTRY(result, name, ...)                                                               \
  extern "C" __attribute__((visibility("default"))) result hierbar_##name(__VA_ARGS__) __asm__(#name); \
  result hierbar_##name(__VA_ARGS__)

// Inside of an entry, when find_pmpi() has returned null: returns what the function does that stands behind it.
#define HIERBAR_PASS_ON(name, profiling_name, ...)                             \
  do {                                                                         \
    static void* const next = hierbar::mpi::find_next(#name, #profiling_name); \
    return reinterpret_cast<decltype(&hierbar_##name)>(next)(__VA_ARGS__);     \
  } while (false)
