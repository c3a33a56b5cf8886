# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: what they do alike. `bound`, set before, has the launcher's options that bind
# ranks to cpus 0 and 1 in turn.

set(two_nodes HIERBAR_FAKE_NODES=2)
set(all_engine --count library==0)
# A machine that has cpus 0 and 1 under different L3 caches: an exchange of two leaders between
# trees.
set(two_domains "HIERBAR_TOPOLOGY=l3:2 core:2 pu:1(indexes=0,2,1,3)")

# The oracle: nobody leaves before all have arrived.
mpi_test(barriers.oracle.linked barriers_linked NO_SHIM ARGS oracle 1000 CHECK ${all_engine}
         --count engine==2000)
mpi_test(barriers.oracle.oversubscribed barriers RANKS 8 ARGS oracle 500 CHECK ${all_engine}
         --count engine==4000)
mpi_test(barriers.oracle.trees barriers RANKS 9 ARGS oracle 200 ENV ${two_domains}
         CHECK ${bound} ${all_engine} --count engine==1800
         --expect "9 of them on this node: 2 in the exchange, 3 line transfers deep")
mpi_test(barriers.oracle.two_nodes barriers RANKS 4 ARGS oracle 200 ENV ${two_nodes}
         CHECK ${all_engine} --count engine==800)
mpi_test(barriers.subsets barriers RANKS 4 ARGS subsets 5 CHECK --count engine==496
         --count library==104 --count "one rank==104")
mpi_test(barriers.growing barriers RANKS 4 ARGS growing CHECK ${all_engine} --count engine==162)

# Communicators come and go: every place in the segment is given back, by 10,000 cycles in room for
# seven.
mpi_test(barriers.duplicates barriers ARGS duplicates 10000 ENV HIERBAR_SEGMENT_KIB=8
         CHECK ${all_engine} --count engine==40000)
mpi_test(barriers.duplicates.two_nodes barriers RANKS 4 ARGS duplicates 30 ENV ${two_nodes}
         CHECK ${all_engine} --count engine==240)

# Communicators are set up in their eighth barrier, where nothing else is asked for; the world in
# its first.
set(default HIERBAR_MPI_SET_UP_AT=)
mpi_test(short_lived.oracle short_lived RANKS 3 ARGS oracle 40 ENV ${default} CHECK
         --count engine==102 --count "before set-up==21" --count library==21)
mpi_test(short_lived.oracle.two_nodes short_lived RANKS 4 ARGS oracle 40 ENV ${default} ${two_nodes}
         CHECK --count engine==136 --count "before set-up==28" --count library==28)
mpi_test(short_lived.seven short_lived ARGS oracle 7 ENV ${default} CHECK --count engine==2
         --count "before set-up==14")
mpi_test(short_lived.third short_lived ARGS oracle 7 ENV HIERBAR_MPI_SET_UP_AT=3 CHECK
         --count engine==12 --count "before set-up==4")
mpi_test(short_lived.flat short_lived ARGS flat 10000 ENV ${default} CHECK --count engine==40002
         --count "before set-up==160000")
mpi_test(short_lived.recorded short_lived RANKS 3 ARGS oracle 40 ENV ${default} HIERBAR_REPORT=text
         HIERBAR_OUTPUT=${program_dir}/short_lived
         CHECK --count engine==102 --count "before set-up==21")
foreach(number IN ITEMS 1 7)
  mpi_test(short_lived.late.${number} short_lived RANKS 3 ARGS late ${number} ENV ${default}
           HIERBAR_TIMEOUT_S=1
           CHECK --expect-some
           "rank 0 has waited 1 s for barrier ${number} on .* of 3 ranks: not all of them have arrived; a process with another HIERBAR_MPI_SET_UP_AT never does$")
endforeach()
mpi_test(short_lived.late.8 short_lived RANKS 3 ARGS late 8 ENV ${default} HIERBAR_TIMEOUT_S=1
         CHECK --expect-some
         "rank 0 has waited 1 s for the set-up in barrier 8 on .* of 3 ranks: not all of them have arrived; a process without this library ")
mpi_test(short_lived.late.9 short_lived RANKS 3 ARGS late 9 ENV ${default} HIERBAR_TIMEOUT_S=1
         CHECK --expect-some "a barrier on .* of 3 ranks on this node has waited 1 s for rank 2 ")
mpi_test(short_lived.subsets barriers RANKS 4 ARGS subsets 5 ENV ${default}
         CHECK --count engine>=1 --count "before set-up>=1" --count "one rank==104")
mpi_test(short_lived.passed_on barriers RANKS 4 ARGS passed_on ENV ${default}
         CHECK --count engine==4 --count "one rank==4" --count intercommunicator==4
         --count library==8)
mpi_test(short_lived.threads threads ARGS own 300 ENV ${default} CHECK --count engine>=1
         --count "before set-up>=1")
foreach(what IN ITEMS callback callback_in_one_rank)
  mpi_test(short_lived.refused.${what} refused RANKS 4 ARGS ${what} ENV ${two_nodes}
           HIERBAR_MPI_SET_UP_AT=4
           CHECK --count engine>=1 --count "before set-up>=1")
