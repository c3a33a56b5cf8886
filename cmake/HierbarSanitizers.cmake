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
  # A fuzzer runs long, whatever it tests.
  set(hierbar_sanitize_optimise -O0)
  if(HIERBAR_SANITIZE MATCHES fuzzer)
    set(hierbar_sanitize_optimise -O1)
  endif()
  # Line numbers, and not optimised but for what runs long (hierbar_runs_long): a third of the time
  # to compile, and the reports lose nothing.
  add_compile_options(-fsanitize=${HIERBAR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer ${hierbar_sanitize_optimise}
                      -g1)
  add_link_options(-fsanitize=${HIERBAR_SANITIZE})
endif()
