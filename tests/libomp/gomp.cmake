# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Programs compiled by GCC, which find libomp.so under the name libgomp.so.1, and what of it GCC
# alone uses. The lists of cases of programs that Clang compiles too are those of behaviours.cmake.

if(NOT gcc)
  return()
endif()

# ---- what Clang's programs do as well ----

omp_cases(barrier_oracle_gcc CASES ${oracle_cases} CHECK --counter fast>=1000)
omp_cases(worksharing_gcc CASES ${worksharing_cases} CHECK --counter fast>=1000)
omp_cases(worksharing_gcc CASES tasks CHECK --counter fast>=500 --counter slow>=500)
omp_cases(reductions_gcc CASES ${reduction_cases} CHECK --counter phased>=10)
omp_cases(regions_gcc CASES ${region_cases} CHECK --counter phased>=10)
omp_cases(teams_gcc CASES ${team_cases} CHECK --counter phased>=10)
omp_cases(tasks_gcc CASES ${task_cases} CHECK --counter fast>=50 --counter slow>=100)
omp_cases(detached_tasks_gcc CASES ${detached_cases} CHECK --counter slow>=10)
omp_cases(detached_tasks_gcc CASES fulfilled_outside_the_team SETTING asleep ENV KMP_BLOCKTIME=0 CHECK --counter slow>=10)
omp_cases(cancellation_gcc CASES loop taskgroup ENV OMP_CANCELLATION=true CHECK --counter phased>=1000)
omp_cases(cancellation_gcc CASES region_while_others_wait_in_a_barrier region_with_tasks ENV OMP_CANCELLATION=true
          CHECK --counter phased>=1000 --counter stock>=100)
omp_cases(cancellation_gcc CASES sections ${cancellation_cases} SETTING not_allowed CHECK --counter fast>=1000)

# ---- version names, one case each ----

omp_cases(gomp_versions CASES gomp_4_0_1 omp_5_0_2 omp_5_1 omp_5_1_1 omp_5_2 CHECK --counter fast==40)
omp_cases(gomp_versions CASES gomp_5_1 CHECK --counter fast==40 --expect "^libgomp: error directive encountered: from C$"
          --expect "^libgomp: error directive encountered: from Fortran$")
omp_cases(gomp_versions CASES gomp_5_1_1 CHECK --counter slow==50)
omp_cases(gomp_versions CASES omp_5_0_1 CHECK --counter fast==40 --counter slow==1)
omp_cases(gomp_allocators CASES omp_5_0_1 omp_5_0_2 CHECK --counter fast==40)
omp_cases(gomp_newer_versions CASES gomp_5_1_2 gomp_5_1_3 gomp_6_0 gomp_6_0_1 CHECK --counter fast==40)
omp_cases(gomp_newer_versions CASES fork_beside_a_look)
omp_cases(gomp_newer_versions CASES openacc CHECK --exit-code -6 --expect "the program calls acc_init, which is OpenACC")
omp_cases(gomp_versions CASES gomp_error
          CHECK --exit-code 1 --expect "^libgomp: fatal error: error directive encountered: this ends it$")

# ---- what is said once ----

set(without_effect "GOMP_SPINCOUNT=.100. has no effect: .*KMP_BLOCKTIME")
# These programs ask for libomp.so. The library takes itself for GCC's only if it is loaded by that
# name.
set(by_name_of_gcc LD_PRELOAD=${tests_library_dir}/libgomp.so.1)
omp_cases(gomp_versions CASES omp_5_2 SETTING spincount ENV GOMP_SPINCOUNT=100 ${by_name_of_gcc} CHECK --expect ${without_effect})
omp_cases(gomp_versions CASES omp_5_2 SETTING no_warnings ENV GOMP_SPINCOUNT=100 KMP_WARNINGS=off ${by_name_of_gcc}
          CHECK --reject ${without_effect})
omp_cases(cancellation CASES loop SETTING spincount_of_clang ENV GOMP_SPINCOUNT=100 CHECK --reject ${without_effect})

# ---- differences from GCC's library ----

