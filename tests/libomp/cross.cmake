# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What a cross build tests. Not fork_child, and no other program that forks beside its own threads:
# a child that an emulator forked while it had several threads can have none (qemu-user 7.2 ends by
# an assertion of its own).
# Not shutdown.main_returns_while_another_root_works: qemu-user 7.2 ends in a segmentation fault
# when a process ends beside a thread that works, with LLVM's own barrier as well
# (KMP_BARRIER=hyper: 4 of 12 runs).

set(tests_left_out "\\.(fork_beside_constructs|forked_children)(\\.|$)")
list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " tests_emulator)
string(JOIN "|" tests_selection
  "^(barrier_oracle|worksharing|reductions|split_barriers|regions|teams)(_gcc)?\\."
  "^(tasks|detached_tasks|cancellation|hidden_helpers|late_partner)(_gcc)?\\."
  "^shutdown\\.(exit_by_|main_returns_at_once|pause_|roots_end_|workers_sleep_)"
  "^(gomp_[a-z_]+|two_compilers|plugin)\\."
  "^settings\\.(verbose|pattern_hyper|library_missing|passive|blocktime_[a-z0-9]+\\.trees)$"
  "^(tool|tool\\.trees|stress\\.trees)$")

# An emulator shows no order of memory accesses that the machine under it does not have, so the
# machine code is looked at as well.
add_test(NAME omp.acquire
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/acquire_test.py
                 --objdump ${CMAKE_OBJDUMP} --addr2line ${CMAKE_ADDR2LINE} --wait-in await_go
                 --wait-in await_child ${tests_library_dir}/libomp.so)
hierbar_set_test_properties(omp.acquire omp 120)
