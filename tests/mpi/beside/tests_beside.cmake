# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: how the shim stands beside tools, functions of the program's that have names of
# MPI, libraries that no shim serves, and ranks of another language.

include(CheckCSourceCompiles)

# A tool sees every call, before the shim, behind it, linked, and where a shim of the other family
# stands between. The engine serves its barriers all the same.
mpi_program(parts ${cc} beside/parts.c -O2 -Wall -Wextra)
mpi_program(parts_with_tool ${cc} beside/parts.c -O2 -Wall -Wextra -Wl,--no-as-needed
            ${program_dir}/tool_that_reports.so)
set(tool ${program_dir}/tool_that_reports.so)
set(all_seen --expect "tool: finalised after 100 barriers, 10 duplicates, 10 frees"
    --count engine==200 ${all_engine})
mpi_test(tool.behind parts CHECK --preload-after ${tool} ${all_seen})
mpi_test(tool.before parts CHECK --preload ${tool} ${all_seen})
mpi_test(tool.linked parts_with_tool CHECK ${all_seen})
mpi_test(tool.behind.recorded parts ENV HIERBAR_REPORT=text
         HIERBAR_OUTPUT=${program_dir}/tool_behind
         CHECK --preload-after ${tool} ${all_seen})
mpi_test(tool.behind.off parts ENV HIERBAR_MPI=off
         CHECK --preload-after ${tool}
         --expect "tool: finalised after 100 barriers, 10 duplicates, 10 frees" --count off==200)
mpi_test(tool.behind.aborts parts ARGS abort
         CHECK --preload-after ${tool} --exit-code any
         --expect "tool: aborted after 100 barriers, 10 duplicates, 10 frees")
# Ranks with a tool beside ranks without.
mpi_test(tool.in_one_rank /usr/bin/env ARGS LD_PRELOAD=$<TARGET_FILE:${shim}>:${tool}
         ${program_dir}/parts : ${program_dir}/parts
         RANKS 1 CHECK ${all_seen})

# Programs that open the library and take its functions by dlsym(): alone, and in one job with
# others.
set(handles)
set(handles_word)
if(family_name STREQUAL ompi)
  set(handles -DOPEN_MPI_HANDLES)
  set(handles_word openmpi)
endif()
set(CMAKE_REQUIRED_FLAGS -fsanitize=address)
check_c_source_compiles("int main(void) { return 0; }" HIERBAR_HAS_ASAN)
unset(CMAKE_REQUIRED_FLAGS)
mpi_program(opened ${CMAKE_C_COMPILER} beside/opened.c -O2 -Wall -Wextra ${handles})
set(opens ${program_dir}/opened ${program_dir}/module.so)
foreach(mode IN ITEMS local global deep)
  mpi_test(opened.${mode} parts ARGS : ${opens} ${mode} RANKS 1 CHECK --count engine==200
           ${all_engine})
endforeach()
mpi_test(opened.python parts ARGS : ${Python3_EXECUTABLE}
         -B ${CMAKE_CURRENT_SOURCE_DIR}/beside/opened.py ${program_dir}/module.so ${handles_word}
         RANKS 1 CHECK --count engine==200 ${all_engine})
if(family_name STREQUAL mpich) # Open MPI crashes there
  mpi_test(opened.namespace opened ARGS ${program_dir}/module.so namespace CHECK --count engine==0
           --reject hierbar:)
endif()
# Sanitizers call dlsym() before anything else runs. UCX changes functions of theirs.
if(HIERBAR_HAS_ASAN)
  mpi_program(opened_asan ${CMAKE_C_COMPILER} beside/opened.c -O1 -fsanitize=address ${handles})
  mpi_test(opened.sanitized parts ARGS : ${program_dir}/opened_asan ${program_dir}/module.so RANKS 1
           ENV ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 UCX_MEM_EVENTS=n CHECK
           --count engine==200 ${all_engine})
endif()
mpi_test(opened.off opened ARGS ${program_dir}/module.so ENV HIERBAR_MPI=off CHECK --count off==200
         --count engine==0)
