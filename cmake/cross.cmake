# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Toolchain of the preset aarch64: Debian's cross compiler; test programs run under qemu-user.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

# Libraries of the build machine must not be found; headers and packages of the target come from the
# cross root, and hwloc from where fetch_aarch64_hwloc.sh has put it. Without it there is no
# libhierbar.so and no libomp.so.
set(cache $ENV{XDG_CACHE_HOME})
if(NOT cache)
  set(cache $ENV{HOME}/.cache)
endif()
set(packages ${cache}/hierbar/aarch64)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu ${packages})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${packages})
set(ENV{PKG_CONFIG_LIBDIR} ${packages}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${packages}/usr/include/aarch64-linux-gnu)
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${packages}/usr/include/aarch64-linux-gnu)

# Where the loader finds hwloc, and what hwloc needs: only the older of the two tags holds for that
# as well.
foreach(kind IN ITEMS EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT
      "-Wl,--disable-new-dtags,-rpath,${packages}/usr/lib/aarch64-linux-gnu")
endforeach()
