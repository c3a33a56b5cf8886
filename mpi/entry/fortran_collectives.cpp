// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The collective calls with data in Fortran, for Open MPI only, whose routines call PMPI_Allreduce,
// say. Those of MPICH call MPI_Allreduce.
//
// The routines of mpif.h, `use mpi` and `use mpi_f08` have the same arguments: addresses of the
// buffers, and of the integers that the others are. A routine with descriptors of arrays would have
// another name, as mpi_allreduce_f08ts_.

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <concepts>
#include <cstddef>
#include <iterator>

#include "mpi/entry/collectives.hpp"
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

// The arguments by position, which are addresses of buffers and of INTEGER. An INTEGER has 4 bytes,
// or 8 where the library's has.
class FortranArguments {
 public:
  using Words = std::array<void*, 9>;

  FortranArguments(const Pmpi& pmpi, const void* caller, bool is_wide, const Words& words)
      : pmpi_(pmpi), known_(addresses(pmpi, caller)), is_wide_(is_wide), words_(words) {}

  void* buffer(std::size_t i) const {
    if (words_[i] == nullptr) return nullptr;
    if (known_.bottom.is(words_[i])) return MPI_BOTTOM;
    return known_.in_place.is(words_[i]) ? MPI_IN_PLACE : words_[i];
  }
  MPI_Count number(std::size_t i) const {
    return is_wide_ ? static_cast<MPI_Count>(*static_cast<const long long*>(words_[i]))
                    : static_cast<MPI_Count>(small(i));
  }
  // What fits into an int in any case, as handles do: the low bytes, which come first, are enough.
  MPI_Fint small(std::size_t i) const { return *static_cast<const MPI_Fint*>(words_[i]); }
  MPI_Datatype type(std::size_t i) const { return pmpi_.Type_f2c(small(i)); }
  MPI_Op op(std::size_t i) const { return pmpi_.Op_f2c(small(i)); }
  MPI_Comm comm(std::size_t i) const { return from_fortran(pmpi_, small(i)); }

 private:
  const Pmpi& pmpi_;
  const FortranAddresses& known_;
  bool is_wide_;
  const Words& words_;
};

// The calls, and which argument is the communicator. The status is behind that.
void read(const FortranArguments& given, FoldCall& call) {
  call = {given.buffer(0), given.buffer(1), given.number(2), given.type(3), given.op(4), false};
}
void read(const FortranArguments& given, BcastCall& call) {
  call = {given.buffer(0), given.number(1), given.type(2), given.small(3), false};
}
void read(const FortranArguments& given, ReduceCall& call) {
  call = {given.buffer(0),
          given.buffer(1),
          given.number(2),
          given.type(3),
          given.op(4),
          given.small(5),
          false};
}
void read(const FortranArguments& given, ExchangeCall& call) {
  call = {{given.buffer(0), given.number(1), given.type(2)},
          {given.buffer(3), given.number(4), given.type(5)},
          false};
}
void read(const FortranArguments& given, RootedCall& call) {
  call = {{given.buffer(0), given.number(1), given.type(2)},
          {given.buffer(3), given.number(4), given.type(5)},
          given.small(6),
          false};
}
template <class Call>
constexpr std::size_t kCommOf = 6;
template <std::derived_from<RootedCall> Call>
constexpr std::size_t kCommOf<Call> = 7;
template <std::derived_from<FoldCall> Call>
constexpr std::size_t kCommOf<Call> = 5;
template <>
constexpr std::size_t kCommOf<BcastCall> = 4;

// Whether the counts fit into C's functions. That of a buffer at MPI_IN_PLACE means nothing.
bool is_count_of_c(MPI_Count count) { return count >= 0 && count <= INT_MAX; }
template <class Call>
bool has_counts_of_c(const Call& call) {
  return is_count_of_c(call.count);
}
template <std::derived_from<ExchangeCall> Call>
bool has_counts_of_c(const Call& call) {
  return is_count_of_c(call.out.count) && (call.is_in_place() || is_count_of_c(call.in.count));
}

// That of what all ranks have means nothing in others than the root, and may be any number. In the
// root it is found to be wrong later, if it is.
template <std::derived_from<RootedCall> Call>
bool has_counts_of_c(const Call& call) {
  return is_count_of_c((call.is_in_place() ? call.all() : call.own()).count);
}

