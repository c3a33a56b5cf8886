// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Buffer_attach in C and Fortran, for Open MPI only. Barriers differ in a process that has a
// buffer for MPI_Bsend (docs/design/mpi-calls.md#d0159).

#include <mpi.h>

#include "mpi/barrier/process_state.hpp"
#include "mpi/entry/entry_points.hpp"
#include "mpi/library/pmpi.hpp"

using hierbar::mpi::FortranRoutine;
using hierbar::mpi::ProcessState;

HIERBAR_ENTRY(int, MPI_Buffer_attach, void* buffer, int size) {
  const hierbar::mpi::Pmpi* const pmpi = hierbar::mpi::find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Buffer_attach, PMPI_Buffer_attach, buffer, size);
  ProcessState::get().send_buffer_comes();
  return pmpi->next.Buffer_attach(buffer, size);
}

// Noted also where a tool or a function of the program's has the name: that costs time, and no
// more.
#define HIERBAR_FORTRAN_ATTACH(name, profiling_name)                                             \
  HIERBAR_ENTRY(long, name, HIERBAR_ANY_PARAMETERS(buffer, size, status)) {                      \
    static constinit FortranRoutine routine(#name);                                              \
    const void* const caller = __builtin_return_address(0);                                      \
    const FortranRoutine::Calls calls = routine.find(caller, nullptr);                           \
    const hierbar::mpi::Pmpi* const pmpi = hierbar::mpi::find_pmpi(caller);                      \
    if (pmpi != nullptr) ProcessState::get().send_buffer_comes();                                \
    if (calls.next != nullptr) return calls.next(HIERBAR_ANY_ARGUMENTS(buffer, size, status));   \
    FortranRoutine::store(status,                                                                \
                          pmpi->next.Buffer_attach(buffer, *static_cast<const MPI_Fint*>(size)), \
                          calls.is_wide);                                                        \
    return 0;                                                                                    \
  }
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_ATTACH, mpi_buffer_attach, MPI_BUFFER_ATTACH)
