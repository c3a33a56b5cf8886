! Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

! What gfortran makes of OpenMP: arguments by reference. With -fdefault-integer-8 the same calls are
! those of the names with _8_.

! BUILD: gfortran
! BUILD as gomp_fortran_8: gfortran -fdefault-integer-8
! TEST: barriers levels allocators target_region
!   CHECK: --counter fast==150
! TEST: tasks
!   CHECK: --counter slow==20
! TEST: settings
!   CHECK: --counter fast>=450
! TEST: places
!   ENV: OMP_PLACES={0},{1}
!   CHECK: --counter fast==150

program gomp_fortran
  use, intrinsic :: iso_c_binding
  use omp_lib
  implicit none
  character(len=64) :: which

  call omp_set_dynamic(.false.)
  call get_command_argument(1, which)
  select case (which)
  case ('barriers'); call barriers()
  case ('settings'); call settings()
  case ('levels'); call levels()
  case ('places'); call places()
  case ('allocators'); call allocators()
  case ('tasks'); call tasks()
  case ('target_region'); call target_region()
  case default; call fail('the name of the case')
  end select

contains

  subroutine fail(what)
    character(len=*), intent(in) :: what
    print '(2a)', 'CHECK failed: ', what
    stop 1
  end subroutine

  subroutine check_equal(actual, expected, what)
    integer, intent(in) :: actual, expected
    character(len=*), intent(in) :: what
    if (actual /= expected) then
      print '(3a,i0,a,i0)', 'CHECK failed: ', what, ' is ', actual, ', not ', expected
      stop 1
    end if
  end subroutine

  subroutine barriers()
    integer :: slots(4), round, i, total
    total = 0
    !$omp parallel num_threads(4) private(round, i) reduction(+ : total)
    do round = 1, 50
      slots(omp_get_thread_num() + 1) = round
      !$omp barrier
      do i = 1, 4
        call check_equal(slots(i), round, 'a slot')
      end do
      !$omp barrier
      !$omp do schedule(dynamic)
      do i = 1, 10
        total = total + i
      end do
      !$omp end do
    end do
    !$omp end parallel
    call check_equal(total, 50 * 55, 'the sum')
  end subroutine

  subroutine settings()
    integer(omp_sched_kind) :: kind
    integer :: chunk, three, seven
    three = 3
    seven = 7
    call omp_set_num_threads(three)
    call check_equal(int(omp_get_max_threads()), 3, 'omp_get_max_threads()')
    call omp_set_schedule(omp_sched_guided, seven)
    call omp_get_schedule(kind, chunk)
    call check_equal(int(kind), int(omp_sched_guided), 'the schedule')
    call check_equal(chunk, 7, 'the chunk')
    call omp_set_num_teams(seven)
    call check_equal(int(omp_get_max_teams()), 7, 'omp_get_max_teams()')
    call omp_set_teams_thread_limit(three)
    call check_equal(int(omp_get_teams_thread_limit()), 3, 'omp_get_teams_thread_limit()')
    call omp_set_default_device(three)
    call check_equal(int(omp_get_default_device()), 3, 'omp_get_default_device()')
    call check_equal(int(omp_get_device_num()), int(omp_get_initial_device()), 'omp_get_device_num()')
    call omp_display_env(.false.)
    call omp_display_env(.true.)
    call barriers()
    call check_equal(int(omp_pause_resource(omp_pause_soft, omp_get_initial_device())), 0, 'omp_pause_resource()')
    call barriers()
    call check_equal(int(omp_pause_resource_all(omp_pause_hard)), 0, 'omp_pause_resource_all()')
    call barriers()
  end subroutine

  subroutine levels()
    integer :: one, two
    one = 1
    two = 2
    call omp_set_max_active_levels(two)
    call check_equal(int(omp_get_max_active_levels()), 2, 'omp_get_max_active_levels()')
    !$omp parallel num_threads(2)
    !$omp parallel num_threads(3)
    call check_equal(int(omp_get_team_size(one)), 2, 'omp_get_team_size(1)')
    call check_equal(int(omp_get_team_size(two)), 3, 'omp_get_team_size(2)')
    call check_equal(int(omp_get_ancestor_thread_num(two)), int(omp_get_thread_num()), 'omp_get_ancestor_thread_num(2)')
    !$omp end parallel
    !$omp end parallel
    call barriers()
  end subroutine

  ! With OMP_PLACES={0},{1}
  subroutine places()
    integer :: second, ids(1), numbers(2)
    second = 1
    call check_equal(int(omp_get_num_places()), 2, 'omp_get_num_places()')
    call check_equal(int(omp_get_place_num_procs(second)), 1, 'omp_get_place_num_procs(1)')
    call omp_get_place_proc_ids(second, ids)
    call check_equal(ids(1), 1, 'the cpu of place 1')
    call omp_get_partition_place_nums(numbers)
    call check_equal(numbers(1), 0, 'the first place')
    call check_equal(numbers(2), 1, 'the second place')
    call barriers()
  end subroutine

  subroutine allocators()
    integer(omp_allocator_handle_kind) :: own
    type(omp_alloctrait) :: traits(1)
    integer :: num_traits
    type(c_ptr) :: memory
    traits(1) = omp_alloctrait(omp_atk_alignment, 1024_omp_allocator_handle_kind)
    num_traits = 1
    own = omp_init_allocator(omp_default_mem_space, num_traits, traits)
    if (own == omp_null_allocator) call fail('an allocator')
    call omp_set_default_allocator(own)
    if (omp_get_default_allocator() /= own) call fail('omp_get_default_allocator()')
    memory = omp_alloc(100_c_size_t, omp_null_allocator)
    call check_equal(int(mod(transfer(memory, 0_c_intptr_t), 1024_c_intptr_t)), 0, 'the address modulo 1024')
    call omp_free(memory, omp_null_allocator)
    call omp_set_default_allocator(omp_default_mem_alloc)
    call omp_destroy_allocator(own)
    call barriers()
  end subroutine

  subroutine tasks()
    integer(omp_event_handle_kind) :: event
    integer :: done, round, i
    do round = 1, 20
      done = 0
      !$omp parallel num_threads(4)
      !$omp single
      !$omp task detach(event) shared(done)
      !$omp atomic
      done = done + 100
      call omp_fulfill_event(event)
      !$omp end task
      !$omp taskloop num_tasks(10)
      do i = 1, 50
        !$omp atomic
        done = done + 1
      end do
      !$omp end taskloop
      !$omp end single
      !$omp end parallel
      call check_equal(done, 150, 'what the tasks did')
    end do
  end subroutine

  subroutine target_region()
    integer :: array(40), i, total
    array = 1
    total = 0
    !$omp target teams distribute parallel do num_teams(3) thread_limit(2) map(tofrom : array, total) reduction(+ : total)
    do i = 1, 40
      array(i) = array(i) + i
      total = total + array(i)
    end do
    call check_equal(total, 40 + 820, 'the sum')
    call check_equal(array(40), 41, 'the last element')
    call barriers()
  end subroutine

end program