// Returns false, with nothing done, where the routine of the library is to run.
template <class Call>
bool serve_fortran(const FortranRoutine::Calls& calls, const void* caller,
                   const FortranArguments::Words& words) {
  if (calls.pmpi == nullptr || !serves_collectives()) return false;
  const Pmpi& pmpi = *calls.pmpi;
  if (pmpi.Type_f2c == nullptr || pmpi.Op_f2c == nullptr) return false;
  const FortranArguments given(pmpi, caller, calls.is_wide, words);
  Call call;
  read(given, call);
  // The library's routine raises this error in its own way.
  if (!has_counts_of_c(call)) return false;
  const int status = call_collective(pmpi, given.comm(kCommOf<Call>), call);
  FortranRoutine::store(words[kCommOf<Call> + 1], status, calls.is_wide);
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

using hierbar::mpi::AllgatherCall;
using hierbar::mpi::AllreduceCall;
using hierbar::mpi::AlltoallCall;
using hierbar::mpi::BcastCall;
using hierbar::mpi::FortranRoutine;
using hierbar::mpi::GatherCall;
using hierbar::mpi::ReduceCall;
using hierbar::mpi::ReduceScatterBlockCall;
using hierbar::mpi::ScatterCall;

#define HIERBAR_FORTRAN_COLLECTIVE(Call, name)                                                    \
  HIERBAR_ENTRY(long, name, HIERBAR_ANY_PARAMETERS(a, b, c)) {                                    \
    static constinit FortranRoutine routine(#name);                                               \
    const void* const caller = __builtin_return_address(0);                                       \
    const FortranRoutine::Calls calls = routine.find(caller, Call::kTool);                        \
    const hierbar::mpi::FortranArguments::Words words{a,                                          \
                                                      b,                                          \
                                                      c,                                          \
                                                      reinterpret_cast<void*>(d),                 \
                                                      reinterpret_cast<void*>(e),                 \
                                                      reinterpret_cast<void*>(f),                 \
                                                      reinterpret_cast<void*>(g),                 \
                                                      reinterpret_cast<void*>(h),                 \
                                                      reinterpret_cast<void*>(i)};                \
    if (!hierbar::mpi::serve_fortran<Call>(calls, caller, words)) {                               \
      return hierbar::mpi::library_routine(calls, caller, #name)(HIERBAR_ANY_ARGUMENTS(a, b, c)); \
    }                                                                                             \
    return 0;                                                                                     \
  }
#define HIERBAR_FORTRAN_ALLGATHER(name, profiling_name) \
  HIERBAR_FORTRAN_COLLECTIVE(AllgatherCall, name)
#define HIERBAR_FORTRAN_ALLTOALL(name, profiling_name) \
  HIERBAR_FORTRAN_COLLECTIVE(AlltoallCall, name)
#define HIERBAR_FORTRAN_ALLREDUCE(name, profiling_name) \
  HIERBAR_FORTRAN_COLLECTIVE(AllreduceCall, name)
#define HIERBAR_FORTRAN_BCAST(name, profiling_name) HIERBAR_FORTRAN_COLLECTIVE(BcastCall, name)
#define HIERBAR_FORTRAN_GATHER(name, profiling_name) HIERBAR_FORTRAN_COLLECTIVE(GatherCall, name)
#define HIERBAR_FORTRAN_REDUCE(name, profiling_name) HIERBAR_FORTRAN_COLLECTIVE(ReduceCall, name)
#define HIERBAR_FORTRAN_REDUCE_SCATTER_BLOCK(name, profiling_name) \
  HIERBAR_FORTRAN_COLLECTIVE(ReduceScatterBlockCall, name)
#define HIERBAR_FORTRAN_SCATTER(name, profiling_name) HIERBAR_FORTRAN_COLLECTIVE(ScatterCall, name)
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_ALLGATHER, mpi_allgather, MPI_ALLGATHER)
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_ALLTOALL, mpi_alltoall, MPI_ALLTOALL)
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_ALLREDUCE, mpi_allreduce, MPI_ALLREDUCE)
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_BCAST, mpi_bcast, MPI_BCAST)
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_GATHER, mpi_gather, MPI_GATHER)
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_REDUCE, mpi_reduce, MPI_REDUCE)
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_REDUCE_SCATTER_BLOCK, mpi_reduce_scatter_block,
                      MPI_REDUCE_SCATTER_BLOCK)
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_SCATTER, mpi_scatter, MPI_SCATTER)
