// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <atomic>
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
#define HIERBAR_ENTRY(result, name, ...)                                                        \
  extern "C"                                                                                    \
      __attribute__((visibility("default"))) result hierbar_##name(__VA_ARGS__) __asm__(#name); \
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
#define HIERBAR_FORTRAN_NAMES(define, lower, upper)                                     \
  define(lower, p##lower) define(lower##_, p##lower##_) define(lower##__, p##lower##__) \
      define(upper, P##upper) define(lower##_f08_, p##lower##_f08_)

namespace hierbar::mpi {

// All that a function of any C or Fortran type is given in registers, on x86-64 and on AArch64, and
// its stack's words up to the ninth argument, the last one that a routine of MPI's here has. So a
// call can be passed on to a function of which nothing but the name is known.
#define HIERBAR_ANY_PARAMETERS(a, b, c)                                                          \
  void *a, void *b, void *c, long d, long e, long f, long g, long h, long i, double p, double q, \
      double r, double s, double t, double u, double v, double w
#define HIERBAR_ANY_ARGUMENTS(a, b, c) a, b, c, d, e, f, g, h, i, p, q, r, s, t, u, v, w
using AnyFunction = long (*)(HIERBAR_ANY_PARAMETERS(, , ));

// A routine of MPI's in Fortran under one of the names that compilers give it, as an entry point
// has to know it. Some of these names are names in C as well: a library of the program may have a
// function mpi_barrier() of its own, which the program's calls must reach.
//
// An object is a static variable of its entry point.
class FortranRoutine {
 public:
  explicit constexpr FortranRoutine(const char* name) noexcept : name_(name) {}

  // For the hot path, in one load. Null: ask find().
  // (F1) load-acquire; pairs with (F2).
  const Pmpi* served() const noexcept { return served_.load(std::memory_order_acquire); }

  // What the calls of this name are. `tool` is where tools that see them would be, through which
  // they are to go then; null: they go through none.
  struct Calls {
    const Pmpi* pmpi;  // null: no business of the shim's
    AnyFunction next;  // where they go without the shim; null: nowhere
    bool is_wide;      // INTEGER has 8 bytes
  };
  Calls find(const void* caller, CallTool Pmpi::* tool);

  // The caller's status; null: it has none, as it may be with mpi_f08.
  static void store(void* status, int result, bool is_wide) noexcept {
    if (status == nullptr) return;
    if (is_wide) {
      *static_cast<long long*>(status) = result;
    } else {
      *static_cast<MPI_Fint*>(status) = result;
    }
  }

 private:
  Calls look_up(const void* caller, CallTool Pmpi::* tool) const;

  const char* const name_;
  std::atomic<const Pmpi*> served_{nullptr};
  // (F3) release after `calls_` is written; pairs with (F4), the acquire of whoever reads it.
  std::atomic<bool> is_known_{false};
  Calls calls_{};
};

}  // namespace hierbar::mpi
