# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With Open MPI: what depends on the library, beside tests_of_both.cmake.

set(bound --launch=--map-by --launch=core --launch=--bind-to --launch=core:overload-allowed)
include(${CMAKE_CURRENT_SOURCE_DIR}/tests_of_both.cmake)

# Communicators.
mpi_test(barriers.oracle barriers ARGS oracle 5000 CHECK ${all_engine} --count engine==10000
         --expect "library: Open MPI .*, progress by opal_progress$")
mpi_test(barriers.many barriers ARGS many 1000 CHECK ${all_engine} --count engine==4000)
# Its shared memory is for the processes of one MPI_COMM_WORLD only; the shim's is not.
set(sockets --launch=--mca --launch=btl --launch=tcp,self)
mpi_test(barriers.spawn barriers ARGS spawn CHECK ${sockets} ${all_engine} --count engine==400)
mpi_test(barriers.spawn.two_nodes barriers ARGS spawn ENV ${two_nodes} CHECK ${sockets}
         --count engine==400)
# Parents who had a cpu each learn that there are more ranks than cpus now.
mpi_test(barriers.crowd barriers ARGS crowd
         CHECK ${sockets} --launch=--bind-to --launch=none ${all_engine} --count engine==440
               --expect "first communicator: 2 ranks, .* a cpu for every rank$"
               --expect "ranks outnumber cpus now")
mpi_test(barriers.fault_tolerance barriers ARGS oracle 10 ENV OMPI_MCA_mpi_ft_enable=1 CHECK
         --count "fault tolerance==20" --count engine==0)

# Threads on several nodes: Open MPI would hang if they made the leaders' communicators.
set(may_hang
    --expect-some
    "a thread that did not initialise MPI, and Open MPI may hang if several threads make communicators")
mpi_test(threads.two_nodes threads RANKS 4 ARGS own 20 ENV ${two_nodes}
         CHECK ${may_hang} --count engine==0 --count "not main thread==320")
mpi_test(threads.groups threads RANKS 4 ARGS groups 25 ENV ${two_nodes}
         CHECK ${may_hang} --count engine==3 --count "not main thread==700")

# Progress. By default Open MPI reads a pending send's data out of the other process and writes its
# window, which needs no help from there.
set(transport_isend --launch=--mca --launch=btl_vader_single_copy_mechanism --launch=none)
set(transport_ssend)
set(transport_lock --launch=--mca --launch=osc --launch=pt2pt)
foreach(what IN ITEMS isend ssend lock)
  set(transport ${transport_${what}})
  mpi_test(progress.${what}.late_last progress ARGS ${what} 1 0 CHECK ${transport} ${all_engine}
           --count engine==42)
  mpi_test(progress.${what}.sockets progress ARGS ${what} 0 1
           CHECK ${transport} ${sockets} ${all_engine} --count engine==42)
  mpi_test(progress.${what}.late_leader.two_nodes progress RANKS 4 ARGS ${what} 0 2 ENV ${two_nodes}
           CHECK ${transport} ${all_engine} --count engine==84)
  mpi_test(progress.${what}.broken progress ARGS ${what} 1 0 TIMEOUT 5
           CHECK ${transport} --hangs --preload ${program_dir}/no_progress.so
           --expect-some "rank 0 is in its first round")
endforeach()

mpi_kill_test(kill 4 20 ${program_dir}/barriers)
# Its own launcher; and PyPI has no wheel of it for every machine.
mpi_script(openmpi5 300 ${CMAKE_CURRENT_SOURCE_DIR}/openmpi5_test.sh ${Python3_EXECUTABLE}
           ${program_dir}/openmpi5 ${program_dir}/barriers
           ${program_dir}/progress ${program_dir}/buffered
           ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/run_mpi_test.py --mpi ompi
           --shim $<TARGET_FILE:${shim}>)

if(TARGET hierbar_mpi)
  foreign_tests(hierbar_mpi
                "uses .*libmpi.so.*, but libhierbar_mpi.so is for MPICH only .libhierbar_mpi_ompi.so is for Open MPI.")
endif()
