# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: MPI_Reduce_scatter_block with HIERBAR_MPI=collectives. Behind
# tests_two_calls.cmake.

set(all_served --count "library reduce-scatters==0")

# Results, by known integers, in every mixture of calls.
mpi_test(reduce_scatters.one reduce_scatters ARGS one 1000 ENV ${data}
         CHECK ${all_served} --count reduce-scatters==2000 TIMEOUT 240)
mpi_test(reduce_scatters.oracle.one_rank reduce_scatters RANKS 1 ARGS oracle 200 ENV ${data}
         CHECK --count reduce-scatters==0)
foreach(num_ranks IN ITEMS 2 4 5)
  mpi_test(reduce_scatters.oracle.${num_ranks} reduce_scatters RANKS ${num_ranks} ARGS oracle 1000
           ENV ${data} CHECK --count reduce-scatters>=600 TIMEOUT 240)
endforeach()
mpi_test(reduce_scatters.oracle.8 reduce_scatters RANKS 8 ARGS oracle 400 ENV ${data}
         CHECK --count reduce-scatters>=600 TIMEOUT 240)
mpi_test(reduce_scatters.oracle.trees reduce_scatters RANKS 9 ARGS oracle 200 ENV ${data}
         ${two_domains} CHECK ${bound} --count reduce-scatters>=500 TIMEOUT 240)
mpi_test(reduce_scatters.limits reduce_scatters ARGS limits ENV ${data}
         CHECK --count reduce-scatters==${num_at_limits})
mpi_test(reduce_scatters.pairs reduce_scatters RANKS 3 ARGS pairs ENV ${data}
         CHECK ${all_served} --count reduce-scatters==120)
mpi_test(reduce_scatters.threads reduce_scatters ARGS threads 300 ENV ${data}
         CHECK ${all_served} ${all_engine} --count reduce-scatters==2400 --count engine==240)
mpi_test(reduce_scatters.progress reduce_scatters ARGS progress ENV ${data}
         CHECK ${no_single_copy} ${all_served} --count reduce-scatters==4)

# Set-up, memory and its end.
mpi_test(reduce_scatters.set_up reduce_scatters ARGS set_up ENV ${data} ${default}
         CHECK --count reduce-scatters==30 --count "library reduce-scatters==50" --count engine==8
         --count "before set-up==4")
mpi_test(reduce_scatters.freed reduce_scatters ARGS freed 200 ENV ${data}
         CHECK ${all_served} --count reduce-scatters==1200)
mpi_test(reduce_scatters.freed.oversubscribed reduce_scatters RANKS 3 ARGS freed 20 ENV ${data}
         CHECK ${all_served} --count reduce-scatters==180)
mpi_test(reduce_scatters.full reduce_scatters ARGS one 5 ENV ${data} HIERBAR_SEGMENT_KIB=8
         CHECK --count reduce-scatters==0 --count "library reduce-scatters==10"
         --expect "no shared memory is left for the allreduces, allgathers, alltoalls and reduce-scatters of a communicator of 2 ranks on one node ")

# What the engine does not serve, and errors.
mpi_test(reduce_scatters.inter reduce_scatters RANKS 4 ARGS inter ENV ${data}
         CHECK --count reduce-scatters==0 --count "library reduce-scatters==16")
mpi_test(reduce_scatters.two_nodes reduce_scatters RANKS 4 ARGS one 10 ENV ${data} ${two_nodes}
         CHECK --count reduce-scatters==0 --count "library reduce-scatters==40")
mpi_test(reduce_scatters.baseline reduce_scatters RANKS 3 ARGS one 10 ENV ${data}
         HIERBAR_ALGORITHM=mcs
         CHECK --count reduce-scatters==0 --count "library reduce-scatters==30")
mpi_test(reduce_scatters.barrier reduce_scatters ARGS barrier 10
         CHECK --count reduce-scatters==0 --reject "reduce-scatters of")
set(num_wrong 10)
set(num_in_one_buffer 10)
if(family_name STREQUAL mpich) # one buffer is an error there
  set(num_wrong 8)
  set(num_in_one_buffer 4)
endif()
mpi_test(reduce_scatters.wrong reduce_scatters ARGS wrong ENV ${data}
         CHECK --count reduce-scatters==8 --count "library reduce-scatters==${num_wrong}")
mpi_test(reduce_scatters.one_buffer reduce_scatters ARGS one_buffer ENV ${data}
         CHECK --count reduce-scatters==${num_in_one_buffer})

# Tools, programs that open the library, Fortran.
foreach(place IN ITEMS preload preload-after)
  mpi_test(reduce_scatters.tool.${place} reduce_scatters ARGS one 20 ENV ${data}
           CHECK --${place} ${program_dir}/tool_that_counts.so ${all_served}
           --count reduce-scatters==40 --expect-some "tool: 20 reduce-scatters")
endforeach()
mpi_test(reduce_scatters.opened reduce_scatters
         ARGS opened 20 : ${program_dir}/reduce_scatters one 20 RANKS 1 ENV ${data}
         CHECK ${all_served} --count reduce-scatters==40)
if(fort)
  foreach(interface IN ITEMS mpif module f08)
    mpi_test(reduce_scatters.fortran.${interface} reduce_scatters_${interface} RANKS 3 ENV ${data}
             CHECK ${all_served} --count reduce-scatters==300)
    mpi_test(reduce_scatters.languages.${interface} reduce_scatters
             ARGS shared : ${program_dir}/reduce_scatters_${interface} RANKS 1 ENV ${data}
             CHECK ${all_served} --count reduce-scatters==200)
    # Without the shim's service: each call with all of its arguments.
    mpi_test(reduce_scatters.fortran.${interface}.library reduce_scatters_${interface} RANKS 3
             CHECK --count reduce-scatters==0)
  endforeach()
endif()

# Diagnosis.
mpi_test(reduce_scatters.late reduce_scatters RANKS 3 ARGS late ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count reduce-scatters==15
         --expect "a reduce-scatter on MPI_COMM_WORLD of 3 ranks on this node has waited 1 s for rank 2 .process [0-9]+, .*$")
hierbar_run_alone(${prefix}reduce_scatters.late) # one report a second
