! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! To be compiled with INTEGER of 8 bytes, and linked with wide_integer.c.
program wide_integer
  implicit none
  include 'mpif.h'
  integer :: round, error
  call MPI_INIT(error)
  do round = 1, 100
    error = -1
    call MPI_BARRIER(MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS) stop 1
  end do
  call MPI_FINALIZE(error)
end program
