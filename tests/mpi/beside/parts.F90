! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! The half in Fortran of a program whose other half is parts.c. With -DF08 by mpi_f08, whose routines
! call PMPI functions in MPICH, too.
#ifdef F08
program parts
  use mpi_f08
  implicit none
  integer :: round
  type(MPI_Comm) :: comm
  call MPI_INIT()
  do round = 1, 10
    call MPI_COMM_DUP(MPI_COMM_WORLD, comm)
    call MPI_BARRIER(comm)
    call MPI_COMM_FREE(comm)
  end do
  do round = 1, 90
    call MPI_BARRIER(MPI_COMM_WORLD)
  end do
  call MPI_FINALIZE()
end program
#else
program parts
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
#endif
