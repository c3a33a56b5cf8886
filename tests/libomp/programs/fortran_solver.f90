! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

! A program as scientists write them, for a comparison with GCC's own library: conjugate gradients
! for Poisson's equation with loops and reductions, a product of matrices, and a sum by tasks. Prints
! the bits of its results, so that two runs can be compared. Sums are made of partial sums in a fixed
! order, or of integers; only the last one, by a reduction clause, depends on the order in which
! threads come, and is printed rounded.

! BUILD: gfortran

program fortran_solver
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 96, num_blocks = 32
  real(real64) :: x(0:n + 1, 0:n + 1), r(0:n + 1, 0:n + 1), p(0:n + 1, 0:n + 1), q(0:n + 1, 0:n + 1)
  real(real64) :: rho, rho_before, alpha, total
  integer :: iteration, i, j

  x = 0
  r = 0
  q = 0
  !$omp parallel do collapse(2) schedule(dynamic, 5)
  do j = 1, n
    do i = 1, n
      r(i, j) = sin(0.1_real64 * i) * cos(0.05_real64 * j)
    end do
  end do
  p = r
  rho = dot(r, r)
  do iteration = 1, 60
    call apply(p, q)
    alpha = rho / dot(p, q)
    !$omp parallel do schedule(guided)
    do j = 1, n
      x(:, j) = x(:, j) + alpha * p(:, j)
      r(:, j) = r(:, j) - alpha * q(:, j)
    end do
    rho_before = rho
    rho = dot(r, r)
    !$omp parallel workshare
    p = r + (rho / rho_before) * p
    !$omp end parallel workshare
  end do
  print '(a, z16.16)', 'residual ', transfer(rho, 0_int64)
  print '(a, z16.16)', 'solution ', transfer(dot(x, x), 0_int64)

  call multiply(x, r)
  print '(a, z16.16)', 'product ', transfer(dot(r, r), 0_int64)

  !$omp parallel
  !$omp single
  iteration = fibonacci(18)
  !$omp end single
  !$omp end parallel
  print '(a, i0)', 'tasks ', iteration

  total = 0
  !$omp parallel do reduction(+ : total) schedule(runtime)
  do j = 1, n
    total = total + sum(x(:, j))
  end do
  print '(a, es12.5)', 'sum ', total

contains

  subroutine apply(u, v) ! v = A u, the five-point stencil
    real(real64), intent(in) :: u(0:, 0:)
    real(real64), intent(inout) :: v(0:, 0:)
    integer :: i, j
    !$omp parallel do private(i)
    do j = 1, n
      do i = 1, n
        v(i, j) = 4 * u(i, j) - u(i - 1, j) - u(i + 1, j) - u(i, j - 1) - u(i, j + 1)
      end do
    end do
  end subroutine

  real(real64) function dot(u, v)
    real(real64), intent(in) :: u(0:, 0:), v(0:, 0:)
    real(real64) :: partial(num_blocks)
    integer :: block
    !$omp parallel do ordered schedule(dynamic)
    do block = 1, num_blocks
      partial(block) = sum(u(:, (block - 1) * n / num_blocks + 1 : block * n / num_blocks) * &
                           v(:, (block - 1) * n / num_blocks + 1 : block * n / num_blocks))
      !$omp ordered
      if (block > 1) partial(block) = partial(block - 1) + partial(block)
      !$omp end ordered
    end do
    dot = partial(num_blocks)
  end function

  subroutine multiply(u, v) ! v = u u, by taskloop
    real(real64), intent(in) :: u(0:, 0:)
    real(real64), intent(inout) :: v(0:, 0:)
    integer :: j, k
    v = 0
    !$omp parallel
    !$omp single
    !$omp taskloop grainsize(3) private(k)
    do j = 1, n
      do k = 1, n
        v(1:n, j) = v(1:n, j) + u(1:n, k) * u(k, j)
      end do
    end do
    !$omp end taskloop
    !$omp end single
    !$omp end parallel
  end subroutine

  recursive integer function fibonacci(number) result(value)
    integer, intent(in) :: number
    integer :: first, second
    if (number < 2) then
      value = number
      return
    end if
    !$omp task shared(first) if(number > 8)
    first = fibonacci(number - 1)
    !$omp end task
    !$omp task shared(second) if(number > 8)
    second = fibonacci(number - 2)
    !$omp end task
    !$omp taskwait
    value = first + second
  end function
end program
