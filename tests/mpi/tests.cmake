# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With MPICH. What does not depend on the library is tested here only.

set(bound --launch=-bind-to --launch=user:0,1,0,1,0,1,0,1,0)
include(${CMAKE_CURRENT_SOURCE_DIR}/tests_of_both.cmake)

# More shapes of the oracle.
mpi_test(barriers.oracle barriers ARGS oracle 5000 CHECK ${all_engine} --count engine==10000)
mpi_test(barriers.oracle.trees.lines barriers RANKS 9 ARGS oracle 200 ENV ${two_domains}
         HIERBAR_RELEASE=lines
         CHECK ${bound} ${all_engine} --count engine==1800
         --expect "9 of them on this node: 2 in the exchange, ")
mpi_test(barriers.oracle.uneven_nodes barriers RANKS 4 ARGS oracle 100 ENV HIERBAR_FAKE_NODES=3
         CHECK ${all_engine} --count engine==400)
# MPICH believes in two nodes, the shim sees one.
mpi_test(barriers.duplicates.cliques barriers RANKS 4 ARGS duplicates 50 ENV MPIR_CVAR_NUM_CLIQUES=2
         CHECK ${all_engine} --count engine==400 --expect "4 ranks, 4 of them on this node")
mpi_test(barriers.subsets.two_nodes barriers RANKS 5 ARGS subsets 2 ENV ${two_nodes} CHECK
         --count engine>=1 --count "no shared memory>=1")
mpi_test(barriers.subsets.uneven_nodes barriers RANKS 5 ARGS subsets 2 ENV HIERBAR_FAKE_NODES=3
         CHECK --count engine>=1 --count "no shared memory>=1")
# No room for all three in one segment.
mpi_test(barriers.subsets.full barriers RANKS 4 ARGS subsets 3 ENV HIERBAR_SEGMENT_KIB=4
         CHECK --count engine>=1 --count "segment full==0" --reject "no shared memory is left")
# On two nodes, one of which has three ranks: its segments are full before the other's.
mpi_test(barriers.many.full.two_nodes barriers RANKS 5 ARGS many 60 ENV HIERBAR_SEGMENT_KIB=16
         ${two_nodes} CHECK ${all_engine} --count engine==600)
# No room for one, in any segment.
mpi_test(barriers.too_many_ranks barriers RANKS 9 ARGS duplicates 5 ENV HIERBAR_SEGMENT_KIB=4
         CHECK --count engine==0 --count "segment full==90"
               --expect
               "no shared memory is left for another communicator of 9 ranks on one node .*; the MPI library's own barrier is used")

# Communicators come and go.
# The library has 2048 communicators; the leaders' are shared, and freed with the last that uses
# them.
mpi_test(barriers.leaders.two_nodes barriers RANKS 3 ARGS leaders 40 ENV ${two_nodes}
         CHECK ${all_engine} --count engine==546)
# At most 512 bytes for each rank and communicator, and 512 for the plan of so few.
mpi_test(barriers.many barriers ARGS many_together 1000 ENV HIERBAR_SEGMENT_KIB=1504
         CHECK ${all_engine} --count engine==4000)
# Room for ten communicators of two ranks: five segments.
mpi_test(barriers.many.full barriers ARGS many 50 ENV HIERBAR_SEGMENT_KIB=16 CHECK ${all_engine}
         --count engine==200)
# As many as MPICH has, with the room of the default.
mpi_test(barriers.many.all barriers ARGS many 2000 CHECK ${all_engine} --count engine==8000)

# Processes of another MPI_COMM_WORLD. Debian's MPICH 4.0.2 cannot spawn, and skips these.
mpi_test(barriers.spawn barriers ARGS spawn CHECK ${all_engine} --count engine==400)
mpi_test(barriers.spawn.two_nodes barriers ARGS spawn ENV ${two_nodes} CHECK --count engine==400)

# What else the engine does not serve.
mpi_test(barriers.errors barriers ARGS errors CHECK --count engine==2 --count outside==4
         --count library==4)
mpi_test(barriers.fault_tolerance barriers ARGS oracle 10 ENV MPIR_CVAR_ENABLE_FT=1 CHECK
         --count "fault tolerance==20" --count engine==0)
mpi_test(barriers.every_rank_a_node barriers ARGS oracle 10 ENV ${two_nodes} CHECK
         --count "no shared memory==20" --count engine==0)

# Threads on several nodes.
mpi_test(threads.two_nodes threads RANKS 4 ARGS own 20 ENV ${two_nodes} CHECK ${all_engine}
         --count engine==320)
mpi_test(threads.groups threads RANKS 4 ARGS groups 2 ENV ${two_nodes} CHECK ${all_engine}
         --count engine==59)

# Bad settings: one message each, and the program runs.
foreach(value IN ITEMS 0 -3 abc 1025 2x)
  mpi_test(settings.fake_nodes.${value} barriers ARGS oracle 10 ENV HIERBAR_FAKE_NODES=${value}
           CHECK ${all_engine} --count engine==20
                 --expect
                 "^hierbar: mpi: HIERBAR_FAKE_NODES: '${value}': .*; allowed: 1 to 1024; 1 used instead$")
endforeach()
mpi_test(settings.mpi barriers ARGS oracle 10 ENV HIERBAR_MPI=maybe
         CHECK ${all_engine} --count engine==20
         --expect "HIERBAR_MPI: 'maybe': not understood; allowed: barrier, collectives, off; barrier used instead$")
