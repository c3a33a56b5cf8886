# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Of tests that are not optimised. They leave the check of alignment, a seventh of the time to
# compile, to what they test.
set(hierbar_brief_test_options -O0)
if(HIERBAR_SANITIZE MATCHES undefined)
  list(APPEND hierbar_brief_test_options -fno-sanitize=alignment)
endif()

# hierbar_add_test(<name> SOURCES <file>... [LABELS <label>...] [LIBRARIES <target>...] [TIMEOUT
# <seconds>] [RUNS_LONG] [THREADS])
#
# Builds a GoogleTest program and registers it as one ctest test.
#   LABELS     of unit stress omp mpi ompt guest llvm model gcc long; unit when none is given
#   TIMEOUT    a deadlock ends here; 120 s when not given
#   RUNS_LONG  optimise it a little. Those labelled stress, whose barriers real threads cross, are
#              optimised as what users get; the others are not, which halves the time to compile
#              them
#   THREADS    it has several threads, as all have that are labelled stress: with
#              HIERBAR_TEST_THREADS_ONLY the others are left out
# Which tests run side by side, hierbar_set_test_properties() says. What a test skips it says with
# GTEST_SKIP() and a reason; `./bootstrap test` lists these after ctest's summary.
function(hierbar_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RUNS_LONG;THREADS" "TIMEOUT" "SOURCES;LABELS;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR
            "hierbar_add_test(${name}): needs SOURCES; does not know '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()

  set(left_out)
  if(HIERBAR_TEST_THREADS_ONLY AND NOT arg_THREADS AND NOT "stress" IN_LIST arg_LABELS)
    set(left_out EXCLUDE_FROM_ALL)
  endif()
  add_executable(${name} ${left_out} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest_main
                        Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  hierbar_warnings(${name})
  if("stress" IN_LIST arg_LABELS)
    hierbar_runs_long(${name})
  elseif(arg_RUNS_LONG)
    target_compile_options(${name} PRIVATE -O1)
  else()
    target_compile_options(${name} PRIVATE ${hierbar_brief_test_options})
    hierbar_share_test_headers(${name})
  endif()
  # random numbers and literals go into narrow types everywhere
  target_compile_options(${name} PRIVATE -Wno-conversion)

  if(left_out)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  hierbar_set_test_properties(${name} "${arg_LABELS}" ${arg_TIMEOUT})
endfunction()

# hierbar_share_test_headers(<target>): GoogleTest's headers, which take a third of the time to
# compile a test, are compiled once for all tests that are not optimised.
function(hierbar_share_test_headers name)
  if(NOT TARGET hierbar_test_headers)
    set(source ${PROJECT_BINARY_DIR}/tests/test_headers.cpp) # CMake needs one to compile headers for
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(hierbar_test_headers OBJECT ${source})
    target_link_libraries(hierbar_test_headers PRIVATE GTest::gmock GTest::gtest)
    target_compile_features(hierbar_test_headers PRIVATE cxx_std_20)
    hierbar_warnings(hierbar_test_headers) # of these, -Wpedantic defines macros
    target_compile_options(hierbar_test_headers PRIVATE ${hierbar_brief_test_options})
    target_precompile_headers(hierbar_test_headers PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:<gmock/gmock.h$<ANGLE-R>>
        $<$<COMPILE_LANGUAGE:CXX>:<gtest/gtest.h$<ANGLE-R>>)
  endif()
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.c$")
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # they are not for C
  target_precompile_headers(${name} REUSE_FROM hierbar_test_headers)
endfunction()

# hierbar_add_script(<name> <label> <timeout> <script> [<argument>...]): a script as a test; without
# Python there is none in Python. It is seen from the directory of the caller.
find_package(Python3 QUIET COMPONENTS Interpreter)
function(hierbar_add_script name label timeout script)
  set(command ${CMAKE_CURRENT_SOURCE_DIR}/${script})
  if(NOT script MATCHES "\\.sh$")
    if(NOT Python3_FOUND)
      return()
    endif()
    set(command ${Python3_EXECUTABLE} -B ${command})
  endif()
  add_test(NAME ${name} COMMAND ${command} ${ARGN} COMMAND_EXPAND_LISTS)
  hierbar_set_test_properties(${name} ${label} ${timeout})
endfunction()

# hierbar_set_test_properties(<test> <labels> <timeout>): what all tests of the project have in
# common, scripts included.
#
# Tests run side by side if they hold on a machine where others compute: those labelled unit, omp,
# mpi or llvm, unless hierbar_run_alone() names them. The rest depend on how many cpus are free. The
# label `long` is for what only .ci/long runs; each has a short form beside it that always runs.
function(hierbar_set_test_properties name labels timeout)
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout})
  # not the developer's own profile
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT HIERBAR_PROFILE=off)
  set(side_by_side ${labels})
  list(FILTER side_by_side INCLUDE REGEX "^(unit|omp|mpi|llvm)$")
  if(NOT side_by_side)
    hierbar_run_alone(${name})
  endif()
endfunction()

# hierbar_run_alone(<test>...): nothing else runs meanwhile. For tests that measure time, count what
# waiting threads do, or look at all processes of the machine.
function(hierbar_run_alone)
  set_tests_properties(${ARGN} PROPERTIES RUN_SERIAL ON)
endfunction()

# hierbar_judges_time(<test>...): tests that say how long something took, how much cpu time it used
# or what the scheduler did, and hold on a busy machine. .ci/long repeats them with those that run
# alone.
function(hierbar_judges_time)
  foreach(name IN LISTS ARGN)
    if(TEST ${name}) # builds with a sanitizer leave tests out
      set_property(TEST ${name} APPEND PROPERTY LABELS timed)
    endif()
  endforeach()
endfunction()

# hierbar_run_first(<test>...): those that take long are begun first, so that short ones run beside
# them and no long one is left over at the end.
function(hierbar_run_first)
  set_tests_properties(${ARGN} PROPERTIES COST 1000)
endfunction()

# hierbar_cache_directory(<variable> <name>): where what tests need and scripts fetch is kept, for
# all build directories.
function(hierbar_cache_directory variable name)
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  set(${variable} "${cache}/hierbar/${name}" PARENT_SCOPE)
endfunction()
