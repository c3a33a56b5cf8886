! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! As accessed.cpp, with a window made in Fortran, by the interface that MODULE names: rank 0 does not
! sleep while it waits, although nobody accesses it.
program fortran_window
  use MODULE
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function getrusage(who, usage) bind(c)
      import :: c_int, c_long
      integer(c_int), value :: who
      integer(c_long) :: usage(18)
    end function
  end interface
  integer(c_int), parameter :: of_thread = 1
  integer, parameter :: of_sleeps = 17
  integer(c_long) :: before(18), after(18)
  integer, volatile :: memory(4)
  integer :: rank, i, error
  double precision :: start
#ifdef IS_F08
  type(MPI_Win) :: window
#else
  integer :: window
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  do i = 1, 10
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  error = getrusage(of_thread, before)
  start = MPI_Wtime()
  do while (rank == 1 .and. MPI_Wtime() < start + 0.4d0)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, error)
  error = getrusage(of_thread, after)
  if (rank == 0 .and. after(of_sleeps) - before(of_sleeps) > 20) then
    print *, 'rank 0 slept', after(of_sleeps) - before(of_sleeps), 'times'
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end if
  call MPI_Win_free(window, error)
  call MPI_Finalize(error)
end program
