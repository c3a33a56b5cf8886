#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   package_test.sh BUILD_DIR VERSION WITH_LIBOMP WITH_MPI_BENCH [SHIM...]
#
# Installs the build, moves the prefix to another place, and uses it there as a stranger would:
# through the CMake package, through pkg-config, the OpenMP runtime by LD_LIBRARY_PATH and by
# `hierbar run`, and the MPI shims.

source "$(dirname "$0")/check.sh"
build_dir=$1 version=$2 with_libomp=$3 with_mpi_bench=$4
shift 4
examples=$(cd "$(dirname "$0")/../examples" && pwd)
prefix=$work/prefix

run cmake --install "$build_dir" --prefix "$work/installed"
check 'the build can be installed' succeeded
run grep --recursive --files-with-matches --fixed-strings "$work/installed" "$work/installed/lib" \
  "$work/installed/include"
check 'no installed file names the prefix' same_text "$(cat "$work/output")" ''
mv "$work/installed" "$prefix"
run find "$prefix" -xtype l
check 'no installed link leads nowhere' same_text "$(cat "$work/output")" ''
lib_dir=$(dirname "$(find "$prefix" -type f -name 'libhierbar.so*' -print -quit)")

# 1. find_package(hierbar), and the examples of docs/reference/api.md as they stand there.
consumer=$work/source
mkdir "$consumer"
cat >"$consumer/consumer.cpp" <<'END'
#include <hierbar/hierbar.h>
#include <hierbar/barrier/barrier.hpp>

#include <cstdio>

int main() { std::printf("%s %s\n", hierbar_version(), HIERBAR_VERSION_STRING); }
END
cat >"$consumer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer C CXX)
find_package(hierbar ${version} EXACT REQUIRED)
add_executable(consumer consumer.cpp)
target_compile_features(consumer PRIVATE cxx_std_20)
target_link_libraries(consumer PRIVATE hierbar::runtime hierbar::barrier)

find_package(Threads REQUIRED)
add_executable(example_threads ${examples_dir}/threads.c)
add_executable(example_allreduce ${examples_dir}/allreduce.c)
add_executable(example_processes ${examples_dir}/processes.cpp)
foreach(name IN ITEMS example_threads example_allreduce example_processes)
  target_link_libraries(${name} PRIVATE hierbar::runtime Threads::Threads)
endforeach()
END
run cmake -S "$consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -Dversion="$version" \
  -Dexamples_dir="$examples"
check 'find_package finds it' succeeded
run cmake --build "$work/consumer"
check 'programs that use hierbar::runtime and hierbar::barrier build' succeeded
run "$work/consumer/consumer"
check 'the library, the header and the package are of one version' same_text \
  "$(cat "$work/output")" "$version $version"
run "$examples/examples_test.sh" "$work/consumer"
check "the examples of docs/reference/api.md use the installed library" succeeded

# 2. pkg-config.
export PKG_CONFIG_PATH=$lib_dir/pkgconfig
check 'pkg-config knows the version' same_text "$(pkg-config --modversion hierbar)" "$version"
read -r -a flags <<<"$(pkg-config --cflags --libs hierbar) -Wl,-rpath,$lib_dir"
run "${CXX:-c++}" -std=c++20 "$consumer/consumer.cpp" -o "$work/by_pkg_config" "${flags[@]}" \
  -pthread
check 'its flags are enough' succeeded
run "$work/by_pkg_config"
check 'and the program runs' same_text "$(cat "$work/output")" "$version $version"
for name in threads allreduce; do
  run "${CC:-cc}" -std=c11 "$examples/$name.c" -o "$work/example_$name" "${flags[@]}" -pthread
  check "a C program needs no more: $name" succeeded
done
run "${CXX:-c++}" -std=c++17 "$examples/processes.cpp" -o "$work/example_processes" "${flags[@]}"
check 'nor does one with processes' succeeded
run "$examples/examples_test.sh" "$work"
check "the examples of docs/reference/api.md work with the installed library" succeeded

