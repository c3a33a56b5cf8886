# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# HIERBAR_ALGORITHM with the MPI library of the family at hand. Of the nine baselines each family
# runs some here and all in the step mpi-algorithms of .ci/long; mpi_stub_baseline_test has all of
# them.

set(oracle_with sense-reversing mcs)
set(subsets_with topo dissemination)
if(family_name STREQUAL "ompi")
  set(oracle_with combining-tree)
  set(subsets_with tournament-tree)
endif()
foreach(algorithm IN LISTS oracle_with)
  mpi_test(algorithm.oracle.${algorithm} barriers RANKS 4 ARGS oracle 500 ENV HIERBAR_ALGORITHM=${algorithm}
           CHECK --count library==0 --count engine==0 --count baseline==2000 --expect "4 of them on this node: algorithm ${algorithm}; ")
endforeach()
foreach(algorithm IN LISTS subsets_with)
  mpi_test(algorithm.subsets.${algorithm} barriers RANKS 5 ARGS subsets 2 ENV HIERBAR_ALGORITHM=${algorithm} HIERBAR_FAKE_NODES=2
           CHECK --count baseline>=1)
endforeach()

if(family_name STREQUAL "mpich")
  # A waiting rank makes progress, and says who is missing, on one node and on several.
  mpi_test(algorithm.progress.ssend progress ARGS ssend 0 1 ENV HIERBAR_ALGORITHM=dissemination CHECK --count baseline==42)
  mpi_test(algorithm.watch.two_nodes barriers RANKS 4 ARGS late ENV HIERBAR_TIMEOUT_S=1 HIERBAR_FAKE_NODES=2 HIERBAR_ALGORITHM=mcs
           CHECK --count baseline==8 --expect "waits since 1 s for rank 3 " --expect "waits since 1 s for other nodes")
endif()
