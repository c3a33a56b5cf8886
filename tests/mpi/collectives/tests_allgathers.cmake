# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: allgathers and alltoalls with HIERBAR_MPI=collectives. Behind
# tests_allreduces.cmake.

set(data HIERBAR_MPI=collectives)
set(all_served --count "library allgathers==0" --count "library alltoalls==0")

# Results, by known integers, in every mixture of calls.
mpi_test(allgathers.one allgathers ARGS one 1000 ENV ${data}
         CHECK ${all_served} --count allgathers==2000 --count alltoalls==2000 TIMEOUT 240)
mpi_test(allgathers.oracle.one_rank allgathers RANKS 1 ARGS oracle 200 ENV ${data}
         CHECK --count allgathers==0 --count alltoalls==0)
foreach(num_ranks IN ITEMS 2 4 5)
  mpi_test(allgathers.oracle.${num_ranks} allgathers RANKS ${num_ranks} ARGS oracle 1000 ENV ${data}
           CHECK --count allgathers>=300 --count alltoalls>=300)
endforeach()
mpi_test(allgathers.oracle.8 allgathers RANKS 8 ARGS oracle 400 ENV ${data}
         CHECK --count allgathers>=300 --count alltoalls>=300)
mpi_test(allgathers.oracle.trees allgathers RANKS 9 ARGS oracle 200 ENV ${data} ${two_domains}
         CHECK ${bound} --count allgathers>=300 --count alltoalls>=300)
mpi_test(allgathers.signatures allgathers RANKS 3 ARGS signatures ENV ${data}
         CHECK ${all_served} --count allgathers==252 --count alltoalls==252)
set(num_at_limits 16)
if(family_name STREQUAL mpich) # it has counts of 64 bits
  set(num_at_limits 18)
endif()
mpi_test(allgathers.limits allgathers ARGS limits ENV ${data}
         CHECK --count allgathers==${num_at_limits} --count alltoalls==${num_at_limits})
mpi_test(allgathers.threads allgathers ARGS threads 300 ENV ${data} CHECK ${all_served}
         ${all_engine} --count allgathers==1200 --count alltoalls==1200 --count engine==240)
mpi_test(allgathers.progress allgathers ARGS progress ENV ${data}
         CHECK ${no_single_copy} ${all_served} --count allgathers==4 --count alltoalls==4)

# Set-up, memory and its end.
mpi_test(allgathers.set_up allgathers ARGS set_up ENV ${data} ${default}
         CHECK --count allgathers==34 --count "library allgathers==46" --count alltoalls==34
         --count "library alltoalls==6" --count engine==10 --count "before set-up==2")
mpi_test(allgathers.freed allgathers ARGS freed 200 ENV ${data}
         CHECK ${all_served} --count allgathers==1200 --count alltoalls==1600)
mpi_test(allgathers.freed.oversubscribed allgathers RANKS 3 ARGS freed 20 ENV ${data}
         CHECK ${all_served} --count allgathers==180 --count alltoalls==240)
mpi_test(allgathers.many allgathers ARGS many 20 ENV ${data}
         CHECK --count allgathers==96 --count "library allgathers==24"
         --count alltoalls==96 --count "library alltoalls==24"
         --expect "more than 16 communicators of a process have allreduces, allgathers and alltoalls; ")
mpi_test(allgathers.full allgathers ARGS one 5 ENV ${data} HIERBAR_SEGMENT_KIB=8
         CHECK --count allgathers==0 --count "library alltoalls==10"
         --expect "no shared memory is left for the allreduces, allgathers and alltoalls of a communicator of 2 ranks on one node ")

# What the engine does not serve.
mpi_test(allgathers.inter allgathers RANKS 4 ARGS inter ENV ${data}
         CHECK --count allgathers==0 --count "library allgathers==16"
         --count alltoalls==0 --count "library alltoalls==16")
mpi_test(allgathers.two_nodes allgathers RANKS 4 ARGS one 10 ENV ${data} ${two_nodes}
         CHECK --count allgathers==0 --count "library alltoalls==40")
mpi_test(allgathers.baseline allgathers RANKS 3 ARGS one 10 ENV ${data} HIERBAR_ALGORITHM=mcs
         CHECK --count allgathers==0 --count "library alltoalls==30")
set(num_wrong 6)
set(num_in_own_part 10)
set(num_wrong_own_part 0)
if(family_name STREQUAL mpich) # it looks at more arguments
  set(num_wrong 10)
  set(num_in_own_part 4)
  set(num_wrong_own_part 6)
endif()
mpi_test(allgathers.wrong allgathers ARGS wrong ENV ${data}
         CHECK --count allgathers==8 --count "library allgathers==${num_wrong}"
         --count alltoalls==8 --count "library alltoalls==${num_wrong}")
mpi_test(allgathers.own_part allgathers ARGS own_part ENV ${data}
         CHECK --count allgathers==${num_in_own_part}
         --count "library allgathers==${num_wrong_own_part}")
mpi_test(allgathers.barrier allgathers ARGS barrier 10
         CHECK --count allgathers==0 --reject "allgathers of")

# Tools, programs that open the library, Fortran.
foreach(place IN ITEMS preload preload-after)
  mpi_test(allgathers.tool.${place} allgathers ARGS one 20 ENV ${data}
           CHECK --${place} ${program_dir}/tool_that_counts.so ${all_served}
           --count allgathers==40 --expect-some "tool: 20 allgathers, 20 alltoalls")
endforeach()
mpi_test(allgathers.opened allgathers ARGS opened 20 : ${program_dir}/allgathers one 20 RANKS 1
         ENV ${data}
         CHECK ${all_served} --count allgathers==40 --count alltoalls==40)
if(fort)
  foreach(interface IN ITEMS mpif module f08)
    mpi_test(allgathers.fortran.${interface} allgathers_${interface} RANKS 3 ENV ${data}
             CHECK ${all_served} --count allgathers==300 --count alltoalls==300)
    mpi_test(allgathers.languages.${interface} allgathers
             ARGS shared : ${program_dir}/allgathers_${interface} RANKS 1 ENV ${data}
             CHECK ${all_served} --count allgathers==200 --count alltoalls==200)
  endforeach()
endif()

# Diagnosis.
set(waits "on MPI_COMM_WORLD of 3 ranks on this node has waited 1 s for rank 2 .process [0-9]+, ")
mpi_test(allgathers.late allgathers RANKS 3 ARGS late ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count allgathers==12 --expect "an allgather ${waits}[^,]*$")
mpi_test(allgathers.late_alltoall allgathers RANKS 3 ARGS late_alltoall ENV ${data}
         HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count alltoalls==12 --expect "an alltoall ${waits}[^,]*$")
hierbar_run_alone(${prefix}allgathers.late ${prefix}allgathers.late_alltoall)
mpi_test(allgathers.late_first allgathers RANKS 3 ARGS late_first ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count allgathers==3
         --expect-some "rank 0 has waited 1 s for the set-up in allgather 1 on MPI_COMM_WORLD of 3 ranks: not all of them have arrived; a process without this library ")
