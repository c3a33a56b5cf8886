// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// A handle as the caller passes it: a pointer or an integer. Which one it is depends on the
// program's MPI library, which may be of another family than this shim. As a word it can be passed
// on unchanged (docs/design/mpi-calls.md#d0041).
using RawHandle = std::uintptr_t;

template <class Handle>
Handle handle_in(RawHandle word) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(word);
  } else {
    return static_cast<Handle>(word);
  }
}

}  // namespace hierbar::mpi

// HIERBAR_ENTRY(<result>, <MPI function>, <parameter>...) { ... } defines a function that programs
// call in place of their MPI library's. In the source it has another name, because mpi.h declares
// the function with other types for handles.
#define HIERBAR_ENTRY(result, name, ...)                                                               \
  extern "C" __attribute__((visibility("default"))) result hierbar_##name(__VA_ARGS__) __asm__(#name); \
  result hierbar_##name(__VA_ARGS__)

// For an entry point, when find_pmpi() has returned null: calls the next definition of the function
// and returns its result.
#define HIERBAR_PASS_ON(name, profiling_name, ...)                             \
  do {                                                                         \
    static void* const next = hierbar::mpi::find_next(#name, #profiling_name); \
    return reinterpret_cast<decltype(&hierbar_##name)>(next)(__VA_ARGS__);     \
  } while (false)

// Calls define(<name>, <profiling name>) with each name that Fortran compilers give to a routine of
// MPI. `lower` and `upper` are the routine's name in small and in capital letters.
#define HIERBAR_FORTRAN_NAMES(define, lower, upper)                                                             \
  define(lower, p##lower) define(lower##_, p##lower##_) define(lower##__, p##lower##__) define(upper, P##upper) \
      define(lower##_f08_, p##lower##_f08_)
