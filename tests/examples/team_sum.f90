! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! A sum over all threads of all ranks, in each step. See docs/guide/hybrid.md.
program team_sum
  use mpi
  use omp_lib
  use hierbar_mpi
  use, intrinsic :: iso_c_binding, only: c_double, c_loc, c_ptr
  implicit none
  integer, parameter :: num_threads = 2, num_steps = 100
  type(c_ptr) :: team
  integer :: level, rank, num_ranks, num_members, ierror, me, step, num_wrong
  ! Of each thread.
  real(c_double), target :: scales(num_threads), parts(num_threads)

  call MPI_Init_thread(MPI_THREAD_FUNNELED, level, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks, ierror)
  if (hierbar_team_create(MPI_COMM_WORLD, num_threads, team) /= MPI_SUCCESS) then
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end if
  num_members = num_threads * num_ranks
  scales = 0
  if (rank == 0) scales(1) = 0.5d0
  num_wrong = 0
  !$omp parallel num_threads(num_threads) private(me, step) reduction(+: num_wrong)
  me = omp_get_thread_num()
  if (hierbar_team_join(team, me) /= MPI_SUCCESS) num_wrong = num_wrong + 1
  if (hierbar_team_bcast(team, me, c_loc(scales(me + 1)), 1, MPI_DOUBLE_PRECISION, 0, 0) &
      /= MPI_SUCCESS) num_wrong = num_wrong + 1
  do step = 1, num_steps
    parts(me + 1) = scales(me + 1) * step * (rank * num_threads + me + 1)
    if (hierbar_team_allreduce(team, me, c_loc(parts(me + 1)), c_loc(parts(me + 1)), 1, &
                               MPI_DOUBLE_PRECISION, MPI_SUM) /= MPI_SUCCESS) &
      num_wrong = num_wrong + 1
    if (parts(me + 1) /= 0.5d0 * step * num_members * (num_members + 1) / 2) &
      num_wrong = num_wrong + 1
  end do
  !$omp end parallel
  if (hierbar_team_free(team) /= MPI_SUCCESS) num_wrong = num_wrong + 1
  if (num_wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  if (rank == 0) print '(a)', 'all sums were right'
  call MPI_Finalize(ierror)
end program
