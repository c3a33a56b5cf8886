! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! A hundred calls of MPI_Reduce_scatter_block in Fortran, by the interface that a macro names: MPIF,
! MODULE or F08. Every other one is in place. In one job with `reduce_scatters shared`, which makes
! the same calls in C.
program fortran_reduce_scatters
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if defined(MPIF)
  include 'mpif.h'
#endif
  integer :: round, error, rank, num_ranks, i
  integer :: out(2)
  integer, allocatable :: in(:, :)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks, error)
  allocate(in(2, 0:num_ranks - 1))
  do round = 1, 50
    in(1, :) = [(num_ranks * round + i, i = 0, num_ranks - 1)]
    in(2, :) = rank
    out = -1
    error = -1
    call MPI_Reduce_scatter_block(in, out, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    call check(out)
    error = -1
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, in, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    call check(in(:, 0))
  end do
  call MPI_Finalize(error)
contains
  subroutine check(found)
    integer, intent(in) :: found(2)
    integer :: ignored
    if (error == MPI_SUCCESS .and. all(found == [num_ranks * round + rank, num_ranks - 1])) return
    print *, 'rank', rank, 'round', round, 'error', error, 'found', found
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
