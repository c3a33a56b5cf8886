! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! The same in Fortran; see sites.c.

module solver
contains
  subroutine step(values)
    real(8) :: values(2)
    !$omp parallel num_threads(2)
    values(1) = values(1) + 1
    !$omp barrier ! of a module
    values(2) = values(2) + 1
    !$omp end parallel
  end subroutine
end module

subroutine plain(values)
  real(8) :: values(2)
  !$omp parallel num_threads(2)
  values(1) = values(1) + 1
  !$omp barrier ! plain
  values(2) = values(1) + 1
  !$omp end parallel
end subroutine

program demo
  use solver
  real(8) :: values(2)
  integer :: k
  values = 0
  do k = 1, 50
    call step(values)
    call plain(values)
    !$omp parallel num_threads(2)
    values(2) = values(1) + 1
    !$omp barrier ! of the program
    values(1) = values(2) + 1
    !$omp end parallel
  end do
  if (values(2) < 0) stop 1
end program
