# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# HIERBAR_SANITIZE=thread or =address,undefined, as the compiler spells them; the latter behind
# fuzzer-no-link for libFuzzer. Off by default; the presets tsan, asan-ubsan and fuzz set it. The
# flags go to the whole build and not to single targets:
# ThreadSanitizer reports false races when some of the code that synchronises is not instrumented.

set(HIERBAR_SANITIZE "" CACHE STRING "Sanitizers for everything that is built: thread, or address,undefined; empty: none")
set_property(CACHE HIERBAR_SANITIZE PROPERTY STRINGS "" thread address,undefined fuzzer-no-link,address,undefined)

if(HIERBAR_SANITIZE)
  # A fuzzer runs long, whatever it tests. All else is optimised as -Og does, which takes as long to
  # compile as -O0 and leaves out half of the checks of pointers, those that cannot fail. Each check
  # has data that is relocated and registered when a library is loaded, and tests load copies of the
  # MPI shim for each rank. Line numbers only: the reports lose nothing.
  set(hierbar_sanitize_optimise -Og)
  if(HIERBAR_SANITIZE MATCHES fuzzer)
    set(hierbar_sanitize_optimise -O1)
  endif()
  add_compile_options(-fsanitize=${HIERBAR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer ${hierbar_sanitize_optimise}
                      -g1)
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
