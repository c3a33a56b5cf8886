! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! hierbar/mpi.h for Fortran: one barrier for all threads of all ranks, and collectives.
! hierbar/mpi.h says what the functions do and return. A program compiles this file with its own
! compiler. `comm`, `datatype` and `op` are INTEGERs; with mpi_f08 they are comm%MPI_VAL, say. A
! team is a type(c_ptr), c_null_ptr while there is none. A buffer is c_loc(array); in place of
! MPI_IN_PLACE the same one is passed twice.
module hierbar_mpi
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr
  implicit none
  private
  public :: hierbar_team_create, hierbar_team_join, hierbar_team_barrier, hierbar_team_free
  public :: hierbar_team_allreduce, hierbar_team_bcast

  interface
    integer(c_int) function hierbar_team_create(comm, num_threads, team) &
        bind(c, name='hierbar_team_create_fortran')
      import :: c_int, c_ptr
      integer(c_int), intent(in) :: comm
      integer(c_int), value :: num_threads
      type(c_ptr), intent(out) :: team
    end function
    integer(c_int) function hierbar_team_join(team, thread) bind(c, name='hierbar_team_join')
      import :: c_int, c_ptr
      type(c_ptr), value :: team
      integer(c_int), value :: thread
    end function
    integer(c_int) function hierbar_team_barrier(team, thread) bind(c, name='hierbar_team_barrier')
      import :: c_int, c_ptr
      type(c_ptr), value :: team
      integer(c_int), value :: thread
    end function
    integer(c_int) function hierbar_team_allreduce(team, thread, sendbuf, recvbuf, count, &
        datatype, op) bind(c, name='hierbar_team_allreduce_fortran')
      import :: c_int, c_ptr
      type(c_ptr), value :: team, sendbuf, recvbuf
      integer(c_int), value :: thread, count
      integer(c_int), intent(in) :: datatype, op
    end function
    integer(c_int) function hierbar_team_bcast(team, thread, buffer, count, datatype, root_rank, &
        root_thread) bind(c, name='hierbar_team_bcast_fortran')
      import :: c_int, c_ptr
      type(c_ptr), value :: team, buffer
      integer(c_int), value :: thread, count, root_rank, root_thread
      integer(c_int), intent(in) :: datatype
    end function
    integer(c_int) function hierbar_team_free(team) bind(c, name='hierbar_team_free')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: team
    end function
  end interface
end module
