# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Most of the time to build the project goes into optimising the headers of its libraries where
# nobody would notice.

# hierbar_runs_briefly(<target>... [EXCEPT <source>...]): what reads options, prints and draws, or
# decides something once in a process. Optimised a little only in a release build, but for the
# sources that are named.
function(hierbar_runs_briefly)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "EXCEPT")
  foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:-O1>)
  endforeach()
  # A source's options come after the target's. CMake compiles a source that has some alone.
  set_source_files_properties(${arg_EXCEPT} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
endfunction()

# hierbar_runs_long(<target>...): what is optimised a little even with sanitizers.
function(hierbar_runs_long)
  foreach(target IN LISTS ARGN)
    if(HIERBAR_SANITIZE)
      target_compile_options(${target} PRIVATE -O1)
    endif()
  endforeach()
endfunction()

# hierbar_compiles_together(<target>...): the sources of each share large headers, and the compiler
# reads and emits these once for several sources. Not in a debug build, where one source at a time
# is changed.
function(hierbar_compiles_together)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
  endif()
endfunction()

# hierbar_compiles_at_once(<target>): the same, with more sources at a time. For a program whose
# sources all include <CLI/CLI.hpp>, which takes the compiler 8 s each time.
function(hierbar_compiles_at_once target)
  hierbar_compiles_together(${target})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 13)
endfunction()
