# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# hierbar_add_test(<name> SOURCES <file>... [LABELS <label>...] [LIBRARIES <target>...] [TIMEOUT
# <seconds>] [RUNS_LONG])
#
# Builds a GoogleTest program and registers it as one ctest test.
#   LABELS     of unit stress omp mpi ompt guest llvm model; unit when none is given
#   TIMEOUT    a deadlock ends here; 120 s when not given
#   RUNS_LONG  optimise it, as those labelled stress are; the others are not, which halves the time
#              to compile them
# Tests that are not labelled unit run alone, because they depend on how many cpus are free. What a
# test skips it says with GTEST_SKIP() and a reason; `./bootstrap test` lists these after ctest's
# summary.
function(hierbar_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RUNS_LONG" "TIMEOUT" "SOURCES;LABELS;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "hierbar_add_test(${name}): needs SOURCES; does not know '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()

  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest_main Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  hierbar_warnings(${name})
  if(arg_RUNS_LONG OR "stress" IN_LIST arg_LABELS)
    hierbar_runs_long(${name})
  else()
    target_compile_options(${name} PRIVATE -O0)
    hierbar_share_test_headers(${name})
  endif()
  target_compile_options(${name} PRIVATE -Wno-conversion) # random numbers and literals go into narrow types everywhere

  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  hierbar_set_test_properties(${name} "${arg_LABELS}" ${arg_TIMEOUT})
endfunction()

# hierbar_share_test_headers(<target>): GoogleTest's headers, which take a third of the time to
# compile a test, are compiled once for all tests that are not optimised.
function(hierbar_share_test_headers name)
  if(NOT TARGET hierbar_test_headers)
    add_library(hierbar_test_headers OBJECT ${PROJECT_SOURCE_DIR}/tests/support/test_headers.cpp)
    target_link_libraries(hierbar_test_headers PRIVATE GTest::gmock GTest::gtest)
    target_compile_features(hierbar_test_headers PRIVATE cxx_std_20)
    hierbar_warnings(hierbar_test_headers) # of these, -Wpedantic defines macros
    target_compile_options(hierbar_test_headers PRIVATE -O0)
    target_precompile_headers(hierbar_test_headers PRIVATE $<$<COMPILE_LANGUAGE:CXX>:<gmock/gmock.h$<ANGLE-R>>
                                                           $<$<COMPILE_LANGUAGE:CXX>:<gtest/gtest.h$<ANGLE-R>>)
  endif()
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.c$")
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # they are not for C
  target_precompile_headers(${name} REUSE_FROM hierbar_test_headers)
endfunction()

# hierbar_set_test_properties(<test> <labels> <timeout>): what all tests of the project have in
# common, scripts included.
function(hierbar_set_test_properties name labels timeout)
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT HIERBAR_PROFILE=off) # not the developer's own profile
  if(NOT "unit" IN_LIST labels)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
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
