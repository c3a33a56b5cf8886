# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: allgathers and alltoalls with HIERBAR_MPI=collectives. Behind
# tests_two_calls.cmake.

test_two_calls(allgathers allgathers alltoalls
               "allreduces, allgathers, alltoalls and reduce-scatters" 2 4 5)

# The end of a communicator's memory.
mpi_test(allgathers.freed allgathers ARGS freed 200 ENV ${data}
         CHECK ${all_served} --count allgathers==1200 --count alltoalls==1600)
mpi_test(allgathers.freed.oversubscribed allgathers RANKS 3 ARGS freed 20 ENV ${data}
         CHECK ${all_served} --count allgathers==180 --count alltoalls==240)

# What the engine does not serve, and errors.
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
