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

mpi_test(teams.example_sum example_team_sum NO_SHIM CHECK --count allreduces==200
         --count bcasts==2 --count "library allreduces==0" --expect "all sums were right")
if(fort)
  mpi_test(teams.example_sum_fortran example_team_sum_fortran NO_SHIM CHECK --count allreduces==200
           --count bcasts==2 --expect "all sums were right")
endif()

# Calls with data: all operations and types, along the engine's collectives, along barriers (which
# recorded teams take), and around meetings.
set(served --count "library allreduces==0" --count "library bcasts==0" --count allreduces>=100)
foreach(layout IN ITEMS 1:1 1:4 2:1 2:2 3:1,3,2 4:3)
  string(REPLACE ":" ";" numbers ${layout})
  list(GET numbers 0 num_ranks)
  list(GET numbers 1 num_threads)
  string(REPLACE ":" "_by_" name ${layout})
  string(REPLACE "," "_" name ${name})
  mpi_test(teams.data.${name} team_data RANKS ${num_ranks} ARGS all multiple ${num_threads}
           TIMEOUT 240 CHECK ${all_engine})
  mpi_test(teams.data.mixed.${name} team_data RANKS ${num_ranks} TIMEOUT 240
           ARGS mixed multiple ${num_threads} 300)
endforeach()
foreach(level IN ITEMS funneled serialized multiple)
  mpi_test(teams.data.${level} team_data RANKS 2 ARGS mixed ${level} 2 400 TIMEOUT 240
           CHECK ${served})
  mpi_test(teams.data.two_nodes.${level} team_data RANKS 4 ARGS mixed ${level} 2,1,3 120
           ENV ${two_nodes} TIMEOUT 240
           CHECK ${all_engine} --count allreduces>=100)
endforeach()
mpi_test(teams.data.two_nodes.all team_data RANKS 4 ARGS all funneled 2 ENV ${two_nodes}
         TIMEOUT 240
         CHECK ${served})
mpi_test(teams.data.trees team_data RANKS 3 ARGS all funneled 3 ENV ${two_domains} TIMEOUT 240
         CHECK ${bound} ${served})
mpi_test(teams.data.recorded team_data RANKS 2 ARGS all funneled 2 TIMEOUT 240
         ENV HIERBAR_REPORT=text HIERBAR_OUTPUT=${program_dir}/team_data
         CHECK ${served})
# Their leaders have one communicator, and one of the two exchanges messages on it.
mpi_test(teams.data.two_teams team_data RANKS 2 ARGS two_teams multiple 2 200 TIMEOUT 240)
mpi_test(teams.data.two_teams.two_nodes team_data RANKS 4 ARGS two_teams multiple 2 60
         ENV ${two_nodes} TIMEOUT 240)
mpi_test(teams.data.taken_over team_data RANKS 2 ARGS taken_over multiple 2,3 60 TIMEOUT 240
         CHECK --count allreduces==120)
mpi_test(teams.data.wrong team_data RANKS 2 ARGS wrong multiple 2
         CHECK --expect-some "hierbar_team_bcast: root_rank is no rank of the team")
# Each once, whatever else has been printed since.
mpi_test(teams.data.wrong_once team_data RANKS 1 ARGS wrong multiple 2
         CHECK --expect "hierbar_team_bcast: root_rank is no rank of the team"
               --expect "thread -?[0-9]+ of rank 0 is out of range"
               --expect "has already joined, and has not called a barrier since")
mpi_test(teams.data.off team_data RANKS 2 ARGS all multiple 2 ENV HIERBAR_MPI=off TIMEOUT 240
         CHECK --count engine==0 --count allreduces==0)
mpi_test(teams.data.every_rank_a_node team_data RANKS 2 ARGS mixed multiple 2 100 ENV ${two_nodes}
         TIMEOUT 240
         CHECK --count engine==0)

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
mpi_test(teams.data.watch team_data RANKS 2 ARGS late multiple 2 ENV HIERBAR_TIMEOUT_S=1
         CHECK --expect-some
         "an allreduce of a team on MPI_COMM_WORLD of 4 threads on this node has waited 1 s for thread 1 of rank 1 .process [0-9]+, ")
hierbar_run_alone(${prefix}teams.data.watch)
mpi_kill_test(teams.data.kill 4 60 --case forever --case multiple --case 2 --next mixed
              --next multiple
              --next 2 --next 10
              ${program_dir}/team_data)