# A tool that the shim calls is not called a second time by what it finds itself.
foreach(place IN ITEMS preload preload-after)
  mpi_test(opened.tool.${place} parts ENV TESTED_LIBRARY=${program_dir}/module.so
           CHECK --${place} ${program_dir}/tool_that_finds.so --count engine==200 ${all_engine}
                 --expect "tool: finalised after 100 barriers, 10 frees")
endforeach()

# A rank without the shim: the others wait for it in a set-up, and say so.
mpi_test(unserved_rank parts ARGS : /usr/bin/env LD_PRELOAD= ${program_dir}/parts RANKS 1
         ENV HIERBAR_TIMEOUT_S=1 TIMEOUT 6
         CHECK --hangs
         --expect-some
         "rank 0 has waited 1 s for the set-up in barrier 1 on an unnamed communicator of 2 ranks: ")

# Functions in C with names that Fortran compilers give to MPI's routines.
mpi_program(own_names.so ${cc} beside/own_names.c -O2 -Wall -Wextra -fPIC -shared)
mpi_program(own_names ${cc} beside/own_names.c -O2 -Wall -Wextra
            -DPROGRAM ${program_dir}/own_names.so)
mpi_test(own_names own_names CHECK --count engine==200 ${all_engine})

set(other_shim -)
set(both_shims hierbar_mpi hierbar_mpi_ompi)
if(TARGET hierbar_mpi AND TARGET hierbar_mpi_ompi)
  list(REMOVE_ITEM both_shims ${shim})
  set(other_shim $<TARGET_FILE:${both_shims}>)
endif()
mpi_script(other_abi 60 ${CMAKE_CURRENT_SOURCE_DIR}/beside/other_abi_test.sh ${CMAKE_C_COMPILER}
           $<TARGET_FILE:${shim}> ${other_shim})

if(family_name STREQUAL mpich AND TARGET hierbar_cli) # Debian has no static library of Open MPI
  mpi_script(static_library 120 ${CMAKE_CURRENT_SOURCE_DIR}/beside/static_test.sh ${cc}
             $<TARGET_FILE:${shim}> $<TARGET_FILE:hierbar_cli>)
endif()

if(fort)
  # Ranks in C and in Fortran in one program, which end their communicators and MPI by different
  # ways.
  mpi_program(parts_fortran ${fort} beside/parts.F90 -O2)
  mpi_program(parts_f08 ${fort} beside/parts.F90 -O2 -DF08)
  foreach(language IN ITEMS fortran f08)
    set(both ARGS : ${program_dir}/parts_${language})
    mpi_test(languages.${language} parts ${both} RANKS 1
             CHECK --count engine==200 ${all_engine} --expect "barriers of 2 ranks: ")
    mpi_test(languages.${language}.recorded parts ${both} RANKS 1
             ENV HIERBAR_REPORT=text HIERBAR_OUTPUT=${program_dir}/languages_${language}
             CHECK --count engine==200 ${all_engine})
    # One of the two nodes has a leader in C, the other one in Fortran.
    mpi_test(languages.${language}.two_nodes parts ${both} : ${program_dir}/parts :
             ${program_dir}/parts_${language} RANKS 1
             ENV ${two_nodes} CHECK --count engine==400 ${all_engine}
             --expect "barriers of 4 ranks: ")
  endforeach()
  if(family_name STREQUAL mpich) # its routines in Fortran call those in C that the tool has
    mpi_test(tool.fortran parts_fortran CHECK --preload-after ${tool} ${all_seen})
  else()
    mpi_test(tool.fortran parts_fortran CHECK --preload-after ${tool} --count engine==200
             ${all_engine})
  endif()

  # INTEGER of 8 bytes, by routines before the library's and by the library's own.
  mpi_program(wide_before.so ${cc} beside/wide_integer.c -O2 -Wall -Wextra -fPIC -shared)
  mpi_program(wide_whole.so ${cc} beside/wide_integer.c -O2 -Wall -Wextra -fPIC -shared -DWHOLE)
  foreach(way IN ITEMS before whole)
    mpi_program(wide_${way} ${fort} beside/wide_integer.f90 -O2
                -fdefault-integer-8 ${program_dir}/wide_${way}.so)
    mpi_test(wide_integer.${way} wide_${way} CHECK --count engine==200 ${all_engine})
  endforeach()
endif()
