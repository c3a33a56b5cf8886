# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: how the shim stands beside tools, functions of the program's that have names of
# MPI, libraries that no shim serves, and ranks of another language.

# A tool sees every call, before the shim, behind it, linked, and where a shim of the other family
# stands between. The engine serves its barriers all the same.
mpi_program(reporting_tool.so ${cc} beside/reporting_tool.c -O2 -Wall -Wextra -fPIC -shared)
mpi_program(parts ${cc} beside/parts.c -O2 -Wall -Wextra)
mpi_program(parts_with_tool ${cc} beside/parts.c -O2 -Wall -Wextra -Wl,--no-as-needed ${program_dir}/reporting_tool.so)
set(tool ${program_dir}/reporting_tool.so)
set(all_seen --expect "tool: finalised after 100 barriers, 10 duplicates, 10 frees" --count engine==200 ${all_engine})
mpi_test(tool.behind parts CHECK --preload-after ${tool} ${all_seen})
mpi_test(tool.before parts CHECK --preload ${tool} ${all_seen})
mpi_test(tool.linked parts_with_tool CHECK ${all_seen})
mpi_test(tool.behind.recorded parts ENV HIERBAR_REPORT=text HIERBAR_OUTPUT=${program_dir}/tool_behind
         CHECK --preload-after ${tool} ${all_seen})
mpi_test(tool.behind.off parts ENV HIERBAR_MPI=off
         CHECK --preload-after ${tool} --expect "tool: finalised after 100 barriers, 10 duplicates, 10 frees" --count off==200)
mpi_test(tool.behind.aborts parts ARGS abort
         CHECK --preload-after ${tool} --exit-code any --expect "tool: aborted after 100 barriers, 10 duplicates, 10 frees")
# Ranks with a tool beside ranks without.
mpi_test(tool.in_one_rank /usr/bin/env ARGS LD_PRELOAD=$<TARGET_FILE:${shim}>:${tool} ${program_dir}/parts : ${program_dir}/parts
         RANKS 1 CHECK ${all_seen})

# A rank without the shim: the others wait for it in a set-up, and say so.
mpi_test(unserved_rank parts ARGS : /usr/bin/env LD_PRELOAD= ${program_dir}/parts RANKS 1 ENV HIERBAR_TIMEOUT_S=1 TIMEOUT 6
         CHECK --hangs --expect-some "rank 0 has waited 1 s for the set-up in barrier 1 on an unnamed communicator of 2 ranks: ")

# Functions in C with names that Fortran compilers give to MPI's routines.
mpi_program(own_names.so ${cc} beside/own_names.c -O2 -Wall -Wextra -fPIC -shared)
mpi_program(own_names ${cc} beside/own_names_program.c -O2 -Wall -Wextra ${program_dir}/own_names.so)
mpi_test(own_names own_names CHECK --count engine==200 ${all_engine})

set(other_shim -)
set(both_shims hierbar_mpi hierbar_mpi_ompi)
if(TARGET hierbar_mpi AND TARGET hierbar_mpi_ompi)
  list(REMOVE_ITEM both_shims ${shim})
  set(other_shim $<TARGET_FILE:${both_shims}>)
endif()
mpi_script(other_abi 60 ${CMAKE_CURRENT_SOURCE_DIR}/beside/other_abi_test.sh ${CMAKE_C_COMPILER} $<TARGET_FILE:${shim}> ${other_shim})

if(fort)
  # Ranks in C and in Fortran in one program, which end their communicators and MPI by different ways.
  foreach(language IN ITEMS fortran f08)
    mpi_program(parts_${language} ${fort} beside/parts_${language}.f90 -O2)
    set(both ARGS : ${program_dir}/parts_${language})
    mpi_test(languages.${language} parts ${both} RANKS 1
             CHECK --count engine==200 ${all_engine} --expect "barriers of 2 ranks: ")
    mpi_test(languages.${language}.recorded parts ${both} RANKS 1
             ENV HIERBAR_REPORT=text HIERBAR_OUTPUT=${program_dir}/languages_${language} CHECK --count engine==200 ${all_engine})
    # One of the two nodes has a leader in C, the other one in Fortran.
    mpi_test(languages.${language}.two_nodes parts ${both} : ${program_dir}/parts : ${program_dir}/parts_${language} RANKS 1
             ENV ${two_nodes} CHECK --count engine==400 ${all_engine} --expect "barriers of 4 ranks: ")
  endforeach()
  if(family_name STREQUAL mpich) # its routines in Fortran call those in C that the tool has
    mpi_test(tool.fortran parts_fortran CHECK --preload-after ${tool} ${all_seen})
  else()
    mpi_test(tool.fortran parts_fortran CHECK --preload-after ${tool} --count engine==200 ${all_engine})
  endif()

  # INTEGER of 8 bytes, by routines before the library's and by the library's own.
  mpi_program(wide_before.so ${cc} beside/wide_integer.c -O2 -Wall -Wextra -fPIC -shared)
  mpi_program(wide_whole.so ${cc} beside/wide_integer.c -O2 -Wall -Wextra -fPIC -shared -DWHOLE)
  foreach(way IN ITEMS before whole)
    mpi_program(wide_${way} ${fort} beside/wide_integer.f90 -O2 -fdefault-integer-8 ${program_dir}/wide_${way}.so)
    mpi_test(wide_integer.${way} wide_${way} CHECK --count engine==200 ${all_engine})
  endforeach()
endif()
