# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: collective calls that carry data, drawn at random and checked against an oracle
# of the program's own. Each run draws for a second at most, or a hundred rounds, in which each call
# is drawn; .ci/long draws for ten minutes.

set(collectives HIERBAR_MPI=collectives)
set(right --expect "calls, seed [0-9]+: all were right. checksum [0-9a-f]+$")

# Without the shim: the oracle itself.
mpi_test(collectives.library collectives_fuzz NO_SHIM RANKS 3 ARGS --seconds 1 --seed 3
         CHECK ${right})
# All calls, those of the engine among those of the library; and the engine's alone, with all
# values and in the documented order.
foreach(ranks IN ITEMS 2 3 4 5 8)
  mpi_test(collectives.${ranks} collectives_fuzz RANKS ${ranks}
           ARGS --seconds 0.5 --seed ${ranks}
           ENV ${collectives} CHECK ${right} TIMEOUT 240)
  mpi_test(collectives.served.${ranks} collectives_fuzz RANKS ${ranks}
           ARGS --served allreduce,bcast,reduce,allgather,alltoall,gather,scatter,reduce_scatter_block
           --rounds 100 --seed ${ranks}
           ENV ${collectives} CHECK ${right} --count allreduces>=1 --count bcasts>=1
           --count reduces>=1 --count allgathers>=1 --count alltoalls>=1 --count gathers>=1
           --count scatters>=1 --count reduce-scatters>=1 TIMEOUT 240)
endforeach()
mpi_test(collectives.barriers collectives_fuzz RANKS 4 ARGS --seconds 0.5
         CHECK ${right} --count allreduces==0)
mpi_test(collectives.two_nodes collectives_fuzz RANKS 4 ARGS --seconds 0.5 --seed 5
         ENV ${collectives} ${two_nodes} CHECK ${right})
mpi_script(collectives.checksums 400 ${Python3_EXECUTABLE}
           -B ${CMAKE_CURRENT_SOURCE_DIR}/checksums_test.py --mpi ${family_name} --mpiexec ${exec}
           --shim $<TARGET_FILE:${shim}> --program ${program_dir}/collectives_fuzz)

if(family_name STREQUAL "mpich")
  # A library that does it wrongly is found out.
  foreach(breaks IN ITEMS bits element beyond input never)
    set(message_bits "ranks 0 and 1 have different bits")
    set(message_element "which is not the reduction of ")
    set(message_beyond "a byte outside the elements of the receive buffer was written to")
    set(message_input "the send buffer has changed")
    set(message_never "it takes too long")
    mpi_test(collectives.broken.${breaks} collectives_fuzz NO_SHIM
             ARGS --rounds 100 --limit-s 3
             ENV BREAKS=${breaks}
             CHECK --preload ${program_dir}/broken_collectives.so --exit-code any
                   --expect-some "collectives_fuzz: .*${message_${breaks}}"
                   --reject "all were right")
  endforeach()
endif()
