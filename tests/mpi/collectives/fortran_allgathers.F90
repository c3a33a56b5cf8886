! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! A hundred allgathers and a hundred alltoalls in Fortran, by the interface that a macro names:
! MPIF, MODULE or F08. In one job with `allgathers shared`, which makes the same calls in C.
program fortran_allgathers
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
  integer :: own(2)
  integer, allocatable :: all(:, :)
  double precision, allocatable :: in(:), out(:)
#if defined(F08)
  type(MPI_Datatype) :: pair
#else
  integer :: pair
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks, error)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, error)
  call MPI_Type_commit(pair, error)
  allocate(all(2, 0:num_ranks - 1), in(0:num_ranks - 1), out(0:num_ranks - 1))
  do round = 1, 50
    own = [round, rank]
    all = -1
    error = -1
    if (mod(round + rank, 2) == 0) then  ! the same two elements in another way
      call MPI_Allgather(own, 1, pair, all, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
    else
      call MPI_Allgather(own, 2, MPI_INTEGER, all, 1, pair, MPI_COMM_WORLD, error)
    end if
    if (error /= MPI_SUCCESS .or. any(all(1, :) /= round)) call fail()
    if (any(all(2, :) /= [(i, i = 0, num_ranks - 1)])) call fail()
    in = 0.5d0 * round + rank
    out = -1
    error = -1
    call MPI_Alltoall(in, 1, MPI_DOUBLE_PRECISION, out, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, &
                      error)
    if (error /= MPI_SUCCESS) call fail()
    if (any(out /= [(0.5d0 * round + i, i = 0, num_ranks - 1)])) call fail()
    error = -1
    call MPI_Alltoall(MPI_IN_PLACE, 1, MPI_DOUBLE_PRECISION, in, 1, MPI_DOUBLE_PRECISION, &
                      MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS .or. any(in /= out)) call fail()
    all = -1
    all(1, rank) = round
    error = -1
    call MPI_Allgather(MPI_IN_PLACE, 2, MPI_INTEGER, all, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS .or. any(all(1, :) /= round) .or. any(all(2, :) /= -1)) call fail()
  end do
  call MPI_Type_free(pair, error)
  call MPI_Finalize(error)
contains
  subroutine fail()
    integer :: ignored
    print *, 'rank', rank, 'round', round, 'error', error, 'all', all, 'in', in, 'out', out
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
