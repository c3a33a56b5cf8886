# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Barriers of all threads of all ranks, with each library. Each rank counts one barrier for each of
# its team's.

# The oracle: nobody leaves before all have arrived.
mpi_test(teams.one_by_two teams RANKS 1 ARGS oracle funneled 2 2000 CHECK ${all_engine}
         --count engine==2000)
mpi_test(teams.two_by_one teams RANKS 2 ARGS oracle funneled 1 2000 CHECK ${all_engine}
         --count engine==4000)
mpi_test(teams.two_by_two teams RANKS 2 ARGS oracle multiple 2 500 CHECK ${all_engine}
         --count engine==1000
         --expect
         "team of 4 threads in 2 ranks on this node: 4 in the exchange, 1 line transfers deep; threads outnumber cpus")
mpi_test(teams.linked teams_linked NO_SHIM RANKS 2 ARGS oracle funneled 2 200 CHECK ${all_engine}
         --count engine==400)
mpi_test(teams.uneven teams RANKS 3 ARGS oracle serialized 3,1,2 300 CHECK ${all_engine}
         --count engine==900)
mpi_test(teams.two_nodes teams RANKS 4 ARGS oracle multiple 2,1,3 100 ENV ${two_nodes}
         CHECK ${all_engine} --count engine==400)
mpi_test(teams.two_nodes.in_turn teams RANKS 4 ARGS oracle serialized 2 100 ENV ${two_nodes}
         CHECK ${all_engine} --count engine==400)
mpi_test(teams.trees teams RANKS 3 ARGS oracle funneled 3 100 ENV ${two_domains} CHECK ${bound}
         ${all_engine} --count engine==300)
mpi_test(teams.subsets teams RANKS 4 ARGS subsets multiple 1 5 CHECK --count engine>=1)
mpi_test(teams.subsets.two_nodes teams RANKS 4 ARGS subsets multiple 1 3 ENV ${two_nodes}
         CHECK --count engine>=1)
mpi_test(teams.cycles teams RANKS 3 ARGS cycles multiple 1 25)
mpi_test(teams.cycles.two_nodes teams RANKS 4 ARGS cycles multiple 1 8 ENV ${two_nodes})
mpi_test(teams.joins_again teams RANKS 2 ARGS joins_again multiple 2,3 60 CHECK ${all_engine}
         --count engine==360)

# What docs/guide/hybrid.md shows.
mpi_test(teams.example example_team NO_SHIM CHECK --count engine==400
         --expect "all steps were seen")
if(fort)
  mpi_test(teams.example_fortran example_team_fortran NO_SHIM CHECK --count engine==400
           --expect "all steps were seen")
endif()

# What the engine does not serve works all the same.
mpi_test(teams.off teams RANKS 2 ARGS oracle multiple 2 20 ENV HIERBAR_MPI=off CHECK --count off==40
         --count engine==0)
mpi_test(teams.every_rank_a_node teams RANKS 2 ARGS oracle multiple 2 20 ENV ${two_nodes}
         CHECK --count "no shared memory==40" --count engine==0)

# A team that waits makes progress, whatever the thread level.
foreach(level IN ITEMS funneled serialized multiple)
  foreach(what IN ITEMS isend ssend lock)
    mpi_test(teams.progress.${what}.${level} team_progress NO_SHIM RANKS 2 ARGS ${what} ${level})
  endforeach()
endforeach()

mpi_test(teams.watch teams RANKS 2 ARGS late multiple 2 ENV HIERBAR_TIMEOUT_S=1
         CHECK --expect-some
         "a barrier of a team on MPI_COMM_WORLD of 4 threads on this node has waited 1 s for thread 1 of rank 1, which has not joined .process [0-9]+, ")
hierbar_run_alone(${prefix}teams.watch)
mpi_kill_test(teams.kill 4 100 --case forever --case multiple --case 2 --next oracle --next multiple
              --next 2 --next 10
              ${program_dir}/teams)
