# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# GCC's own tests of libgomp: a selection that takes less than a minute on 2 cpus, the first time
# with compiling. Nothing is downloaded; ./bootstrap test and .ci/long fetch the sources. .ci/long
# runs all of them.

set(gcc_suite_dir ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME gcc_suite_test COMMAND ${Python3_EXECUTABLE} -B ${gcc_suite_dir}/gcc_suite_test.py)
add_test(NAME gcc_suite_fetch_test COMMAND ${gcc_suite_dir}/fetch_gcc_tests_test.sh)
foreach(name IN ITEMS gcc_suite_test gcc_suite_fetch_test)
  hierbar_set_test_properties(${name} unit 60)
endforeach()

# Of each group of constructs some, above all what once failed.
string(JOIN "|" gcc_suite_quick
  "^libgomp\\.c/(loop-(2|6|12)|cancel-for-2|cancel-parallel-1|depend-[15]|lock-1)\\.c$"
  "^libgomp\\.c/(sections-1|task-2|taskloop-2|teams-1|udr-1)\\.c$"
  "^c-c\\+\\+-common as C/(for-4|taskloop-4|task-reduction-(3|16)|taskgroup-1)\\.c$"
  "^c-c\\+\\+-common as C/target-has-device-addr-1\\.c$"
  "^c-c\\+\\+-common as C\\+\\+/(for-9|reduction-5|scan-3)\\.c$"
  "^libgomp\\.c\\+\\+/(loop-9|member-1|task-reduction-8|taskloop-[56])\\.C$"
  "^libgomp\\.fortran/(cancel-do-2|crayptr1|doacross1|do1|lock-2|scan-1|taskloop1)\\.f90$"
  "^libgomp\\.fortran/(target-has-device-addr-3|task-reduction-16)\\.f90$")
add_test(NAME omp.gcc_suite
         COMMAND ${CMAKE_COMMAND} -E env HIERBAR_OFFLINE=1
                 ${Python3_EXECUTABLE} -B ${gcc_suite_dir}/check_gcc_suite.py
                 --build-dir ${PROJECT_BINARY_DIR} --lib-dir ${HIERBAR_OMP_TEST_LIBRARY_DIR}
                 --env KMP_BARRIER=hier --only ${gcc_suite_quick})
hierbar_set_test_properties(omp.gcc_suite "omp;gcc" 600)
set_tests_properties(omp.gcc_suite PROPERTIES SKIP_RETURN_CODE 77)
