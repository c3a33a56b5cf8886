// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Allreduce in Fortran, for Open MPI only, whose routines call PMPI_Allreduce. Those of MPICH
// call MPI_Allreduce.
//
// The routines of mpif.h, `use mpi` and `use mpi_f08` have the same arguments: addresses of the
// buffers, and of the integers that the others are. A routine with descriptors of arrays would have
// another name, mpi_allreduce_f08ts_.

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "mpi/entry/allreduce.hpp"
#include "mpi/entry/entry_points.hpp"
#include "mpi/library/family.hpp"
#include "mpi/library/mpi_symbols.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {
namespace {

// One of Open MPI's constants that are addresses in Fortran. Each spelling of a name may be a
// variable of its own, and a program and a module of an interpreter may each have theirs. Nobody
// keeps data in any of them.
class FortranAddress {
 public:
  FortranAddress(const Pmpi& pmpi, const void* caller,
                 const std::array<const char*, 4>& spellings) {
    auto* next = addresses_.begin();
    for (const char* name : spellings) {
      *next++ = dlsym(RTLD_DEFAULT, name);
      *next++ = definition_behind(caller, name);
      *next++ = definition_behind(reinterpret_cast<const void*>(pmpi.Barrier), name);
    }
  }

  // `buffer` must not be null.
  bool is(const void* buffer) const noexcept {
    return std::find(addresses_.begin(), addresses_.end(), buffer) != addresses_.end();
  }

 private:
  std::array<const void*, 12> addresses_{};
};

struct FortranAddresses {
  FortranAddress in_place;
  FortranAddress bottom;
};

const FortranAddresses& addresses(const Pmpi& pmpi, const void* caller) {
  static const FortranAddresses found{{pmpi,
                                       caller,
                                       {"mpi_fortran_in_place", "mpi_fortran_in_place_",
                                        "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"}},
                                      {pmpi,
                                       caller,
                                       {"mpi_fortran_bottom", "mpi_fortran_bottom_",
                                        "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"}}};
  return found;
}

// The arguments by position. Their integers have 4 bytes, or 8 where the library's INTEGER has.
struct FortranArguments {
  const void* in;
  void* out;
  const void* count;
  const void* type;
  const void* op;
  const void* comm;

  // Handles are small: the low bytes, which come first, are enough.
  MPI_Fint handle(const void* argument) const { return *static_cast<const MPI_Fint*>(argument); }
  MPI_Count number(bool is_wide) const {
    return is_wide ? static_cast<MPI_Count>(*static_cast<const long long*>(count))
                   : static_cast<MPI_Count>(*static_cast<const MPI_Fint*>(count));
  }
};

// Whether the shim can tell what the buffers are: an address that nothing is known of is memory.
bool is_in_memory(const FortranAddresses& known, const void* buffer) noexcept {
  return buffer != nullptr && !known.bottom.is(buffer);
}

// Returns false, with nothing done, where the routine of the library is to run.
bool serve_fortran(const FortranRoutine::Calls& calls, const void* caller,
                   const FortranArguments& given, int& status) {
  if (calls.pmpi == nullptr || !serves_allreduces()) return false;
  const Pmpi& pmpi = *calls.pmpi;
  if (pmpi.Type_f2c == nullptr || pmpi.Op_f2c == nullptr) return false;
  const FortranAddresses& known = addresses(pmpi, caller);
  const MPI_Count count = given.number(calls.is_wide);
  // The library's routine raises errors in its own way.
  if (!is_in_memory(known, given.in) || !is_in_memory(known, given.out) ||
      known.in_place.is(given.out) || count < 0 || count > INT_MAX)
    return false;
  const void* const in = known.in_place.is(given.in) ? MPI_IN_PLACE : given.in;
  status = allreduce(pmpi, from_fortran(pmpi, given.handle(given.comm)),
                     {in, given.out, count, pmpi.Type_f2c(given.handle(given.type)),
                      pmpi.Op_f2c(given.handle(given.op)), false});
  return true;
}

// The library's routine, which only the caller may see.
AnyFunction library_routine(const FortranRoutine::Calls& calls, const void* caller,
                            const char* name) {
  return calls.next != nullptr ? calls.next
                               : reinterpret_cast<AnyFunction>(definition_behind(caller, name));
}

}  // namespace
}  // namespace hierbar::mpi

using hierbar::mpi::FortranRoutine;
using hierbar::mpi::Pmpi;

#define HIERBAR_FORTRAN_ALLREDUCE(name, profiling_name)                                   \
  HIERBAR_ENTRY(long, name, HIERBAR_ANY_PARAMETERS(in, out, count)) {                     \
    static constinit FortranRoutine routine(#name);                                       \
    const void* const caller = __builtin_return_address(0);                               \
    const FortranRoutine::Calls calls = routine.find(caller, &Pmpi::allreduce_tool);      \
    int status = MPI_SUCCESS;                                                             \
    const hierbar::mpi::FortranArguments given{in,                                        \
                                               out,                                       \
                                               count,                                     \
                                               reinterpret_cast<void*>(d),                \
                                               reinterpret_cast<void*>(e),                \
                                               reinterpret_cast<void*>(f)};               \
    if (!hierbar::mpi::serve_fortran(calls, caller, given, status)) {                     \
      return hierbar::mpi::library_routine(calls, caller,                                 \
                                           #name)(HIERBAR_ANY_ARGUMENTS(in, out, count)); \
    }                                                                                     \
    FortranRoutine::store(reinterpret_cast<void*>(g), status, calls.is_wide);             \
    return 0;                                                                             \
  }
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_ALLREDUCE, mpi_allreduce, MPI_ALLREDUCE)
