! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! Fifty bcasts and a hundred reduces in Fortran, by the interface that a macro names: MPIF, MODULE
! or F08. In one job with `one_way shared`, which makes the same calls in C.
program fortran_one_way
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if defined(MPIF)
  include 'mpif.h'
#endif
  integer :: round, error, rank, num_ranks, root
  integer :: data(3)
  double precision :: half, sum
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
  do round = 1, 50
    root = mod(round, num_ranks)
    data = -1
    if (rank == root) data(1:2) = [round, root]
    error = -1
    if (mod(round + rank, 2) == 0) then  ! the same two elements in another way
      call MPI_Bcast(data, 1, pair, root, MPI_COMM_WORLD, error)
    else
      call MPI_Bcast(data, 2, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    end if
    if (error /= MPI_SUCCESS .or. any(data /= [round, root, -1])) call fail()
    half = 0.5d0 * round
    sum = -1
    error = -1
    call MPI_Reduce(half, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, root, MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS) call fail()
    if (rank == root .and. sum /= half * num_ranks) call fail()
    if (rank /= root .and. sum /= -1) call fail()
    error = -1
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, half, 1, MPI_DOUBLE_PRECISION, MPI_MAX, root, MPI_COMM_WORLD, &
                      error)
    else
      call MPI_Reduce(half, sum, 1, MPI_DOUBLE_PRECISION, MPI_MAX, root, MPI_COMM_WORLD, error)
    end if
    if (error /= MPI_SUCCESS .or. half /= 0.5d0 * round) call fail()
  end do
  call MPI_Type_free(pair, error)
  call MPI_Finalize(error)
contains
  subroutine fail()
    integer :: ignored
    print *, 'rank', rank, 'round', round, 'error', error, 'data', data, 'sum', sum, 'half', half
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
