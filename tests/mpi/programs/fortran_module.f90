! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
program fortran_module
  use mpi
  implicit none
  integer :: round, error
  call MPI_INIT(error)
  do round = 1, 100
    error = -1
    call MPI_BARRIER(MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS) call MPI_ABORT(MPI_COMM_WORLD, 1, error)
  end do
  call MPI_FINALIZE(error)
end program
