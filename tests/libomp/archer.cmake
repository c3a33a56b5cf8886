# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# A program built with ThreadSanitizer finds no race under Archer where our barriers order it, and
# finds the one that is there.

execute_process(COMMAND ${clang} -print-file-name=libarcher.so OUTPUT_VARIABLE archer OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT IS_ABSOLUTE "${archer}")
  hierbar_report_missing(Archer "what ThreadSanitizer says of programs is not tested" "clang-19 libomp-19-dev libclang-rt-19-dev")
  return()
endif()
omp_program(under_archer "${clang}" under_archer.cpp -fsanitize=thread ${use_libomp})
add_custom_target(archer_test_program ALL DEPENDS ${program_dir}/under_archer)

set(archer_env OMP_TOOL_LIBRARIES=${archer} TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66)
omp_cases(under_archer CASES ordered ENV ${archer_env} CHECK --counter fast==800 --counter ordinary==400 --reject ThreadSanitizer)
omp_cases(under_archer CASES unordered ENV ${archer_env} CHECK --exit-code 66 --expect-some "ThreadSanitizer: data race")