omp_cases(gomp_differences CASES realloc_within_a_pool realloc_between_pools realloc_in_the_fallback)
set(nested_limit "thread_limit.3. bounds each parallel region")
omp_cases(gomp_differences CASES limit_of_nested_regions CHECK --expect ${nested_limit})
omp_cases(gomp_differences CASES limit_of_one_region CHECK --reject ${nested_limit})
set(pause_told "may outlive a hard pause")
omp_cases(gomp_differences CASES hard_pause CHECK --expect ${pause_told})
omp_cases(gomp_differences CASES hard_pause SETTING no_warnings ENV KMP_WARNINGS=off CHECK --reject ${pause_told})
set(nesting_told "nests, because another task of the same thread holds the lock")
omp_cases(gomp_differences CASES nestable_lock_of_another_task CHECK --expect ${nesting_told})
omp_cases(gomp_differences CASES nestable_lock_of_another_task SETTING no_warnings ENV KMP_WARNINGS=off CHECK --reject ${nesting_told})

# ---- constructs ----

omp_cases(gomp_scope CASES reduction masked CHECK --counter fast>=80)
omp_cases(gomp_scope CASES several_scopes_without_waiting CHECK --counter phased>=80)
omp_cases(gomp_scope CASES task_reduction task_reduction_of_an_array_in_nested_tasks CHECK --counter slow>=30)
omp_cases(gomp_scope CASES task_reductions_of_two_scopes_in_turn CHECK --counter fast==300 --counter slow==100)
# 80 of its regions have several threads, and each of these a barrier with tasks.
omp_cases(gomp_scope CASES task_reductions_of_nested_scopes CHECK --counter slow>=80)

set(taskloop_cases counts_down near_the_limits_of_the_type over_pointers grain_sizes strict_grain_sizes_and_numbers
    data_that_must_be_copied data_that_must_be_copied_at_once data_of_undeferred_tasks iterators lastprivate reductions)
omp_cases(gomp_taskloop CASES ${taskloop_cases})
omp_cases(cancelled_loops_gcc CASES ${cancelled_loop_cases} ENV OMP_CANCELLATION=true)
omp_cases(cancelled_reductions_gcc CASES loops regions ENV OMP_CANCELLATION=true CHECK --counter phased>=600)
omp_cases(gomp_initial CASES target_regions_are_outside target_regions_begin_with_the_first_settings target_regions_in_tasks leagues
          target_regions_are_outside_of_leagues levels_beside_target_regions teams_beside_target_regions
          nestable_locks_are_owned_by_tasks)
omp_cases(gomp_initial CASES levels_beside_target_regions teams_beside_target_regions SETTING stock_pattern ENV KMP_BARRIER)
set(loop_cases dynamic guided runtime ordered pointers many_doacross_loops)
omp_cases(gomp_loops CASES ${loop_cases})

omp_cases(gomp_shared_memory CASES scan conditional_lastprivate without_waiting in_inner_teams CHECK --counter fast>=100)
omp_cases(gomp_shared_memory CASES inside_another_one CHECK --counter phased>=40)
omp_cases(gomp_shared_memory CASES scan without_waiting SETTING trees ENV ${trees} KMP_BLOCKTIME=0 CHECK --counter fast>=100)

omp_cases(gomp_shared_memory CASES after_a_cancelled_region ENV OMP_CANCELLATION=true CHECK --counter phased>=400)
omp_cases(gomp_shared_memory CASES after_a_cancelled_region SETTING stock_pattern ENV KMP_BARRIER OMP_CANCELLATION=true)
omp_cases(gomp_shared_memory CASES fork_beside_constructs ENV KMP_WARNINGS=off)
omp_cases(gomp_scope CASES task_reductions_after_a_cancelled_region ENV OMP_CANCELLATION=true CHECK --counter phased>=400)

omp_cases(gomp_target CASES maps distributed_loops CHECK --counter phased>=50)
omp_cases(gomp_target CASES dependences CHECK --counter slow==50)
omp_cases(gomp_target CASES deferred_constructs_do_not_block CHECK --counter slow==20)
omp_cases(gomp_target CASES leagues CHECK --counter fast==90)
omp_cases(gomp_target CASES in_every_thread_of_a_team CHECK --counter fast==50)
omp_cases(gomp_target CASES firstprivate_of_a_deferred_region data_constructs thread_limit device_memory)
# The host is the default device, and there is no other one.
omp_cases(gomp_target CASES maps SETTING mandatory ENV OMP_TARGET_OFFLOAD=mandatory)
omp_cases(gomp_target CASES another_device SETTING mandatory ENV OMP_TARGET_OFFLOAD=mandatory
          CHECK --exit-code -6 --expect "OMP_TARGET_OFFLOAD=.mandatory., but there is no device")

# ---- tools ----

omp_cases(gomp_ompt CASES target_regions tasks loops cancelled ENV OMP_CANCELLATION=true)

