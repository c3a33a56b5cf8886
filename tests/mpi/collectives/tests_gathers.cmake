# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: gathers and scatters with HIERBAR_MPI=collectives. Behind
# tests_allreduces.cmake.

set(data HIERBAR_MPI=collectives)
set(all_served --count "library gathers==0" --count "library scatters==0")

# Results, by known integers, in every mixture of calls.
mpi_test(gathers.one gathers ARGS one 1000 ENV ${data}
         CHECK ${all_served} --count gathers==2000 --count scatters==2000 TIMEOUT 240)
mpi_test(gathers.oracle.one_rank gathers RANKS 1 ARGS oracle 200 ENV ${data}
         CHECK --count gathers==0 --count scatters==0)
foreach(num_ranks IN ITEMS 2 3 4 5)
  mpi_test(gathers.oracle.${num_ranks} gathers RANKS ${num_ranks} ARGS oracle 1000 ENV ${data}
           CHECK --count gathers>=300 --count scatters>=300)
endforeach()
mpi_test(gathers.oracle.8 gathers RANKS 8 ARGS oracle 400 ENV ${data}
         CHECK --count gathers>=300 --count scatters>=300)
mpi_test(gathers.oracle.trees gathers RANKS 9 ARGS oracle 200 ENV ${data} ${two_domains}
         CHECK ${bound} --count gathers>=300 --count scatters>=300)
mpi_test(gathers.signatures gathers RANKS 3 ARGS signatures ENV ${data}
         CHECK ${all_served} --count gathers==252 --count scatters==252)
set(num_at_limits 16)
if(family_name STREQUAL mpich) # it has counts of 64 bits
  set(num_at_limits 18)
endif()
mpi_test(gathers.limits gathers ARGS limits ENV ${data}
         CHECK --count gathers==${num_at_limits} --count scatters==${num_at_limits})
mpi_test(gathers.threads gathers ARGS threads 300 ENV ${data} CHECK ${all_served}
         ${all_engine} --count gathers==1200 --count scatters==1200 --count engine==240)
mpi_test(gathers.progress gathers ARGS progress ENV ${data}
         CHECK ${no_single_copy} ${all_served} --count gathers==4 --count scatters==4)

# Set-up, memory and its end.
mpi_test(gathers.set_up gathers ARGS set_up ENV ${data} ${default}
         CHECK --count gathers==34 --count "library gathers==46" --count scatters==34
         --count "library scatters==6" --count engine==10 --count "before set-up==2")
mpi_test(gathers.freed gathers ARGS freed 200 ENV ${data}
         CHECK ${all_served} --count gathers==1200 --count scatters==1200)
mpi_test(gathers.freed.oversubscribed gathers RANKS 3 ARGS freed 20 ENV ${data}
         CHECK ${all_served} --count gathers==180 --count scatters==180)
mpi_test(gathers.many gathers ARGS many 20 ENV ${data}
         CHECK --count gathers==96 --count "library gathers==24"
         --count scatters==96 --count "library scatters==24"
         --expect "more than 16 communicators of a process have bcasts, reduces, gathers and scatters; ")
mpi_test(gathers.full gathers ARGS one 5 ENV ${data} HIERBAR_SEGMENT_KIB=8
         CHECK --count gathers==0 --count "library scatters==10"
         --expect "no shared memory is left for the bcasts, reduces, gathers and scatters of a communicator of 2 ranks on one node ")

# What the engine does not serve.
mpi_test(gathers.inter gathers RANKS 4 ARGS inter ENV ${data}
         CHECK --count gathers==0 --count "library gathers==16"
         --count scatters==0 --count "library scatters==16")
mpi_test(gathers.two_nodes gathers RANKS 4 ARGS one 10 ENV ${data} ${two_nodes}
         CHECK --count gathers==0 --count "library scatters==40")
mpi_test(gathers.baseline gathers RANKS 3 ARGS one 10 ENV ${data} HIERBAR_ALGORITHM=mcs
         CHECK --count gathers==0 --count "library scatters==30")
mpi_test(gathers.wrong gathers ARGS wrong ENV ${data}
         CHECK --count gathers==8 --count "library gathers==10"
         --count scatters==8 --count "library scatters==10")
mpi_test(gathers.lengths gathers ARGS lengths ENV ${data}
         CHECK ${all_served} --count gathers==16 --count scatters==16)
set(num_in_own_part 10)
set(num_wrong_own_part 0)
if(family_name STREQUAL mpich) # its root has an error
  set(num_in_own_part 5)
  set(num_wrong_own_part 1)
endif()
mpi_test(gathers.own_part gathers ARGS own_part ENV ${data}
         CHECK --count gathers==${num_in_own_part}
         --count "library gathers==${num_wrong_own_part}")
mpi_test(gathers.barrier gathers ARGS barrier 10
         CHECK --count gathers==0 --reject "gathers of")

# Tools, programs that open the library, Fortran.
foreach(place IN ITEMS preload preload-after)
  mpi_test(gathers.tool.${place} gathers ARGS one 20 ENV ${data}
           CHECK --${place} ${program_dir}/tool_that_counts.so ${all_served}
           --count gathers==40 --expect-some "tool: 20 gathers, 20 scatters")
endforeach()
mpi_test(gathers.opened gathers ARGS opened 20 : ${program_dir}/gathers one 20 RANKS 1
         ENV ${data}
         CHECK ${all_served} --count gathers==40 --count scatters==40)
if(fort)
  foreach(interface IN ITEMS mpif module f08)
    mpi_test(gathers.fortran.${interface} gathers_${interface} RANKS 3 ENV ${data}
             CHECK ${all_served} --count gathers==300 --count scatters==300)
    # Without the shim's service, each call with all of its arguments.
    mpi_test(gathers.fortran.${interface}.library gathers_${interface} RANKS 3
             CHECK --count gathers==0)
    mpi_test(gathers.languages.${interface} gathers
             ARGS shared : ${program_dir}/gathers_${interface} RANKS 1 ENV ${data}
             CHECK ${all_served} --count gathers==200 --count scatters==200)
  endforeach()
endif()

# Diagnosis: who waits, and for whom.
set(waits "on MPI_COMM_WORLD of 3 ranks on this node has waited 1 s for rank 2 .process [0-9]+, ")
mpi_test(gathers.late gathers RANKS 3 ARGS late ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count gathers==12 --expect "a gather ${waits}[^,]*$")
mpi_test(gathers.late_scatter gathers RANKS 3 ARGS late_scatter ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count scatters==12 --expect "a scatter ${waits}[^,]*$")
mpi_test(gathers.no_room gathers RANKS 3 ARGS no_room ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count scatters==309 --expect "a scatter ${waits}[^,]*$")
hierbar_run_alone(${prefix}gathers.late ${prefix}gathers.late_scatter ${prefix}gathers.no_room)
mpi_test(gathers.late_first gathers RANKS 3 ARGS late_first ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count scatters==3
         --expect-some "rank 0 has waited 1 s for the set-up in scatter 1 on MPI_COMM_WORLD of 3 ranks: not all of them have arrived; a process without this library ")
