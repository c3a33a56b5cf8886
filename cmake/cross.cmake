# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Toolchain of the presets that build for another architecture, HIERBAR_CROSS, a name of
# cross_machines.txt: Debian's cross compiler; test programs run under qemu-user.

# CMake reads this file again in each of its trials, which know the variables of this list only.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HIERBAR_CROSS)

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/cross_machines.txt row REGEX "^${HIERBAR_CROSS} ")
if(NOT HIERBAR_CROSS OR NOT row)
  message(FATAL_ERROR "HIERBAR_CROSS='${HIERBAR_CROSS}' is no architecture of "
                      "cmake/cross_machines.txt")
endif()
string(REGEX REPLACE " +" ";" row "${row}")
list(GET row 1 target)
list(GET row 2 qemu)
list(GET row 4 suite)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${qemu})
set(CMAKE_C_COMPILER ${target}-gcc)
set(CMAKE_CXX_COMPILER ${target}-g++)

# Libraries of the build machine must not be found; headers and packages of the target come from the
# cross root, and hwloc from where fetch_cross_hwloc.sh has put it. Without it there is no
# libhierbar.so and no libomp.so.
set(cache $ENV{XDG_CACHE_HOME})
if(NOT cache)
  set(cache $ENV{HOME}/.cache)
endif()
set(packages ${cache}/hierbar/${HIERBAR_CROSS})
set(CMAKE_FIND_ROOT_PATH /usr/${target} ${packages})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${packages})
set(ENV{PKG_CONFIG_LIBDIR} ${packages}/usr/lib/${target}/pkgconfig)
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${packages}/usr/include/${target})
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${packages}/usr/include/${target})

# Where the loader finds hwloc, and what hwloc needs: only the older of the two tags holds for that
# as well.
set(link_options "-Wl,--disable-new-dtags,-rpath,${packages}/usr/lib/${target}")

# The target's root at run time. A hwloc of another release needs a newer C library than the cross
# compiler's, which has come with it, and which the linker does not have to look at.
set(root /usr/${target})
if(NOT suite STREQUAL "-" AND EXISTS ${packages}/usr/lib/${target}/libc.so.6)
  set(root ${packages}/usr)
  string(APPEND link_options ",--allow-shlib-undefined")
endif()
foreach(kind IN ITEMS EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT ${link_options})
endforeach()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${qemu} -L ${root})
