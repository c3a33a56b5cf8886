# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With each library: libhierbar_mpi_any.so, the same file for all of them, finds the shim.

set(front --shim $<TARGET_FILE:hierbar_mpi_any>)
mpi_test(any.oracle barriers NO_SHIM ARGS oracle 1000 CHECK ${front} ${all_engine}
         --count engine==2000)
mpi_test(any.duplicates.two_nodes barriers RANKS 4 NO_SHIM ARGS duplicates 30 ENV ${two_nodes}
         CHECK ${front} ${all_engine} --count engine==240)
mpi_test(any.off barriers NO_SHIM ARGS duplicates 20 ENV HIERBAR_MPI=off
         CHECK ${front} --count engine==0 --count off==80)
mpi_program(barriers_any ${cxx} programs/barriers.cpp ${flags}
            -L${CMAKE_LIBRARY_OUTPUT_DIRECTORY} -lhierbar_mpi_any
            -Wl,-rpath,${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
mpi_test(any.linked barriers_any NO_SHIM ARGS oracle 100 CHECK ${all_engine} --count engine==200)

# All but barriers: teams, threads at once, and calls with data, from C and from Fortran.
mpi_test(any.teams teams NO_SHIM ARGS oracle funneled 2 50
         CHECK ${front} --expect-some "team of 4 threads in 2 ranks on this node"
         --expect-some "all rounds were right")
mpi_test(any.team_data team_data NO_SHIM ARGS mixed funneled 2 100
         CHECK ${front} --expect-some "all rounds were right")
mpi_test(any.threads threads NO_SHIM ARGS own 300 CHECK ${front} ${all_engine}
         --count engine==2400)
set(with_data HIERBAR_MPI=collectives)
mpi_test(any.allreduces allreduces NO_SHIM ARGS one 1000 ENV ${with_data}
         CHECK ${front} --count allreduces>=1000)
mpi_test(any.one_way one_way NO_SHIM ARGS one 1000 ENV ${with_data}
         CHECK ${front} --count bcasts==2000 --count reduces==2000 --count "library bcasts==0")
if(fort)
  foreach(interface IN ITEMS mpif module f08)
    mpi_test(any.fortran_${interface} fortran_${interface} NO_SHIM CHECK ${front} ${all_engine}
             --count engine==200)
    mpi_test(any.allreduce_${interface} allreduce_${interface} NO_SHIM ENV ${with_data}
             CHECK ${front} --count allreduces==202 --count "library allreduces==0")
  endforeach()
endif()

# Tools on both sides, and programs that open their MPI library.
mpi_test(any.tool.behind parts NO_SHIM CHECK ${front} --preload-after ${tool} ${all_seen})
mpi_test(any.tool.before parts NO_SHIM CHECK ${front} --preload ${tool} ${all_seen})
mpi_test(any.tool.linked parts_with_tool NO_SHIM CHECK ${front} ${all_seen})
mpi_test(any.tool.behind.recorded parts NO_SHIM ENV HIERBAR_REPORT=text
         HIERBAR_OUTPUT=${program_dir}/any_tool_behind
         CHECK ${front} --preload-after ${tool} ${all_seen})
foreach(place IN ITEMS preload preload-after)
  mpi_test(any.opened.tool.${place} parts NO_SHIM ENV TESTED_LIBRARY=${program_dir}/module.so
           CHECK ${front} --${place} ${program_dir}/tool_that_finds.so --count engine==200
                 ${all_engine} --expect "tool: finalised after 100 barriers, 10 frees")
endforeach()
foreach(mode IN ITEMS local global deep)
  mpi_test(any.opened.${mode} parts NO_SHIM ARGS : ${opens} ${mode} RANKS 1
           CHECK ${front} --count engine==200 ${all_engine})
endforeach()
mpi_test(any.opened.python parts NO_SHIM ARGS : ${Python3_EXECUTABLE}
         -B ${CMAKE_CURRENT_SOURCE_DIR}/beside/opened.py ${program_dir}/module.so ${handles_word}
         RANKS 1 CHECK ${front} --count engine==200 ${all_engine})
mpi_test(any.module interpreter NO_SHIM ARGS ${program_dir}/module.so duplicates 20
         CHECK ${front} ${all_engine} --count engine==80)
if(HIERBAR_HAS_ASAN)
  mpi_test(any.opened.sanitized parts NO_SHIM
           ARGS : ${program_dir}/opened_asan ${program_dir}/module.so RANKS 1
           ENV ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 UCX_MEM_EVENTS=n
           CHECK ${front} --count engine==200 ${all_engine})
endif()

# Beside the shims themselves, in both orders: the right one serves, once.
foreach(beside IN ITEMS hierbar_mpi hierbar_mpi_ompi hierbar_mpi_abi)
  if(NOT TARGET ${beside})
    continue()
  endif()
  set(says)
  if(NOT beside STREQUAL shim) # the first in the line speaks
    set(says --expect "but lib${beside}.so is for ")
  endif()
  mpi_test(any.behind.${beside} barriers NO_SHIM ARGS duplicates 20
           CHECK ${front} --preload $<TARGET_FILE:${beside}> ${says} ${all_engine}
           --count engine==80)
  mpi_test(any.before.${beside} barriers NO_SHIM ARGS duplicates 20
           CHECK ${front} --preload-after $<TARGET_FILE:${beside}> --reject "does nothing here"
                 ${all_engine} --count engine==80)
endforeach()
mpi_test(any.over_linked barriers_linked NO_SHIM ARGS oracle 100 CHECK ${front} ${all_engine}
         --count engine==200)

# Where it stands alone, and in programs whose library no shim serves.
mpi_script(any.alone 60 ${CMAKE_CURRENT_SOURCE_DIR}/front/alone_test.sh
           $<TARGET_FILE:hierbar_mpi_any> ${shim} ${program_dir}/barriers ${runner})
mpi_script(any.other_abi 60 ${CMAKE_CURRENT_SOURCE_DIR}/beside/other_abi_test.sh
           ${CMAKE_C_COMPILER} $<TARGET_FILE:hierbar_mpi_any> -)
mpi_program(asks_for_names ${cc} front/asks_for_names.c -O2 -Wall -Wextra -rdynamic)
mpi_script(any.names 60 ${CMAKE_CURRENT_SOURCE_DIR}/front/names_test.sh ${program_dir}/asks_for_names
           $<TARGET_FILE:hierbar_mpi_any>)
