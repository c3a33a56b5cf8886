! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! The half in Fortran of a program whose other half is parts.c.
program parts_fortran
  use mpi
  implicit none
  integer :: round, comm, error
  call MPI_INIT(error)
  do round = 1, 10
    call MPI_COMM_DUP(MPI_COMM_WORLD, comm, error)
    call MPI_BARRIER(comm, error)
    call MPI_COMM_FREE(comm, error)
  end do
  do round = 1, 90
    call MPI_BARRIER(MPI_COMM_WORLD, error)
  end do
  call MPI_FINALIZE(error)
end program