# 3. The OpenMP runtime and what it looks for beside itself.
if [[ $with_libomp == ON ]]; then
  for name in libomp.so.5 libiomp5.so libgomp.so.1; do
    check "$name is a link to libomp.so" same_text "$(readlink "$lib_dir/hierbar/$name")" libomp.so
    check "the loader does not find $name by itself" is_missing "$lib_dir/$name"
  done
  check 'libhierbar.so is found beside libomp.so' exists "$lib_dir/hierbar/libhierbar.so"
  cat >"$work/team.cpp" <<'END'
#include <omp.h>

#include <cstdio>

int main() {
#pragma omp parallel
  {
#pragma omp single
    std::printf("team of %d\n", omp_get_num_threads());
  }
}
END
  run "${CXX:-c++}" -fopenmp "$work/team.cpp" -o "$work/team"
  check 'an OpenMP program builds' succeeded
  run env LD_LIBRARY_PATH="$lib_dir/hierbar" OMP_NUM_THREADS=3 KMP_VERSION=1 "$work/team"
  check "GCC's program runs on the installed libomp" says 'LLVM OMP version'
  check 'with the team that was asked for' says 'team of 3'
  run "$prefix/bin/hierbar" run --require-active -- env OMP_NUM_THREADS=3 "$work/team"
  check 'the installed command runs it on the hierarchical barrier' succeeded
  check 'and says so' says 'served in 1 process'
  # Wheels have no links: the loader then finds libhierbar.so.0 by the runtime's run path.
  rm "$lib_dir"/hierbar/preload/libhierbar.so
  run "$prefix/bin/hierbar" run --require-active -- env OMP_NUM_THREADS=3 "$work/team"
  check 'the same without the links' succeeded
  run "$prefix/bin/omp_barrier_bench" --list
  check 'the benchmark measures the installed libomp' says "$lib_dir/hierbar/libomp.so"
fi

# 4. The MPI shims, which also look for libhierbar.so beside themselves. More than four ranks need
#    it.
printf '%s\n' '#include <mpi.h>' \
  'int main(void) { return MPI_Init(0, 0) || MPI_Barrier(MPI_COMM_WORLD) || MPI_Finalize(); }' \
  >"$work/barrier.c"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
for shim in "$@"; do
  mpi=mpich
  [[ $shim == hierbar_mpi_ompi ]] && mpi=openmpi
  check "lib$shim.so is installed beside libhierbar.so" exists "$lib_dir/lib$shim.so"
  run mpicc.$mpi "$work/barrier.c" -o "$work/barrier" -L"$lib_dir" "-l$shim" -Wl,-rpath,"$lib_dir"
  check "an MPI program links with lib$shim.so" succeeded
  run mpiexec.$mpi -n 5 env HIERBAR_VERBOSE=1 "$work/barrier"
  check "its barriers go through the engine of lib$shim.so" says \
    'barriers of 5 ranks: engine 5, library 0'
done
# No distribution has an MPI library to try that of the standard ABI with.
if [[ -e $build_dir/lib/libhierbar_mpi_abi.so ]]; then
  check 'so is that of the standard ABI' exists "$lib_dir/libhierbar_mpi_abi.so"
fi
if [[ $with_mpi_bench == 1 ]]; then
  run "$prefix/bin/mpi_barrier_bench" --list --configs hier
  check 'the benchmark measures the installed shim' says "LD_PRELOAD=$lib_dir/libhierbar_mpi.so"
fi

# 5. Systems older than the one that builds. A newer C library binds to newer versions of its
# symbols.
if [[ $(getconf GNU_LIBC_VERSION) == 'glibc 2.'@(34|35|36) ]]; then
  rm -rf "$prefix/libexec" # the measured programs are compiled by other compilers, as a user's are
  run "$(dirname "$0")/../../packaging/check_glibc.sh" 2.34 "$prefix"
  check 'glibc 2.34 is enough' succeeded
fi

finish
