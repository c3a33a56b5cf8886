# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the leaders of several nodes meet, with the MPI library of the family at hand.

set(no_network HIERBAR_NETWORK=off)

# The oracle, with two ranks on one of the nodes.
foreach(meeting IN ITEMS linear double-ring recursive-doubling bruck dissemination:3 tree:1 tree:2 combining-tree:2 auto)
  string(REPLACE ":" "" name ${meeting})
  mpi_test(meeting.oracle.${name} barriers RANKS 5 ARGS oracle 60 ENV HIERBAR_FAKE_NODES=4 HIERBAR_MPI_MEETING=${meeting} ${no_network}
           CHECK --count library==0 --count engine==300)
endforeach()

# A choice brings in communicators that have one rank on each node. The trial is over after 32 meetings, and says how it ended.
mpi_test(meeting.alone barriers RANKS 3 ARGS oracle 60 ENV HIERBAR_FAKE_NODES=3 HIERBAR_MPI_MEETING=auto ${no_network}
         CHECK --count library==0 --count engine==180 --expect "meeting of 3 nodes: .*; trial: library .* us, ")
mpi_test(meeting.alone.library barriers RANKS 3 ARGS oracle 60 ENV HIERBAR_FAKE_NODES=3 HIERBAR_MPI_MEETING=library
         CHECK --count engine==0 --count "no shared memory==180")

# Random parts of the world, and communicators that come and go.
foreach(meeting IN ITEMS dissemination:2 combining-tree:3 auto)
  string(REPLACE ":" "" name ${meeting})
  mpi_test(meeting.subsets.${name} barriers RANKS 5 ARGS subsets 2 ENV HIERBAR_FAKE_NODES=3 HIERBAR_MPI_MEETING=${meeting} ${no_network}
           CHECK --count engine>=1 --count "no shared memory==0")
  mpi_test(meeting.duplicates.${name} barriers RANKS 4 ARGS duplicates 30 ENV HIERBAR_FAKE_NODES=2 HIERBAR_MPI_MEETING=${meeting} ${no_network}
           CHECK --count library==0 --count engine==240)
endforeach()

# A bad value is reported once, and the library's barrier is used.
mpi_test(meeting.bad_value barriers RANKS 3 ARGS oracle 10 ENV HIERBAR_FAKE_NODES=2 HIERBAR_MPI_MEETING=tree:0
         CHECK --count library==0 --expect "HIERBAR_MPI_MEETING: 'tree:0': .*1 to 255; allowed: library, auto, linear, .*; library used instead$")