endforeach()
mpi_test(short_lived.handlers refused RANKS 3 ARGS barrier ENV HIERBAR_MPI_SET_UP_AT=3 CHECK
         --count engine>=21 --count "before set-up==9")
if(fort)
  mpi_test(short_lived.languages parts RANKS 1 ARGS : ${program_dir}/parts_fortran ENV ${default}
           CHECK --count engine==180 --count "before set-up==20" --expect "barriers of 2 ranks: ")
endif()

# A free that the library refuses leaves everything as it was: in all ranks or in one, also while
# barriers are recorded.
foreach(settings IN ITEMS "" ";HIERBAR_REPORT=text")
  set(way)
  if(settings)
    set(way .recorded)
  endif()
  mpi_test(refused.world${way} refused RANKS 4 ARGS world ENV ${two_nodes}${settings}
           CHECK ${all_engine} --count engine==60)
  mpi_test(refused.one_rank${way} refused RANKS 4 ARGS one_rank ENV ${two_nodes}${settings}
           CHECK ${all_engine} --count engine==80)
  mpi_test(refused.callback${way} refused RANKS 4 ARGS callback ENV ${two_nodes}${settings}
           CHECK ${all_engine} --count engine==260)
  mpi_test(refused.callback_in_one_rank${way} refused RANKS 4 ARGS callback_in_one_rank
           ENV ${two_nodes}${settings}
           CHECK ${all_engine} --count engine==200)
endforeach()

# Error handlers that do not simply come back.
foreach(what IN ITEMS jump throw barrier once)
  mpi_test(handlers.${what} refused RANKS 3 ARGS ${what} CHECK --count engine>=21)
endforeach()

# What the engine does not serve.
mpi_test(barriers.passed_on barriers RANKS 4 ARGS passed_on
         CHECK --count engine==4 --count "one rank==4" --count intercommunicator==4
         --count library==8)
mpi_test(barriers.off barriers ARGS oracle 10 ENV HIERBAR_MPI=off CHECK --count off==20
         --count engine==0)

# Threads, tools, Fortran.
mpi_test(handles threads ARGS handles 300 CHECK --count engine==600 --count "one rank==600")
mpi_test(threads threads ARGS own 300 CHECK ${all_engine} --count engine==2400)
# As many communicators alive as MPICH has without the shim, whose leaders have few of the
# library's. By
# the leaders' collectives and by messages.
mpi_test(threads.many threads ARGS many 2000 ENV ${two_nodes} HIERBAR_MPI_MEETING=dissemination:1
         CHECK ${all_engine} --count engine==16000)
mpi_test(threads.many.nodes threads RANKS 4 ARGS many 40 ENV ${two_nodes} CHECK ${all_engine}
         --count engine==640)
# None of the leaders' is left behind by communicators that are freed past the shim.
mpi_test(threads.past threads ARGS past 2500 ENV ${two_nodes} HIERBAR_MPI_MEETING=dissemination:1
         CHECK ${all_engine} --count engine==10000)
mpi_test(module interpreter ARGS ${program_dir}/module.so duplicates 20 CHECK ${all_engine}
         --count engine==80)
mpi_test(tool_before barriers ARGS oracle 20
         CHECK --preload ${program_dir}/tool_that_counts.so ${all_engine} --count engine==40
         --expect-some "tool: 20 barriers")
mpi_test(tool_after barriers ARGS oracle 20
         CHECK --preload-after ${program_dir}/tool_that_counts.so ${all_engine} --count engine==40
         --expect-some "tool: 20 barriers")
if(fort)
  foreach(name IN ITEMS fortran_mpif fortran_module fortran_f08)
    mpi_test(${name} ${name} CHECK ${all_engine} --count engine==200)
  endforeach()
endif()

# The space of buffered sends is free again after a barrier.
mpi_test(buffered buffered CHECK ${all_engine} --count engine==400)
mpi_test(buffered.recorded buffered ENV HIERBAR_REPORT=text CHECK ${all_engine} --count engine==400)
mpi_test(buffered.two_nodes buffered RANKS 4 ENV ${two_nodes} CHECK ${all_engine}
         --count engine==800)
if(fort)
  mpi_test(buffered.fortran buffered_mpi CHECK ${all_engine} --count engine==400)
  mpi_test(buffered.fortran_f08 buffered_mpi_f08 CHECK ${all_engine} --count engine==400)
endif()

# The rank that comes last makes progress. By default Open MPI reads a pending send's data out of
# the
# other process, which needs no help from there.
set(no_single_copy)
if(family_name STREQUAL ompi)
  set(no_single_copy --launch=--mca --launch=btl_vader_single_copy_mechanism --launch=none)
endif()
mpi_test(progress.last progress RANKS 3 ARGS last CHECK ${no_single_copy} --count "one rank==1"
         --count library==1)

# A rank whose memory peers may access does not sleep.
foreach(how IN ITEMS create allocate dynamic)
  mpi_test(accessed.${how} accessed ARGS ${how} CHECK ${bound} ${all_engine} --count engine==22)