mpi_test(settings.timeout barriers ARGS oracle 10 ENV HIERBAR_TIMEOUT_S=soon
         CHECK ${all_engine} --count engine==20
         --expect "HIERBAR_TIMEOUT_S: 'soon': .*; allowed: 0 to 1000000; 0 .never. used instead$")
mpi_test(settings.empty barriers ARGS oracle 10 ENV HIERBAR_FAKE_NODES= HIERBAR_MPI=
         HIERBAR_TIMEOUT_S=
         CHECK ${all_engine} --count engine==20 --reject HIERBAR_)

# A rank that waits makes progress for a late one: whoever leads, on one node and on two, by shared
# memory and by sockets. Without progress the same programs hang, or these tests would show nothing.
# On UCX's TCP, MPICH 4.0.2 now and then does not come back from MPI_Finalize, with and without the
# shim: one rank waits there for the other to close its connection, which has stopped to look.
foreach(what IN ITEMS isend ssend lock)
  mpi_test(progress.${what}.late_first progress ARGS ${what} 0 1 CHECK ${all_engine}
           --count engine==42)
  mpi_test(progress.${what}.late_last progress ARGS ${what} 1 0 CHECK ${all_engine}
           --count engine==42)
  mpi_test(progress.${what}.sockets progress ARGS ${what} 1 0 ENV UCX_TLS=tcp,self
           UCX_NET_DEVICES=lo
           CHECK ${all_engine} --count engine==42 --may-hang-at-end)
  mpi_test(progress.${what}.late_leader.two_nodes progress RANKS 4 ARGS ${what} 0 2 ENV ${two_nodes}
           CHECK ${all_engine} --count engine==84)
  mpi_test(progress.${what}.late_member.two_nodes progress RANKS 4 ARGS ${what} 3 2 ENV ${two_nodes}
           CHECK ${all_engine} --count engine==84)
  mpi_test(progress.${what}.broken progress ARGS ${what} 1 0 TIMEOUT 5
           CHECK --hangs --preload ${program_dir}/no_progress.so
           --expect-some "rank 0 is in its first round")
endforeach()
mpi_test(progress.isend.late_leaf.trees progress RANKS 6 ARGS isend 5 0 ENV ${two_domains}
         CHECK ${bound} ${all_engine} --count engine==126)
mpi_test(progress.isend.late_leader.trees progress RANKS 6 ARGS isend 0 5 ENV ${two_domains}
         CHECK ${bound} ${all_engine} --count engine==126)

# Sessions, and programs that an interpreter loads.
mpi_test(sessions sessions CHECK ${all_engine} --count engine==800)
# The first call that reaches the shim is the interpreter's MPI_Finalize, from where nobody knows
# the library.
mpi_test(module.without_barrier interpreter ARGS ${program_dir}/module.so many 0
         CHECK ${all_engine} --count engine==0 --expect "no MPI_Barrier call reached this library")

# Diagnosis.
mpi_test(watch.other_node barriers RANKS 4 ARGS late ENV HIERBAR_TIMEOUT_S=1 ${two_nodes}
         CHECK ${all_engine} --count engine==8 --expect "has waited 1 s for rank 3 "
         --expect "has waited 1 s for other nodes")
hierbar_run_alone(${prefix}watch.other_node)

mpi_script(one_session 120 ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/one_session_test.py
           --mpiexec ${exec}
           --shim $<TARGET_FILE:${shim}>)
hierbar_judges_time(${prefix}one_session) # whom the kernel gives the cpu

mpi_kill_test(kill 20 100 ${program_dir}/barriers)

mpi_script(two_hosts 300 ${CMAKE_CURRENT_SOURCE_DIR}/two_hosts_test.sh ${exec}
           $<TARGET_FILE:${shim}> ${program_dir}/barriers
           ${program_dir}/teams)

mpi_script(mpi4py 240 ${CMAKE_CURRENT_SOURCE_DIR}/mpi4py_test.sh ${Python3_EXECUTABLE}
           ${program_dir}/mpi4py ${program_dir}/barriers
           ${runner} --ranks 3 --shim $<TARGET_FILE:${shim}>)
mpi_script(mpi4py_own 400 ${CMAKE_CURRENT_SOURCE_DIR}/mpi4py_own_test.sh ${Python3_EXECUTABLE}
           ${program_dir}/mpi4py mpich
           ${program_dir}/barriers --build-dir ${PROJECT_BINARY_DIR} --mpiexec ${exec} --ranks 2
           --timeout 90
           # MPI_Barrier, MPI_Ibarrier, and barriers between groups. .ci/long runs the whole suite.
           --count engine>=6 --count intercommunicator>=2
           test_cco_obj test_cco_obj_inter test_cco_buf.TestCCOBufWorld
           test_cco_nb_buf.TestCCOBufWorld)
# They share a virtual environment.
set_tests_properties(${prefix}mpi4py ${prefix}mpi4py_own PROPERTIES RESOURCE_LOCK mpi4py)

# Its own launcher; and PyPI has no wheel of it for every machine.
mpi_script(intelmpi 300 ${CMAKE_CURRENT_SOURCE_DIR}/intelmpi_test.sh ${Python3_EXECUTABLE}
           ${program_dir}/intelmpi ${program_dir}/barriers
           ${program_dir}/progress ${Python3_EXECUTABLE}
           -B ${CMAKE_CURRENT_SOURCE_DIR}/run_mpi_test.py --mpi mpich
           --shim $<TARGET_FILE:${shim}>)

if(TARGET hierbar_mpi_ompi)
  foreign_tests(hierbar_mpi_ompi
                "uses .*libmpich.*, but libhierbar_mpi_ompi.so is for Open MPI only .libhierbar_mpi.so is for MPICH.")
endif()
