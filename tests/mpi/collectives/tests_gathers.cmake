# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: gathers and scatters with HIERBAR_MPI=collectives. Behind
# tests_two_calls.cmake.

test_two_calls(gathers gathers scatters "bcasts, reduces, gathers and scatters" 2 3 4 5)

# The end of a communicator's memory.
mpi_test(gathers.freed gathers ARGS freed 200 ENV ${data}
         CHECK ${all_served} --count gathers==1200 --count scatters==1200)
mpi_test(gathers.freed.oversubscribed gathers RANKS 3 ARGS freed 20 ENV ${data}
         CHECK ${all_served} --count gathers==180 --count scatters==180)

# What the engine does not serve, and errors.
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

# Fortran without the shim's service: each call with all of its arguments.
if(fort)
  foreach(interface IN ITEMS mpif module f08)
    mpi_test(gathers.fortran.${interface}.library gathers_${interface} RANKS 3
             CHECK --count gathers==0)
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
