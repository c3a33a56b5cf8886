# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The fuzzer of loops, the table of GCC's functions, and programs of Debian's that GCC compiled,
# which find libomp.so under the name libgomp.so.1.

# Random loops, always the same ones; .ci/long draws others, and more of them.
set(loop_fuzzers loop_fuzzer)
if(gcc)
  list(APPEND loop_fuzzers loop_fuzzer_gcc loop_fuzzer_mixed)
endif()
foreach(program IN LISTS loop_fuzzers)
  omp_test(${program} ${program} ARGS --loops 20000 ENV OMP_CANCELLATION=true TIMEOUT 120
           CHECK --counter phased>=100)
endforeach()

if(NOT gcc)
  return()
endif()

# GCC's own library; the test says so when there is none.
execute_process(COMMAND ${gcc} -print-file-name=libgomp.so.1
                OUTPUT_VARIABLE system_libgomp OUTPUT_STRIP_TRAILING_WHITESPACE)
set(compare_with_system)
if(IS_ABSOLUTE "${system_libgomp}")
  set(compare_with_system --system ${system_libgomp})
endif()
add_test(NAME ${tests_prefix}.gomp_table COMMAND ${Python3_EXECUTABLE} -B
         ${CMAKE_CURRENT_SOURCE_DIR}/gomp_table_test.py
         --table ${PROJECT_SOURCE_DIR}/runtime/libomp/gomp/GOMP.md
         --functions ${PROJECT_SOURCE_DIR}/runtime/libomp/gomp/gcc_functions.txt
         --library ${tests_library_dir}/libomp.so ${compare_with_system})
hierbar_set_test_properties(${tests_prefix}.gomp_table omp 60)
set_tests_properties(${tests_prefix}.gomp_table PROPERTIES FIXTURES_REQUIRED "${tests_fixture}")

if(NOT tests_llvm_version STREQUAL HIERBAR_LLVM_VERSION OR CMAKE_CROSSCOMPILING)
  return()
endif()

# debian_test(<name> <runner option>... -- <program> [<argument>...])
function(debian_test name)
  add_test(NAME omp.debian.${name} COMMAND ${Python3_EXECUTABLE} -B
           ${CMAKE_CURRENT_SOURCE_DIR}/run_omp_test.py
           --lib-dir ${tests_library_dir} --timeout 120 --counter stock==0 ${ARGN})
  hierbar_set_test_properties(omp.debian.${name} omp 210)
  set_tests_properties(omp.debian.${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# How many primes there are below 10^12 is known.
find_program(HIERBAR_PRIMECOUNT NAMES primecount)
if(HIERBAR_PRIMECOUNT)
  debian_test(primecount --expect-some ^37607912018$ --counter phased>=2 -- ${HIERBAR_PRIMECOUNT}
              1e12)
else()
  hierbar_report_missing(primecount "libomp.so is not tested with this program of Debian's"
      primecount-bin)
endif()
debian_test(numpy --env OMP_NUM_THREADS=4 --counter phased>=90
            -- /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/numpy_program.py)

# Results that are equal to those on GCC's own library, to the last bit where the order of additions
# does not depend on who comes first.
if(NOT IS_ABSOLUTE "${system_libgomp}")
  return()
endif()
set(same_as_libgomp ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/same_as_libgomp.py
    --libgomp ${system_libgomp} --)
foreach(num_threads IN ITEMS 1 4)
  debian_test(numpy_results_${num_threads} --env OMP_NUM_THREADS=${num_threads}
              -- ${same_as_libgomp} /usr/bin/python3 -B
              ${CMAKE_CURRENT_SOURCE_DIR}/numpy_program.py)
  if(HIERBAR_GFORTRAN)
    debian_test(fortran_results_${num_threads} --env OMP_NUM_THREADS=${num_threads} --
                ${same_as_libgomp} ${program_dir}/fortran_solver)
  endif()
endforeach()
# A minute and a half on one thread, which leaves no order of additions open.
set_tests_properties(omp.debian.numpy_results_1 PROPERTIES LABELS "omp;long")
debian_test(gromacs_results --env OMP_NUM_THREADS=2 -- ${same_as_libgomp}
            ${CMAKE_CURRENT_SOURCE_DIR}/gromacs_program.sh)