# ---- Fortran ----

omp_cases(gomp_by_reference CASES integers_of_8_bytes CHECK --counter fast==40)
omp_cases(gomp_by_reference CASES places ENV OMP_PLACES={0},{1} CHECK --counter fast==40)
omp_cases(gomp_by_reference CASES pause_and_go_on CHECK --counter fast>=120 --counter reports==2)
if(HIERBAR_GFORTRAN)
  foreach(program IN ITEMS gomp_fortran gomp_fortran_8)
    omp_cases(${program} CASES barriers levels allocators target_region CHECK --counter fast==150)
    omp_cases(${program} CASES tasks CHECK --counter slow==20)
    omp_cases(${program} CASES settings CHECK --counter fast>=450)
    omp_cases(${program} CASES places ENV OMP_PLACES={0},{1} CHECK --counter fast==150)
  endforeach()
endif()

# ---- both compilers, the table, programs of Debian's ----

omp_cases(two_compilers CASES one_library one_set_of_threads_and_settings CHECK --counter phased>=1)
omp_cases(two_compilers CASES one_barrier CHECK --counter fast==200)

foreach(program IN ITEMS loop_fuzzer_gcc loop_fuzzer_mixed)
  omp_test(${program} ${program} ${loop_fuzzer_options})
endforeach()

# GCC's own library; the test says so when there is none.
execute_process(COMMAND ${gcc} -print-file-name=libgomp.so.1 OUTPUT_VARIABLE system_libgomp OUTPUT_STRIP_TRAILING_WHITESPACE)
set(compare_with_system)
if(IS_ABSOLUTE "${system_libgomp}")
  set(compare_with_system --system ${system_libgomp})
endif()
add_test(NAME ${tests_prefix}.gomp_table COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/gomp_table_test.py
         --table ${PROJECT_SOURCE_DIR}/runtime/libomp/gomp/GOMP.md
         --functions ${PROJECT_SOURCE_DIR}/runtime/libomp/gomp/gcc_functions.txt --library ${tests_library_dir}/libomp.so ${compare_with_system})
hierbar_set_test_properties(${tests_prefix}.gomp_table omp 60)
set_tests_properties(${tests_prefix}.gomp_table PROPERTIES FIXTURES_REQUIRED "${tests_fixture}")

if(NOT tests_llvm_version STREQUAL HIERBAR_LLVM_VERSION OR CMAKE_CROSSCOMPILING)
  return()
endif()

# debian_test(<name> <runner option>... -- <program> [<argument>...])
function(debian_test name)
  add_test(NAME omp.debian.${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/run_omp_test.py
           --lib-dir ${tests_library_dir} --timeout 120 --counter stock==0 ${ARGN})
  hierbar_set_test_properties(omp.debian.${name} omp 210)
  set_tests_properties(omp.debian.${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# How many primes there are below 10^12 is known.
find_program(HIERBAR_PRIMECOUNT NAMES primecount)
if(HIERBAR_PRIMECOUNT)
  debian_test(primecount --expect-some ^37607912018$ --counter phased>=2 -- ${HIERBAR_PRIMECOUNT} 1e12)
else()
  hierbar_report_missing(primecount "libomp.so is not tested with this program of Debian's" primecount-bin)
endif()
debian_test(numpy --env OMP_NUM_THREADS=4 --counter phased>=90
            -- /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/numpy_program.py)

# Results that are equal to those on GCC's own library, to the last bit where the order of additions
# does not depend on who comes first.
if(NOT IS_ABSOLUTE "${system_libgomp}")
  return()
endif()
set(same_as_libgomp ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/same_as_libgomp.py --libgomp ${system_libgomp} --)
foreach(num_threads IN ITEMS 1 4)
  debian_test(numpy_results_${num_threads} --env OMP_NUM_THREADS=${num_threads}
              -- ${same_as_libgomp} /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/numpy_program.py)
  if(HIERBAR_GFORTRAN)
    debian_test(fortran_results_${num_threads} --env OMP_NUM_THREADS=${num_threads} -- ${same_as_libgomp} ${program_dir}/fortran_solver)
  endif()
endforeach()
# A minute and a half on one thread, which leaves no order of additions open.
set_tests_properties(omp.debian.numpy_results_1 PROPERTIES LABELS "omp;long")
debian_test(gromacs_results --env OMP_NUM_THREADS=2 -- ${same_as_libgomp} ${CMAKE_CURRENT_SOURCE_DIR}/gromacs_program.sh)
