// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPICH's functions for communicators of threads, and MPI_Comm_dup, which duplicates them.

#include <mpi.h>

#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/entry/raw_handle.hpp"
#include "mpi/team/threadcomm.hpp"

using hierbar::mpi::find_pmpi;
using hierbar::mpi::handle_in;
using hierbar::mpi::Pmpi;
using hierbar::mpi::ProcessState;
using hierbar::mpi::RawHandle;

HIERBAR_ENTRY(int, MPIX_Threadcomm_init, RawHandle comm, int num_threads, MPI_Comm* made) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPIX_Threadcomm_init, PMPIX_Threadcomm_init, comm, num_threads, made);
  if (pmpi->next.Threadcomm_init == nullptr) return MPI_ERR_OTHER;
  if (pmpi->has_user_threads) return pmpi->next.Threadcomm_init(handle_in<MPI_Comm>(comm), num_threads, made);
  return hierbar::mpi::init_threadcomm(ProcessState::get(), *pmpi, handle_in<MPI_Comm>(comm), num_threads, made);
}

HIERBAR_ENTRY(int, MPIX_Threadcomm_start, RawHandle comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPIX_Threadcomm_start, PMPIX_Threadcomm_start, comm);
  if (pmpi->next.Threadcomm_start == nullptr) return MPI_ERR_OTHER;
  return hierbar::mpi::start_threadcomm(*pmpi, handle_in<MPI_Comm>(comm));
}

HIERBAR_ENTRY(int, MPIX_Threadcomm_finish, RawHandle comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPIX_Threadcomm_finish, PMPIX_Threadcomm_finish, comm);
  if (pmpi->next.Threadcomm_finish == nullptr) return MPI_ERR_OTHER;
  return hierbar::mpi::finish_threadcomm(*pmpi, handle_in<MPI_Comm>(comm));
}

HIERBAR_ENTRY(int, MPIX_Threadcomm_free, MPI_Comm* comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPIX_Threadcomm_free, PMPIX_Threadcomm_free, comm);
  if (pmpi->next.Threadcomm_free == nullptr) return MPI_ERR_OTHER;
  return hierbar::mpi::free_threadcomm(ProcessState::get(), *pmpi, comm);
}

HIERBAR_ENTRY(int, MPI_Comm_dup, RawHandle comm, MPI_Comm* made) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Comm_dup, PMPI_Comm_dup, comm, made);
  return hierbar::mpi::duplicate_comm(*pmpi, handle_in<MPI_Comm>(comm), made);
}
