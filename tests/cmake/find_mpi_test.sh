#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# MPI's compiler drivers are taken by what their mpi.h defines, not by their names. Argument: the
# folder cmake.

source "$(dirname "$0")/check.sh"
project=$(cd "$1/.." && pwd)

make_driver() { # DIRECTORY NAME MACRO
  mkdir -p "$work/$1/include"
  printf '#define %s 1\n' "$3" >"$work/$1/include/mpi.h"
  printf '#!/bin/sh\n[ "$1" = -show ] && echo "cc -I%s" && exit\nexec cc -I"%s" "$@"\n' \
    "$work/$1/include" "$work/$1/include" \
    >"$work/$1/$2"
  chmod +x "$work/$1/$2"
}
# What a build would find; the distribution's own drivers come later in PATH. The user's launcher of
# compilers is not in it.
configure() { # FIRST_DIRECTORY OPTION...
  rm -rf "$work/build"
  run env --unset=CMAKE_C_COMPILER_LAUNCHER --unset=CMAKE_CXX_COMPILER_LAUNCHER \
    PATH="$work/$1:$work/tools" \
    cmake -G Ninja -S "$project" -B "$work/build" -DHIERBAR_BUILD_LIBOMP=OFF \
    -DHIERBAR_BUILD_TESTS=OFF \
    -DHIERBAR_BUILD_BENCH=OFF "${@:2}"
}
mkdir "$work/tools"
for tool in cmake ninja cc c++ ld ar as nm ranlib objdump sh pkg-config; do
  ln -s "$(command -v $tool)" "$work/tools/$tool"
done

make_driver one mpicc OMPI_MAJOR_VERSION
make_driver two mpicc MPICH_VERSION
make_driver three mpicc SOME_OTHER_MPI

configure one
check "Open MPI's mpicc is found by its header" says "libhierbar_mpi_ompi.so for $work/one/mpicc"
check 'and not taken for MPICH' says 'no libhierbar_mpi.so'
configure two
check "MPICH's mpicc is found by its header" says "libhierbar_mpi.so for $work/two/mpicc"
check 'and not taken for Open MPI' says 'no libhierbar_mpi_ompi.so'
configure three
check 'another MPI is neither' says 'no libhierbar_mpi.so'
configure one -DHIERBAR_MPICH_CC="$work/two/mpicc"
check 'both can be had' says "libhierbar_mpi.so for $work/two/mpicc"
check 'each by its own driver' says "libhierbar_mpi_ompi.so for $work/one/mpicc"
configure one -DHIERBAR_MPICH_CC="$work/one/mpicc"
check 'a driver of the wrong family is refused' says "makes it 'ompi'"

finish
