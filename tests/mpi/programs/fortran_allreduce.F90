! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! A hundred allreduces in Fortran, by the interface that a macro names: MPIF, MODULE or F08. The
! buffer of every other rank is MPI_IN_PLACE. In one job with `allreduces shared`, which makes the
! same calls in C.
program fortran_allreduce
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if defined(MPIF)
  include 'mpif.h'
#endif
  integer :: round, error, rank, num_ranks
  integer :: in(3), out(3)
  double precision :: sum
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks, error)
  do round = 1, 50
    in = [round, rank, -rank]
    error = -1
    if (mod(rank, 2) == 1) then
      out = in
      call MPI_Allreduce(MPI_IN_PLACE, out, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    else
      call MPI_Allreduce(in, out, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    end if
    if (error /= MPI_SUCCESS) call fail()
    if (any(out /= [round, num_ranks - 1, 0])) call fail()
    sum = -1
    error = -1
    call MPI_Allreduce(0.5d0 * round, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS .or. sum /= 0.5d0 * round * num_ranks) call fail()
  end do
#if defined(F08)
  call MPI_Allreduce(in, out, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)  ! without the optional status
#else
  call MPI_Allreduce(in, out, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
#endif
  if (any(out /= [50, num_ranks - 1, 0])) call fail()
  call MPI_Finalize(error)
contains
  subroutine fail()
    integer :: ignored
    print *, 'rank', rank, 'round', round, 'error', error, 'out', out, 'sum', sum
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
