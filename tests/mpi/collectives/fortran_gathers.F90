! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! A hundred gathers and a hundred scatters in Fortran, by the interface that a macro names: MPIF,
! MODULE or F08. In one job with `gathers shared`, which makes the same calls in C.
program fortran_gathers
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if defined(MPIF)
  include 'mpif.h'
#endif
  integer, parameter :: nothing = -77  ! where an argument means nothing
  integer :: round, error, rank, num_ranks, root, i
  integer :: own(2)
  integer, allocatable :: all(:, :)
  double precision :: part
  double precision, allocatable :: parts(:)
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
  allocate(all(2, 0:num_ranks - 1), parts(0:num_ranks - 1))
  do round = 1, 50
    root = mod(round, num_ranks)
    own = [round, rank]
    all = -1
    error = -1
    if (rank /= root) then
      call MPI_Gather(own, 2, MPI_INTEGER, all, nothing, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD, &
                      error)
    else if (mod(round, 2) == 0) then  ! the same two elements in another way
      call MPI_Gather(own, 1, pair, all, 2, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    else
      call MPI_Gather(own, 2, MPI_INTEGER, all, 1, pair, root, MPI_COMM_WORLD, error)
    end if
    call check_gathered()
    all = -1
    if (rank == root) all(:, rank) = own
    error = -1
    if (rank == root) then
      call MPI_Gather(MPI_IN_PLACE, nothing, MPI_DATATYPE_NULL, all, 2, MPI_INTEGER, root, &
                      MPI_COMM_WORLD, error)
    else
      call MPI_Gather(own, 1, pair, all, nothing, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD, error)
    end if
    call check_gathered()

    parts = -1
    if (rank == root) parts = [(0.5d0 * round + i, i = 0, num_ranks - 1)]
    part = -1
    error = -1
    call MPI_Scatter(parts, 1, MPI_DOUBLE_PRECISION, part, 1, MPI_DOUBLE_PRECISION, root, &
                     MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS .or. part /= 0.5d0 * round + rank) call fail()
    part = -1
    error = -1
    if (rank == root) then
      call MPI_Scatter(parts, 1, MPI_DOUBLE_PRECISION, MPI_IN_PLACE, nothing, MPI_DATATYPE_NULL, &
                       root, MPI_COMM_WORLD, error)
      if (part /= -1) call fail()
    else
      call MPI_Scatter(parts, nothing, MPI_DATATYPE_NULL, part, 1, MPI_DOUBLE_PRECISION, root, &
                       MPI_COMM_WORLD, error)
      if (part /= 0.5d0 * round + rank) call fail()
    end if
    if (error /= MPI_SUCCESS) call fail()
  end do
  call MPI_Type_free(pair, error)
  call MPI_Finalize(error)
contains
  subroutine check_gathered()
    if (error /= MPI_SUCCESS) call fail()
    if (rank /= root) then
      if (any(all /= -1)) call fail()
    else if (any(all(1, :) /= round) .or. any(all(2, :) /= [(i, i = 0, num_ranks - 1)])) then
      call fail()
    end if
  end subroutine
  subroutine fail()
    integer :: ignored
    print *, 'rank', rank, 'round', round, 'error', error, 'all', all, 'part', part, 'parts', parts
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
