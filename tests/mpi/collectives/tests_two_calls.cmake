# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: what allgathers.cpp and gathers.cpp are tested for alike, with
# HIERBAR_MPI=collectives. Behind tests_allreduces.cmake.

set(data HIERBAR_MPI=collectives)
if(family_name STREQUAL mpich) # it has counts of 64 bits
  set(num_at_limits 18)
else()
  set(num_at_limits 16)
endif()

# test_two_calls(<program> <its first call> <its second call> <calls of that part of the engine>
#                <numbers of ranks of the oracle>...)
# Sets all_served for the program's further tests.
macro(test_two_calls program first second part)
  set(all_served --count "library ${first}==0" --count "library ${second}==0")

  # Results, by known integers, in every mixture of calls.
  mpi_test(${program}.one ${program} ARGS one 1000 ENV ${data}
           CHECK ${all_served} --count ${first}==2000 --count ${second}==2000 TIMEOUT 240)
  mpi_test(${program}.oracle.one_rank ${program} RANKS 1 ARGS oracle 200 ENV ${data}
           CHECK --count ${first}==0 --count ${second}==0)
  foreach(num_ranks IN ITEMS ${ARGN})
    mpi_test(${program}.oracle.${num_ranks} ${program} RANKS ${num_ranks} ARGS oracle 1000
             ENV ${data} CHECK --count ${first}>=300 --count ${second}>=300)
  endforeach()
  mpi_test(${program}.oracle.8 ${program} RANKS 8 ARGS oracle 400 ENV ${data}
           CHECK --count ${first}>=300 --count ${second}>=300)
  mpi_test(${program}.oracle.trees ${program} RANKS 9 ARGS oracle 200 ENV ${data} ${two_domains}
           CHECK ${bound} --count ${first}>=300 --count ${second}>=300)
  mpi_test(${program}.signatures ${program} RANKS 3 ARGS signatures ENV ${data}
           CHECK ${all_served} --count ${first}==252 --count ${second}==252)
  mpi_test(${program}.limits ${program} ARGS limits ENV ${data}
           CHECK --count ${first}==${num_at_limits} --count ${second}==${num_at_limits})
  mpi_test(${program}.threads ${program} ARGS threads 300 ENV ${data} CHECK ${all_served}
           ${all_engine} --count ${first}==1200 --count ${second}==1200 --count engine==240)
  mpi_test(${program}.progress ${program} ARGS progress ENV ${data}
           CHECK ${no_single_copy} ${all_served} --count ${first}==4 --count ${second}==4)

  # Set-up and memory.
  mpi_test(${program}.set_up ${program} ARGS set_up ENV ${data} ${default}
           CHECK --count ${first}==34 --count "library ${first}==46" --count ${second}==34
           --count "library ${second}==6" --count engine==10 --count "before set-up==2")
  mpi_test(${program}.many ${program} ARGS many 20 ENV ${data}
           CHECK --count ${first}==96 --count "library ${first}==24"
           --count ${second}==96 --count "library ${second}==24"
           --expect "more than 16 communicators of a process have ${part}; ")
  mpi_test(${program}.full ${program} ARGS one 5 ENV ${data} HIERBAR_SEGMENT_KIB=8
           CHECK --count ${first}==0 --count "library ${second}==10"
           --expect "no shared memory is left for the ${part} of a communicator of 2 ranks on one node ")

  # What the engine does not serve.
  mpi_test(${program}.inter ${program} RANKS 4 ARGS inter ENV ${data}
           CHECK --count ${first}==0 --count "library ${first}==16"
           --count ${second}==0 --count "library ${second}==16")
  mpi_test(${program}.two_nodes ${program} RANKS 4 ARGS one 10 ENV ${data} ${two_nodes}
           CHECK --count ${first}==0 --count "library ${second}==40")
  mpi_test(${program}.baseline ${program} RANKS 3 ARGS one 10 ENV ${data} HIERBAR_ALGORITHM=mcs
           CHECK --count ${first}==0 --count "library ${second}==30")
  mpi_test(${program}.barrier ${program} ARGS barrier 10
           CHECK --count ${first}==0 --reject "${first} of")

  # Tools, programs that open the library, Fortran.
  foreach(place IN ITEMS preload preload-after)
    mpi_test(${program}.tool.${place} ${program} ARGS one 20 ENV ${data}
             CHECK --${place} ${program_dir}/tool_that_counts.so ${all_served}
             --count ${first}==40 --expect-some "tool: 20 ${first}, 20 ${second}")
  endforeach()
  mpi_test(${program}.opened ${program} ARGS opened 20 : ${program_dir}/${program} one 20 RANKS 1
           ENV ${data} CHECK ${all_served} --count ${first}==40 --count ${second}==40)
  if(fort)
    foreach(interface IN ITEMS mpif module f08)
      mpi_test(${program}.fortran.${interface} ${program}_${interface} RANKS 3 ENV ${data}
               CHECK ${all_served} --count ${first}==300 --count ${second}==300)
      mpi_test(${program}.languages.${interface} ${program}
               ARGS shared : ${program_dir}/${program}_${interface} RANKS 1 ENV ${data}
               CHECK ${all_served} --count ${first}==200 --count ${second}==200)
    endforeach()
  endif()
endmacro()
