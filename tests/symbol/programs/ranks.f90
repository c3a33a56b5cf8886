! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! Barriers of ranks; see sites.c.

subroutine exchange(comm)
  include 'mpif.h'
  integer :: comm, problem
  call MPI_Barrier(comm, problem) ! subroutine
end subroutine

program field
  use mpi
  integer :: problem, k
  call MPI_Init(problem)
  do k = 1, 50
    call exchange(MPI_COMM_WORLD)
    call MPI_Barrier(MPI_COMM_WORLD, problem) ! program
  end do
  call MPI_Finalize(problem)
end program
