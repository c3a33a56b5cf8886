# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the leaders of several nodes meet, with the MPI library of the family at hand.

set(no_network HIERBAR_NETWORK=off)

# The oracle, with two ranks on one of the nodes at least.
foreach(meeting IN ITEMS linear double-ring recursive-doubling bruck dissemination:3 tree:1 tree:2
        combining-tree:2 auto)
  string(REPLACE ":" "" name ${meeting})
  foreach(num_nodes IN ITEMS 2 3 4)
    mpi_test(meeting.oracle.${name}.${num_nodes} barriers RANKS 5 ARGS oracle 60
             ENV HIERBAR_FAKE_NODES=${num_nodes} HIERBAR_MPI_MEETING=${meeting} ${no_network}
             CHECK --count library==0 --count engine==300)
  endforeach()
endforeach()

# Threads in barriers of several communicators at the same time. With Open MPI the main thread must
# be the first.
set(threads_args own 20)
set(threads_count 320)
if(family_name STREQUAL ompi)
  set(threads_args set_up 20)
  set(threads_count 336)
endif()
foreach(meeting IN ITEMS dissemination:1 auto)
  string(REPLACE ":" "" name ${meeting})
  mpi_test(meeting.threads.${name} threads RANKS 4 ARGS ${threads_args} ENV HIERBAR_FAKE_NODES=2
           HIERBAR_MPI_MEETING=${meeting} ${no_network}
           CHECK --count library==0 --count engine==${threads_count})
endforeach()

# Leaders that are late, asleep, or killed.
set(by_schedule HIERBAR_FAKE_NODES=2 HIERBAR_MPI_MEETING=dissemination:1)
mpi_test(meeting.late barriers RANKS 4 ARGS late ENV HIERBAR_TIMEOUT_S=1 ${by_schedule}
         CHECK --count library==0 --count engine==8 --expect "has waited 1 s for rank 3 "
         --expect "has waited 1 s for other nodes")
hierbar_run_alone(${prefix}meeting.late)
foreach(what IN ITEMS isend ssend lock)
  mpi_test(meeting.progress.${what} progress RANKS 4 ARGS ${what} 0 2 ENV ${by_schedule}
           CHECK ${transport_${what}} --count library==0 --count engine==84)
endforeach()
foreach(meeting IN ITEMS dissemination:1 tree:1 auto)
  string(REPLACE ":" "" name ${meeting})
  set(environment --env HIERBAR_FAKE_NODES=3 --env HIERBAR_MPI_MEETING=${meeting}
      --env ${no_network})
  mpi_script(meeting.asleep.${name} 120 ${Python3_EXECUTABLE}
             -B ${CMAKE_CURRENT_SOURCE_DIR}/asleep_test.py --mpi ${family_name}
             --mpiexec ${exec} --shim $<TARGET_FILE:${shim}> --times 10 ${environment}
             ${program_dir}/barriers)
  hierbar_run_alone(${prefix}meeting.asleep.${name}) # it stops ranks for some time
  mpi_kill_test(meeting.kill.${name} 3 20 ${environment} ${program_dir}/barriers)
endforeach()

# A choice brings in communicators that have one rank on each node. The trial is over after 4,227
# meetings at most, and says how it ended.
mpi_test(meeting.alone barriers RANKS 3 ARGS oracle 4500 ENV HIERBAR_FAKE_NODES=3
         HIERBAR_MPI_MEETING=auto ${no_network}
         CHECK --count library==0 --count engine==13500
         --expect "meeting of 3 nodes: .*; trial: library .* us, ")
mpi_test(meeting.alone.library barriers RANKS 3 ARGS oracle 60 ENV HIERBAR_FAKE_NODES=3
         HIERBAR_MPI_MEETING=library
         CHECK --count engine==0 --count "no shared memory==180")

# Random parts of the world, and communicators that come and go.
foreach(meeting IN ITEMS dissemination:2 combining-tree:3 auto)
  string(REPLACE ":" "" name ${meeting})
  mpi_test(meeting.subsets.${name} barriers RANKS 5 ARGS subsets 2 ENV HIERBAR_FAKE_NODES=3
           HIERBAR_MPI_MEETING=${meeting} ${no_network}
           CHECK --count engine>=1 --count "no shared memory==0")
  mpi_test(meeting.duplicates.${name} barriers RANKS 4 ARGS duplicates 30 ENV HIERBAR_FAKE_NODES=2
           HIERBAR_MPI_MEETING=${meeting} ${no_network}
           CHECK --count library==0 --count engine==240)
endforeach()

# A bad value is reported once, and the library's barrier is used.
mpi_test(meeting.bad_value barriers RANKS 3 ARGS oracle 10 ENV HIERBAR_FAKE_NODES=2
         HIERBAR_MPI_MEETING=tree:0
         CHECK --count library==0
         --expect
         "HIERBAR_MPI_MEETING: 'tree:0': .*1 to 255; allowed: library, auto, linear, .*; library used instead$")
