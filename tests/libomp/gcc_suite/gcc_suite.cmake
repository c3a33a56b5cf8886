# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests of what runs GCC's own tests of libgomp. These themselves take too long for ctest: .ci/long runs them.

set(gcc_suite_dir ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME gcc_suite_test COMMAND ${Python3_EXECUTABLE} -B ${gcc_suite_dir}/gcc_suite_test.py)
add_test(NAME gcc_suite_fetch_test COMMAND ${gcc_suite_dir}/fetch_gcc_tests_test.sh)
foreach(name IN ITEMS gcc_suite_test gcc_suite_fetch_test)
  hierbar_set_test_properties(${name} unit 60)
endforeach()
