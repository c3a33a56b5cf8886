! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! A hundred barriers in Fortran, by the interface that a macro names: MPIF, MODULE or F08.
#if defined(F08)
program fortran
  use mpi_f08
  implicit none
  integer :: round, error
  type(MPI_Comm) :: copy
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  do round = 1, 50
    call MPI_Barrier(copy)  ! without the optional status
    error = -1
    call MPI_Barrier(copy, error)
    if (error /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1)
  end do
  call MPI_Comm_free(copy)
  call MPI_Finalize()
end program
#else
program fortran
#if defined(MODULE)
  use mpi
  implicit none
#elif defined(MPIF)
  implicit none
  include 'mpif.h'
#endif
  integer :: round, error
  call MPI_INIT(error)
  do round = 1, 100
    error = -1
    call MPI_BARRIER(MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS) call MPI_ABORT(MPI_COMM_WORLD, 1, error)
  end do
  call MPI_FINALIZE(error)
end program
#endif