endforeach()
mpi_test(accessed.tool accessed ARGS create
         CHECK ${bound} ${all_engine} --preload ${program_dir}/tool_that_sees_windows.so
         --count engine==22)
if(fort)
  foreach(module IN ITEMS mpi mpi_f08)
    mpi_test(accessed.fortran.${module} window_${module} CHECK ${bound} ${all_engine}
             --count engine==22)
  endforeach()
endif()

# Barriers in MPI_Finalize: before the report is written, and after it.
set(of_rest --expect "barriers of rank 0 after the report: engine 21, library 0$"
    --expect "barriers of rank 1 after the report: ")
mpi_test(at_end at_end CHECK --count engine==86 ${all_engine} ${of_rest})
mpi_test(at_end.two_nodes at_end RANKS 4 ENV ${two_nodes} CHECK --count engine==172 ${all_engine}
         ${of_rest})
mpi_test(at_end.recorded at_end ENV HIERBAR_REPORT=text HIERBAR_OUTPUT=${program_dir}/at_end
         CHECK --count engine==86 ${all_engine} ${of_rest})

# Diagnosis.
mpi_test(watch.one_node barriers RANKS 3 ARGS late ENV HIERBAR_TIMEOUT_S=1
         CHECK ${all_engine} --count engine==6
               --expect
               "a barrier on MPI_COMM_WORLD of 3 ranks on this node has waited 1 s for rank 2 .process [0-9]+, .*$")
hierbar_run_alone(${prefix}watch.one_node) # one report a second
mpi_script(shared_memory 300 ${CMAKE_CURRENT_SOURCE_DIR}/shared_memory_test.sh ${exec}
           $<TARGET_FILE:${shim}> ${program_dir}/barriers)

# HIERBAR_ALGORITHM with the MPI library of the family at hand. Of the baselines each family runs
# some here and all in the step mpi-algorithms of .ci/long; mpi_stub_baseline_test has all of them.

set(oracle_with sense-reversing mcs)
set(subsets_with topo dissemination)
if(family_name STREQUAL "ompi")
  set(oracle_with combining-tree)
  set(subsets_with tournament-tree)
endif()
foreach(algorithm IN LISTS oracle_with)
  mpi_test(algorithm.oracle.${algorithm} barriers RANKS 4 ARGS oracle 500
           ENV HIERBAR_ALGORITHM=${algorithm}
           CHECK --count library==0 --count engine==0 --count baseline==2000
           --expect "4 of them on this node: algorithm ${algorithm}; ")
endforeach()
foreach(algorithm IN LISTS subsets_with)
  mpi_test(algorithm.subsets.${algorithm} barriers RANKS 5 ARGS subsets 2
           ENV HIERBAR_ALGORITHM=${algorithm} HIERBAR_FAKE_NODES=2
           CHECK --count baseline>=1)
endforeach()

if(family_name STREQUAL "mpich")
  # A waiting rank makes progress, and says who is missing, on one node and on several.
  mpi_test(algorithm.progress.ssend progress ARGS ssend 0 1 ENV HIERBAR_ALGORITHM=dissemination
           CHECK --count baseline==42)
  mpi_test(algorithm.watch.two_nodes barriers RANKS 4 ARGS late ENV HIERBAR_TIMEOUT_S=1
           HIERBAR_FAKE_NODES=2 HIERBAR_ALGORITHM=mcs
           CHECK --count baseline==8 --expect "has waited 1 s for rank 3 "
           --expect "has waited 1 s for other nodes")
endif()

# foreign_tests(<shim> <message>): the other family's shim does nothing here but say so, and lets
# one behind it do everything.
function(foreign_tests foreign_shim message)
  set(foreign --preload $<TARGET_FILE:${foreign_shim}> --expect "${message}")
  mpi_test(foreign barriers NO_SHIM ARGS duplicates 20 CHECK ${foreign} --count engine==0)
  mpi_test(foreign.both barriers ARGS duplicates 20 CHECK ${foreign} ${all_engine}
           --count engine==80)
  # It hands a team over to the right shim, which lies beside it.
  mpi_test(foreign.team_data team_data NO_SHIM ARGS mixed funneled 2 50
           CHECK ${foreign} --expect-some "all rounds were right")
  mpi_test(foreign.teams teams NO_SHIM ARGS oracle funneled 2 50
           CHECK ${foreign} --expect-some "team of 4 threads in 2 ranks on this node"
           --expect-some "all rounds were right")
  mpi_test(foreign.module interpreter NO_SHIM ARGS ${program_dir}/module.so duplicates 20
           CHECK ${foreign} --count engine==0)
  if(fort)
    foreach(name IN ITEMS fortran_mpif fortran_module fortran_f08)
      mpi_test(foreign.${name} ${name} NO_SHIM CHECK ${foreign} --count engine==0)
    endforeach()
  endif()
endfunction()

# What reductions do with each predefined type and operation, beside what the library does.
mpi_test(reductions reductions RANKS 1 NO_SHIM)
