# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: bcasts and reduces with HIERBAR_MPI=collectives. Behind tests_allreduces.cmake.

set(data HIERBAR_MPI=collectives)
set(all_served --count "library bcasts==0" --count "library reduces==0")

# Results, by known integers, in every mixture of calls.
mpi_test(one_way.one one_way ARGS one 1000 ENV ${data}
         CHECK ${all_served} --count bcasts==2000 --count reduces==2000)
mpi_test(one_way.oracle.one_rank one_way RANKS 1 ARGS oracle 200 ENV ${data}
         CHECK --count bcasts==0 --count reduces==0)
foreach(num_ranks IN ITEMS 2 4 5)
  mpi_test(one_way.oracle.${num_ranks} one_way RANKS ${num_ranks} ARGS oracle 1000 ENV ${data}
           CHECK --count bcasts>=400 --count reduces>=400)
endforeach()
mpi_test(one_way.oracle.8 one_way RANKS 8 ARGS oracle 400 ENV ${data}
         CHECK --count bcasts>=400 --count reduces>=400)
mpi_test(one_way.oracle.trees one_way RANKS 9 ARGS oracle 200 ENV ${data} ${two_domains}
         CHECK ${bound} --count bcasts>=300 --count reduces>=300)
mpi_test(one_way.signatures one_way RANKS 3 ARGS signatures ENV ${data}
         CHECK ${all_served} --count bcasts==225)
set(more_at_limits 0)
if(family_name STREQUAL mpich) # it has counts of 64 bits
  set(more_at_limits 2)
endif()
math(EXPR num_bcasts "8 + ${more_at_limits}")
math(EXPR num_reduces "14 + ${more_at_limits}")
mpi_test(one_way.limits one_way ARGS limits ENV ${data}
         CHECK --count bcasts==${num_bcasts} --count reduces==${num_reduces})
mpi_test(one_way.threads one_way ARGS threads 300 ENV ${data} CHECK ${all_served} ${all_engine}
         --count bcasts==1200 --count reduces==1200 --count engine==240)
mpi_test(one_way.progress one_way ARGS progress ENV ${data}
         CHECK ${no_single_copy} ${all_served} --count bcasts==4 --count reduces==2)

# Set-up, memory and its end.
mpi_test(one_way.set_up one_way ARGS set_up ENV ${data} ${default}
         CHECK --count bcasts==34 --count "library bcasts==46" --count reduces==34
         --count "library reduces==6" --count engine==10 --count "before set-up==2")
mpi_test(one_way.freed one_way ARGS freed 200 ENV ${data}
         CHECK ${all_served} --count bcasts==1200 --count reduces==1200)
mpi_test(one_way.freed.oversubscribed one_way RANKS 3 ARGS freed 20 ENV ${data}
         CHECK ${all_served} --count bcasts==180 --count reduces==180)
mpi_test(one_way.many one_way ARGS many 20 ENV ${data}
         CHECK --count bcasts==96 --count "library bcasts==24"
         --count reduces==96 --count "library reduces==24"
         --expect "more than 16 communicators of a process have bcasts, reduces, gathers and scatters; the MPI library serves its bcasts, reduces, gathers and scatters instead$")
mpi_test(one_way.full one_way ARGS one 5 ENV ${data} HIERBAR_SEGMENT_KIB=8
         CHECK --count bcasts==0 --count "library reduces==10"
         --expect "no shared memory is left for the bcasts, reduces, gathers and scatters of a communicator of 2 ranks on one node ")

# What the engine does not serve.
mpi_test(one_way.inter one_way RANKS 4 ARGS inter ENV ${data}
         CHECK --count bcasts==0 --count "library bcasts==16"
         --count reduces==0 --count "library reduces==16")
mpi_test(one_way.two_nodes one_way RANKS 4 ARGS one 10 ENV ${data} ${two_nodes}
         CHECK --count bcasts==0 --count "library reduces==40")
mpi_test(one_way.baseline one_way RANKS 3 ARGS one 10 ENV ${data} HIERBAR_ALGORITHM=mcs
         CHECK --count bcasts==0 --count "library reduces==30")
mpi_test(one_way.wrong one_way ARGS wrong ENV ${data}
         CHECK --count bcasts==16 --count "library bcasts==10"
         --count reduces==8 --count "library reduces==6")
mpi_test(one_way.barrier one_way ARGS barrier 10
         CHECK --count bcasts==0 --reject "bcasts of")

# Tools, programs that open the library, Fortran.
foreach(place IN ITEMS preload preload-after)
  mpi_test(one_way.tool.${place} one_way ARGS one 20 ENV ${data}
           CHECK --${place} ${program_dir}/tool_that_counts.so ${all_served} --count bcasts==40
           --expect-some "tool: 20 bcasts, 20 reduces")
endforeach()
mpi_test(one_way.opened one_way ARGS opened 20 : ${program_dir}/one_way one 20 RANKS 1
         ENV ${data}
         CHECK ${all_served} --count bcasts==40 --count reduces==40)
if(fort)
  foreach(interface IN ITEMS mpif module f08)
    mpi_test(one_way.fortran.${interface} one_way_${interface} RANKS 3 ENV ${data}
             CHECK ${all_served} --count bcasts==150 --count reduces==300)
    mpi_test(one_way.languages.${interface} one_way
             ARGS shared : ${program_dir}/one_way_${interface} RANKS 1 ENV ${data}
             CHECK ${all_served} --count bcasts==100 --count reduces==200)
  endforeach()
endif()

# Diagnosis: who waits, and for whom.
set(waits "on MPI_COMM_WORLD of 3 ranks on this node has waited 1 s for rank 2 .process [0-9]+, ")
mpi_test(one_way.late one_way RANKS 3 ARGS late ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count bcasts==18 --expect "a bcast ${waits}[^,]*$")
mpi_test(one_way.late_reduce one_way RANKS 3 ARGS late_reduce ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count reduces==12 --expect "a reduce ${waits}[^,]*$")
mpi_test(one_way.no_room one_way RANKS 3 ARGS no_room ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count bcasts==309 --expect "a bcast ${waits}[^,]*$")
hierbar_run_alone(${prefix}one_way.late ${prefix}one_way.late_reduce ${prefix}one_way.no_room)
mpi_test(one_way.late_first one_way RANKS 3 ARGS late_first ENV ${data} HIERBAR_TIMEOUT_S=1
         CHECK ${all_served} --count bcasts==9
         --expect-some "rank 0 has waited 1 s for the set-up in bcast 1 on MPI_COMM_WORLD of 3 ranks: not all of them have arrived; a process without this library ")
