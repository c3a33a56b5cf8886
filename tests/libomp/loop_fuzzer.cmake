# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The fuzzer of loops: built by Clang, by GCC, and in one program by both. Its thousands of
# written-out loops take a while to compile, so each source is an object of its own, and -O1 is
# enough: the loops are the runtime's.

set(loop_fuzzer_dir ${CMAKE_CURRENT_SOURCE_DIR}/loop_fuzzer)

# loop_fuzzer_object(<variable> <object> <source> <compiler> [<flag>...]): compiles it, and appends
# its path to the variable.
function(loop_fuzzer_object variable object source compiler)
  set(output ${program_dir}/loop_fuzzer_objects/${object}.o)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${program_dir}/loop_fuzzer_objects
    COMMAND ${compiler} ${flags} -O1 -fPIC -fvisibility=hidden ${ARGN}
            -MD -MF ${output}.d -MT ${output} -c ${loop_fuzzer_dir}/${source}.cpp -o ${output}
    DEPENDS ${loop_fuzzer_dir}/${source}.cpp libomp
    DEPFILE ${output}.d
    COMMENT "Building ${object} of the fuzzer of loops" VERBATIM)
  set(${variable} ${${variable}} ${output} PARENT_SCOPE)
endfunction()

# loop_fuzzer_link(<program> OBJECTS <object>... COMMAND <compiler> <flag>...)
function(loop_fuzzer_link program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OBJECTS;COMMAND")
  list(POP_FRONT arg_COMMAND compiler)
  add_custom_command(OUTPUT ${program_dir}/${program}
    COMMAND ${compiler} -pthread ${arg_OBJECTS} -o ${program_dir}/${program} ${arg_COMMAND}
    DEPENDS ${arg_OBJECTS} COMMENT "Linking ${program}" VERBATIM)
  set(program_files ${program_files} ${program_dir}/${program} PARENT_SCOPE)
endfunction()

set(loop_fuzzer_parts ordered special taskloops worksharing)
set(compile_for_libomp ${use_libomp})
list(FILTER compile_for_libomp EXCLUDE REGEX "^-L") # Clang warns of it when it does not link
set(clang_objects)
set(clang_main)
set(mixed_main)
foreach(part IN LISTS loop_fuzzer_parts)
  # The comparison that it warns of is its own, in taskloops over pointers.
  loop_fuzzer_object(clang_objects ${part} ${part} "${clang}" ${compile_for_libomp}
                     -Wno-sign-compare)
endforeach()
loop_fuzzer_object(clang_main main loop_fuzzer "${clang}" ${compile_for_libomp})
loop_fuzzer_link(loop_fuzzer OBJECTS ${clang_main} ${clang_objects} COMMAND ${clang} ${use_libomp})
if(NOT gcc)
  return()
endif()

set(gcc_objects)
set(gcc_main)
foreach(part IN LISTS loop_fuzzer_parts)
  # GCC 12's pass that moves invariants out of loops fails on some of these.
  loop_fuzzer_object(gcc_objects ${part}_gcc ${part} ${gcc} -fopenmp -fno-tree-loop-im)
endforeach()
loop_fuzzer_object(gcc_main main_gcc loop_fuzzer ${gcc} -fopenmp)
loop_fuzzer_object(mixed_main main_mixed loop_fuzzer "${clang}" ${compile_for_libomp}
                   -DLOOP_FUZZER_MIXED)
loop_fuzzer_link(loop_fuzzer_gcc OBJECTS ${gcc_main} ${gcc_objects} COMMAND ${gcc} -fopenmp)
loop_fuzzer_link(libloop_fuzzer_gcc.so OBJECTS ${gcc_objects} COMMAND ${gcc} -fopenmp -shared)
loop_fuzzer_link(loop_fuzzer_mixed OBJECTS ${mixed_main} ${clang_objects}
                 COMMAND ${clang} ${use_libomp} -L${program_dir} -Wl,-rpath,${program_dir}
                 -lloop_fuzzer_gcc
                         -Wl,-rpath-link,${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
add_custom_command(OUTPUT ${program_dir}/loop_fuzzer_mixed APPEND
                   DEPENDS ${program_dir}/libloop_fuzzer_gcc.so)
