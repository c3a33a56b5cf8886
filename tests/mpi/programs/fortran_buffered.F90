! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! As buffered.cpp. MODULE is mpi or mpi_f08.
program fortran_buffered
  use MODULE
  implicit none
  integer, parameter :: messages = 32, bytes = 16384
  character, asynchronous, allocatable :: buffer(:)
  character :: message(bytes) = 'x'
  integer :: me, round, tag, length, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  length = messages * (bytes + MPI_BSEND_OVERHEAD)
  allocate(buffer(length))
  if (me == 0) call MPI_Buffer_attach(buffer, length, error)
  do round = 1, 200
    do tag = 1, messages
      if (me == 0) call MPI_Bsend(message, bytes, MPI_CHARACTER, 1, tag, MPI_COMM_WORLD, error)
      if (me == 1) call MPI_Recv(message, bytes, MPI_CHARACTER, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)  ! which waits until the buffer is empty
end program
