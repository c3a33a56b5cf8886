# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the project's own targets are compiled and linked: sanitizers, warnings, the C++ library, what
# keeps the time to compile low, and texts in programs.

# ---- sanitizers ----

# HIERBAR_SANITIZE=thread or =address,undefined, as the compiler spells them; the latter behind
# fuzzer-no-link for libFuzzer. Off by default; the presets tsan, asan-ubsan and fuzz set it. The
# flags go to the whole build and not to single targets: ThreadSanitizer reports false races when
# some of the code that synchronises is not instrumented.

set(HIERBAR_SANITIZE "" CACHE STRING
    "Sanitizers for everything that is built: thread, or address,undefined; empty: none")
set_property(CACHE HIERBAR_SANITIZE PROPERTY STRINGS "" thread address,undefined
             fuzzer-no-link,address,undefined)

if(HIERBAR_SANITIZE)
  # A fuzzer runs long, whatever it tests. All else is optimised as -Og does, which takes as long to
  # compile as -O0 and leaves out half of the checks of pointers, those that cannot fail. Each check
  # has data that is relocated and registered when a library is loaded, and tests load copies of the
  # MPI shim for each rank. Line numbers only: the reports lose nothing.
  set(hierbar_sanitize_optimise -Og)
  if(HIERBAR_SANITIZE MATCHES fuzzer)
    set(hierbar_sanitize_optimise -O1)
  endif()
  add_compile_options(-fsanitize=${HIERBAR_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer ${hierbar_sanitize_optimise} -g1)
  # A use of a null pointer ends the program anyway, and what has virtual functions is not cast. The
  # two checks are a tenth of the time to compile.
  if(HIERBAR_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=null,vptr)
  endif()
  add_link_options(-fsanitize=${HIERBAR_SANITIZE})
  # That data's relocations are a third of the shim.
  include(CheckLinkerFlag)
  check_linker_flag(CXX LINKER:-z,pack-relative-relocs HIERBAR_PACKS_RELOCATIONS)
  if(HIERBAR_PACKS_RELOCATIONS)
    add_link_options(LINKER:-z,pack-relative-relocs)
  endif()
endif()

# ---- warnings ----

# hierbar_warnings(<target>...): the project's warnings for its own targets; errors with
# HIERBAR_WERROR.
function(hierbar_warnings)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
        $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # GCC 12 sees overlapping copies in "literal" + std::string (its bug 105651).
      target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
    if(HIERBAR_WERROR)
      target_compile_options(${target} PRIVATE -Werror)
    endif()
  endforeach()
endfunction()

# ---- the C++ library ----

# hierbar_brings_own_cxx(<target>...): libraries that programs of any kind load, and the command,
# which runs on systems with an older C++ library. They bring their own C++ library, show none of
# it, and need no glibc newer than 2.34 when Debian 12 builds them. GCC's unwinder stays the
# system's: every glibc system has libgcc_s.so.1, and Debian 12's libgcc.a needs glibc 2.35
# (docs/design/packaging.md#d0125).
function(hierbar_brings_own_cxx)
  foreach(target IN LISTS ARGN)
    # sanitizers intercept the shared C++ library, and their own symbols come with the program
    if(NOT HIERBAR_SANITIZE)
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/runtime/base/old_glibc.cpp)
      target_link_options(${target} PRIVATE -static-libstdc++ LINKER:--exclude-libs,ALL
          LINKER:--no-undefined)
    endif()
    # Where the links of an installation are missing, as in a wheel, its libraries still find each
    # other, and hwloc where it is in no directory of the system. The build tree has the same search
    # paths: CMake would pad others with empty directories, which the loader takes for the current
    # one.
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
                          INSTALL_RPATH $ORIGIN INSTALL_RPATH_USE_LINK_PATH ON)
  endforeach()
endfunction()

# ---- the time to compile ----

# Most of the time to build the project goes into optimising the headers of its libraries where
# nobody would notice.

# hierbar_runs_briefly(<target>... [EXCEPT <source>...]): what reads options, prints and draws, or
# decides something once in a process. Optimised a little only in a release build, but for the
# sources that are named.
function(hierbar_runs_briefly)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "EXCEPT")
  foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
    target_compile_options(${target} PRIVATE
        $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:-O1>)
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

# ---- texts in programs ----

# hierbar_embed_text(<output> <header> <namespace> [<function> <file>... END]...)
#
# Writes a C++ source with a function `const char* <function>()` for each list of files, which
# returns their text, one after the other. The header declares the functions. A changed file is
# noticed by the next build.
function(hierbar_embed_text output header namespace)
  set(code "#include \"${header}\"\n\nnamespace ${namespace} {\n")
  set(function "")
  foreach(word IN LISTS ARGN)
    if(function STREQUAL "")
      set(function ${word})
      string(APPEND code "\nconst char* ${function}() {\n  return")
    elseif(word STREQUAL "END")
      string(APPEND code ";\n}\n")
      set(function "")
    else()
      file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${word} text)
      string(APPEND code "\n      R\"embedded(${text})embedded\"")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                   ${CMAKE_CURRENT_SOURCE_DIR}/${word})
    endif()
  endforeach()
  string(APPEND code "\n}  // namespace ${namespace}\n")
  file(CONFIGURE OUTPUT ${output} CONTENT "${code}" @ONLY)
endfunction()
