# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# hierbar_brings_own_cxx(<target>...): libraries that programs of any kind load, and the command,
# which runs on systems with an older C++ library. They bring their own C++ library, show none of
# it, and need no glibc newer than 2.34 when Debian 12 builds them. GCC's unwinder stays the
# system's: every glibc system has libgcc_s.so.1, and Debian 12's libgcc.a needs glibc 2.35
# (docs/design/packaging.md#d0125).
function(hierbar_brings_own_cxx)
  foreach(target IN LISTS ARGN)
    if(NOT HIERBAR_SANITIZE) # sanitizers intercept the shared C++ library, and their own symbols come with the program
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/runtime/base/old_glibc.cpp)
      target_link_options(${target} PRIVATE -static-libstdc++ LINKER:--exclude-libs,ALL LINKER:--no-undefined)
    endif()
    # Where the links of an installation are missing, as in a wheel, its libraries still find each
    # other.
    set_target_properties(${target} PROPERTIES INSTALL_RPATH $ORIGIN)
  endforeach()
endfunction()
