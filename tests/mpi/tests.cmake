# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set(two_nodes HIERBAR_FAKE_NODES=2)
set(all_engine --count library==0)

# The oracle: nobody leaves before all have arrived.
mpi_test(barriers.oracle barriers ARGS oracle 5000 CHECK ${all_engine} --count engine==10000)
mpi_test(barriers.oracle.linked barriers_linked NO_SHIM ARGS oracle 1000 CHECK ${all_engine} --count engine==2000)
mpi_test(barriers.oracle.oversubscribed barriers RANKS 8 ARGS oracle 500 CHECK ${all_engine} --count engine==4000)
mpi_test(barriers.oracle.trees barriers RANKS 9 ARGS oracle 200
         ENV "HIERBAR_TOPOLOGY=l3:2 core:2 pu:1(indexes=0,2,1,3)" HIERBAR_RELEASE=lines CHECK ${all_engine} --count engine==1800)
mpi_test(barriers.oracle.two_nodes barriers RANKS 4 ARGS oracle 200 ENV ${two_nodes} CHECK ${all_engine} --count engine==800)
mpi_test(barriers.oracle.uneven_nodes barriers RANKS 4 ARGS oracle 100 ENV HIERBAR_FAKE_NODES=3 CHECK ${all_engine} --count engine==400)
mpi_test(barriers.subsets barriers RANKS 4 ARGS subsets 5 CHECK --count engine==496 --count library==104 --count "one rank==104")
mpi_test(barriers.growing barriers RANKS 4 ARGS growing CHECK ${all_engine} --count engine==162)

# Communicators come and go: every place in the segment is given back, by 10,000 cycles in room for seven.
mpi_test(barriers.duplicates barriers ARGS duplicates 10000 ENV HIERBAR_SEGMENT_KIB=8 CHECK ${all_engine} --count engine==40000)
mpi_test(barriers.duplicates.two_nodes barriers RANKS 4 ARGS duplicates 30 ENV ${two_nodes} CHECK ${all_engine} --count engine==240)
mpi_test(barriers.many barriers ARGS many 1000 CHECK ${all_engine} --count engine==4000)
# Room for 15 communicators of two ranks, beside the plan that is being read.
mpi_test(barriers.many.full barriers ARGS many 50 ENV HIERBAR_SEGMENT_KIB=16
         CHECK --count engine==60 --count "segment full==140" --count library==140
               --expect "no shared memory is left for another communicator of 2 ranks on one node .*; the MPI library's own barrier is used")

# What the engine does not serve.
mpi_test(barriers.passed_on barriers RANKS 4 ARGS passed_on
         CHECK --count engine==4 --count "one rank==4" --count intercommunicator==4 --count library==8)
mpi_test(barriers.errors barriers ARGS errors CHECK --count engine==2 --count outside==4 --count library==4)
mpi_test(barriers.off barriers ARGS oracle 10 ENV HIERBAR_MPI=off CHECK --count off==20 --count engine==0)
mpi_test(barriers.fault_tolerance barriers ARGS oracle 10 ENV MPIR_CVAR_ENABLE_FT=1 CHECK --count "fault tolerance==20" --count engine==0)
mpi_test(barriers.every_rank_a_node barriers ARGS oracle 10 ENV ${two_nodes} CHECK --count "no shared memory==20" --count engine==0)

# Bad settings: one message each, and the program runs.
foreach(value IN ITEMS 0 -3 abc 1025 2x)
  mpi_test(settings.fake_nodes.${value} barriers ARGS oracle 10 ENV HIERBAR_FAKE_NODES=${value}
           CHECK ${all_engine} --count engine==20
                 --expect "^hierbar: mpi: HIERBAR_FAKE_NODES: '${value}': .*; allowed: 1 to 1024; 1 used instead$")
endforeach()
mpi_test(settings.mpi barriers ARGS oracle 10 ENV HIERBAR_MPI=maybe
         CHECK ${all_engine} --count engine==20 --expect "HIERBAR_MPI: 'maybe': not understood; allowed: off, on; on used instead$")
mpi_test(settings.timeout barriers ARGS oracle 10 ENV HIERBAR_TIMEOUT_S=soon
         CHECK ${all_engine} --count engine==20 --expect "HIERBAR_TIMEOUT_S: 'soon': .*; allowed: 0 to 1000000; 0 .never. used instead$")
mpi_test(settings.empty barriers ARGS oracle 10 ENV HIERBAR_FAKE_NODES= HIERBAR_MPI= HIERBAR_TIMEOUT_S=
         CHECK ${all_engine} --count engine==20 --reject HIERBAR_)
