! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! All threads of all ranks in one barrier: each sees what the others wrote. One node; see
! docs/guide/hybrid.md.
program team_example
  use mpi
  use omp_lib
  use hierbar_mpi
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  integer, parameter :: num_threads = 2, num_steps = 100
  type(c_ptr) :: team
  integer :: level, rank, ierror, me, step, steps_done(num_threads), num_wrong

  call MPI_Init_thread(MPI_THREAD_FUNNELED, level, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (hierbar_team_create(MPI_COMM_WORLD, num_threads, team) /= MPI_SUCCESS) then
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end if
  steps_done = 0
  num_wrong = 0
  !$omp parallel num_threads(num_threads) private(me, step) reduction(+: num_wrong)
  me = omp_get_thread_num()
  if (hierbar_team_join(team, me) /= MPI_SUCCESS) num_wrong = num_wrong + 1
  do step = 1, num_steps
    steps_done(me + 1) = step
    if (hierbar_team_barrier(team, me) /= MPI_SUCCESS) num_wrong = num_wrong + 1
    if (any(steps_done /= step)) num_wrong = num_wrong + 1
    if (hierbar_team_barrier(team, me) /= MPI_SUCCESS) num_wrong = num_wrong + 1
  end do
  !$omp end parallel
  if (hierbar_team_free(team) /= MPI_SUCCESS) num_wrong = num_wrong + 1
  if (num_wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  if (rank == 0) print '(a)', 'all steps were seen'
  call MPI_Finalize(ierror)
end program
