// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The Fortran interfaces. In MPICH the routines of mpif.h and `use mpi` call MPI_Barrier, but those
// of `use mpi_f08` call PMPI_Barrier, and so do all of Open MPI's. So all of them are entry points
// here. A handle is one INTEGER by reference, also as TYPE(MPI_Comm).

#include <mutex>
#include <string>

#include "mpi/entry/entry_points.hpp"
#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/library/family.hpp"
#include "mpi/settings/report_settings.hpp"

namespace hierbar::mpi {
namespace {

std::mutex routines_mutex;

// The definition that the program's calls reach without the shim: the next one, or that of the
// caller's file, which may be a plug-in that nobody else sees.
void* find_definition(const char* name, const void* caller) {
  if (void* const next = next_definition(name)) return next;
  return definition_inside(caller, name);
}

// How long the library's INTEGER is: it writes the status of a routine that may be called at any
// time.
bool has_wide_integer(const std::string& name) {
  const bool is_upper = name[0] == 'M';
  const std::string suffix = name.find("_f08_") != std::string::npos
                                 ? "_f08_"
                                 : name.substr(name.find_last_not_of('_') + 1);
  const std::string ask = (is_upper ? "MPI_INITIALIZED" : "mpi_initialized") + suffix;
  const auto initialized = reinterpret_cast<void (*)(void*, void*)>(next_definition(ask.c_str()));
  if (initialized == nullptr) return false;
  long long flag = 0, status = -1;
  initialized(&flag, &status);
  return status == MPI_SUCCESS;
}

}  // namespace

FortranRoutine::Calls FortranRoutine::look_up(const void* caller, CallTool Pmpi::* tool) const {
  void* const definition = find_definition(name_, caller);
  const auto next = reinterpret_cast<AnyFunction>(definition);
  if (definition != nullptr && !is_of_fortran_library(definition)) return {nullptr, next, false};
  const Pmpi* const pmpi = find_pmpi(caller);
  if (pmpi == nullptr)
    return {nullptr,
            reinterpret_cast<AnyFunction>(find_next(name_, ("p" + std::string(name_)).c_str())),
            false};
  if (tool != nullptr && (pmpi->*tool).exists() && next != nullptr) return {nullptr, next, false};
  return {pmpi, next, has_wide_integer(name_)};
}

FortranRoutine::Calls FortranRoutine::find(const void* caller, CallTool Pmpi::* tool) {
  if (!is_known_.load(std::memory_order_acquire)) {  // (F4)
    const std::lock_guard lock(routines_mutex);
    if (!is_known_.load(std::memory_order_relaxed)) {
      calls_ = look_up(caller, tool);
      is_known_.store(true, std::memory_order_release);  // (F3)
    }
  }
  // (F2) store-release of the library's table; pairs with (F1).
  if (!calls_.is_wide && !report_settings().asked)
    served_.store(calls_.pmpi, std::memory_order_release);
  return calls_;
}

}  // namespace hierbar::mpi

using hierbar::mpi::FortranRoutine;
using hierbar::mpi::from_fortran;
using hierbar::mpi::Pmpi;

namespace {

// `comm` points to an INTEGER of any length, whose low bytes come first.
MPI_Comm handle_at(const Pmpi& pmpi, const void* comm) {
  return from_fortran(pmpi, *static_cast<const MPI_Fint*>(comm));
}

}  // namespace

#define HIERBAR_FORTRAN_BARRIER(name, profiling_name)                                         \
  HIERBAR_ENTRY(long, name, HIERBAR_ANY_PARAMETERS(comm, status, c)) {                        \
    static constinit FortranRoutine routine(#name);                                           \
    const Pmpi* const served = routine.served();                                              \
    if (served != nullptr) [[likely]] {                                                       \
      FortranRoutine::store(status, hierbar::mpi::barrier(*served, handle_at(*served, comm)), \
                            false);                                                           \
      return 0;                                                                               \
    }                                                                                         \
    const void* const caller = __builtin_return_address(0);                                   \
    const FortranRoutine::Calls calls = routine.find(caller, &Pmpi::tool);                    \
    if (calls.pmpi != nullptr) {                                                              \
      FortranRoutine::store(                                                                  \
          status,                                                                             \
          hierbar::mpi::barrier_as_asked(*calls.pmpi, handle_at(*calls.pmpi, comm), caller),  \
          calls.is_wide);                                                                     \
      return 0;                                                                               \
    }                                                                                         \
    return hierbar::mpi::through_tool(                                                        \
        caller, [&] { return calls.next(HIERBAR_ANY_ARGUMENTS(comm, status, c)); });          \
  }
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_BARRIER, mpi_barrier, MPI_BARRIER)
