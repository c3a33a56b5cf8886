# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: allreduces with HIERBAR_MPI=collectives. Behind tests_of_both.cmake.

set(data HIERBAR_MPI=collectives)
set(all_served --count "library allreduces==0")

# Results, by known integers, in every mixture of calls.
mpi_test(allreduces.one allreduces ARGS one 1000 ENV ${data} CHECK ${all_served}
         --count allreduces==2000)
mpi_test(allreduces.oracle.one_rank allreduces RANKS 1 ARGS oracle 200 ENV ${data}
         CHECK --count allreduces==0)
foreach(num_ranks IN ITEMS 2 4 5)
  mpi_test(allreduces.oracle.${num_ranks} allreduces RANKS ${num_ranks} ARGS oracle 1000 ENV ${data}
           CHECK --count allreduces>=600)
endforeach()
mpi_test(allreduces.oracle.8 allreduces RANKS 8 ARGS oracle 400 ENV ${data}
         CHECK --count allreduces>=600)
mpi_test(allreduces.oracle.trees allreduces RANKS 9 ARGS oracle 200 ENV ${data} ${two_domains}
         CHECK ${bound} --count allreduces>=500)
mpi_test(allreduces.oracle.recorded allreduces RANKS 4 ARGS oracle 300 ENV ${data}
         HIERBAR_REPORT=text HIERBAR_OUTPUT=${program_dir}/allreduces
         CHECK --count allreduces>=500)
set(num_at_limits 14)
if(family_name STREQUAL mpich) # it has counts of 64 bits
  set(num_at_limits 16)
endif()
mpi_test(allreduces.limits allreduces ARGS limits ENV ${data}
         CHECK --count allreduces==${num_at_limits})
mpi_test(allreduces.threads allreduces ARGS threads 300 ENV ${data} CHECK ${all_served} ${all_engine}
         --count allreduces==2400 --count engine==240)
set(no_single_copy)
if(family_name STREQUAL ompi)
  set(no_single_copy --launch=--mca --launch=btl_vader_single_copy_mechanism --launch=none)
endif()
mpi_test(allreduces.progress allreduces ARGS progress ENV ${data}
         CHECK ${no_single_copy} ${all_served} --count allreduces==4)

# Set-up, memory and its end.
mpi_test(allreduces.set_up allreduces ARGS set_up ENV ${data} ${default}
         CHECK --count allreduces==30 --count "library allreduces==50" --count engine==8
         --count "before set-up==4")
mpi_test(allreduces.freed allreduces ARGS freed 200 ENV ${data} CHECK ${all_served}
         --count allreduces==1200)
mpi_test(allreduces.freed.oversubscribed allreduces RANKS 3 ARGS freed 20 ENV ${data}
         CHECK ${all_served} --count allreduces==180)
mpi_test(allreduces.many allreduces ARGS many 20 ENV ${data}
         CHECK --count allreduces==96 --count "library allreduces==24"
         --expect "more than 16 communicators of a process have allreduces, allgathers, alltoalls and reduce-scatters; the MPI library serves its allreduces, allgathers, alltoalls and reduce-scatters instead$")
mpi_test(allreduces.full allreduces ARGS one 5 ENV ${data} HIERBAR_SEGMENT_KIB=8
         CHECK --count allreduces==0 --count "library allreduces==10"
         --expect "no shared memory is left for the allreduces, allgathers, alltoalls and reduce-scatters of a communicator of 2 ranks on one node ")

# What the engine does not serve.
mpi_test(allreduces.inter allreduces RANKS 4 ARGS inter ENV ${data}
         CHECK --count allreduces==0 --count "library allreduces==12")
mpi_test(allreduces.two_nodes allreduces RANKS 4 ARGS one 10 ENV ${data} ${two_nodes}
         CHECK --count allreduces==0 --count "library allreduces==40")
mpi_test(allreduces.baseline allreduces RANKS 3 ARGS one 10 ENV ${data} HIERBAR_ALGORITHM=mcs
         CHECK --count allreduces==0 --count "library allreduces==30")
mpi_test(allreduces.devices allreduces ARGS one 10 ENV ${data} MPIR_CVAR_ENABLE_GPU=1
         CHECK --count allreduces==0 --count "library allreduces==20"
         --expect "the MPI library takes buffers in the memory of devices, so it serves all calls with data")
mpi_test(allreduces.wrong allreduces ARGS wrong ENV ${data}
         CHECK --count allreduces==8 --count "library allreduces==10")
foreach(setting IN ITEMS barrier off)
  mpi_test(allreduces.${setting} allreduces ARGS barrier 10 ENV HIERBAR_MPI=${setting}
           CHECK --count allreduces==0 --reject "allreduces of")
endforeach()
mpi_test(allreduces.other_setting /usr/bin/env
         ARGS HIERBAR_MPI=barrier ${program_dir}/allreduces barrier 10 :
         ${program_dir}/allreduces barrier 10
         RANKS 1 ENV ${data}
         CHECK ${all_engine} --count engine==2 --count allreduces==0
         --expect "HIERBAR_MPI: not all ranks have 'collectives', so the MPI library serves all")

# Tools, programs that open the library, Fortran.
mpi_test(allreduces.tool_before allreduces ARGS one 20 ENV ${data}
         CHECK --preload ${program_dir}/tool_that_counts.so ${all_served} --count allreduces==40
         --expect-some "tool: 20 allreduces")
mpi_test(allreduces.tool_after allreduces ARGS one 20 ENV ${data}
         CHECK --preload-after ${program_dir}/tool_that_counts.so ${all_served}
         --count allreduces==40 --expect-some "tool: 20 allreduces")
mpi_test(allreduces.opened allreduces ARGS opened 20 : ${program_dir}/allreduces one 20 RANKS 1
         ENV ${data}
         CHECK ${all_served} --count allreduces==40)
if(fort)
  foreach(interface IN ITEMS mpif module f08)
    mpi_test(allreduces.fortran.${interface} allreduce_${interface} RANKS 3 ENV ${data}
             CHECK ${all_served} --count allreduces==303)
    mpi_test(allreduces.languages.${interface} allreduces
             ARGS shared : ${program_dir}/allreduce_${interface} RANKS 1 ENV ${data}
             CHECK ${all_served} --count allreduces==202)
    mpi_test(allreduces.fortran.${interface}.tool allreduce_${interface} RANKS 2 ENV ${data}
             CHECK --preload-after ${program_dir}/tool_that_counts.so ${all_served}
             --count allreduces==202)
  endforeach()
endif()

# Diagnosis.
mpi_test(allreduces.late allreduces RANKS 3 ARGS late ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count allreduces==15
         --expect "an allreduce on MPI_COMM_WORLD of 3 ranks on this node has waited 1 s for rank 2 .process [0-9]+, .*$")
hierbar_run_alone(${prefix}allreduces.late) # one report a second
mpi_test(allreduces.late_first allreduces RANKS 3 ARGS late_first ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count allreduces==6
         --expect-some "rank 0 has waited 1 s for the set-up in allreduce 1 on MPI_COMM_WORLD of 3 ranks: not all of them have arrived; a process without this library ")
