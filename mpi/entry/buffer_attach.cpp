// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Buffer_attach in C and Fortran, for Open MPI only. Barriers differ in a process that has a
// buffer for MPI_Bsend (docs/decisions/0159).

#include <mpi.h>

#include "mpi/entry/raw_handle.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/setup/process_state.hpp"

namespace {

int attach(const hierbar::mpi::Pmpi& pmpi, void* buffer, int size) {
  hierbar::mpi::ProcessState::get().send_buffer_comes();
  return pmpi.Buffer_attach(buffer, size);
}

}  // namespace

HIERBAR_ENTRY(int, MPI_Buffer_attach, void* buffer, int size) {
  const hierbar::mpi::Pmpi* const pmpi = hierbar::mpi::find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Buffer_attach, PMPI_Buffer_attach, buffer, size);
  return attach(*pmpi, buffer, size);
}

// With mpi_f08 the status is optional.
#define HIERBAR_FORTRAN_ATTACH(name, profiling_name)                                             \
  HIERBAR_ENTRY(void, name, void* buffer, const MPI_Fint* size, MPI_Fint* status) {              \
    const hierbar::mpi::Pmpi* const pmpi = hierbar::mpi::find_pmpi(__builtin_return_address(0)); \
    if (pmpi == nullptr) HIERBAR_PASS_ON(name, profiling_name, buffer, size, status);            \
    const int result = attach(*pmpi, buffer, *size);                                             \
    if (status != nullptr) *status = result;                                                     \
  }
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_ATTACH, mpi_buffer_attach, MPI_BUFFER_ATTACH)
