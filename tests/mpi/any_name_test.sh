#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   any_name_test.sh SOURCE_DIR
#
# A machine whose only MPI is an `mpicc` and an `mpiexec` of one directory in PATH, as on clusters:
# the family's shim is built there, and its tests pass. Once for each family that Debian has here.
# Returns 77 if it has none. It builds the shim and its test programs twice, without libomp.

source "$1/tests/cmake/check.sh"
source=$(cd "$1" && pwd)
num_tried=0

# All tools but MPI's, in place of /usr/bin.
mkdir "$work/tools"
for directory in /usr/bin /bin /usr/sbin /sbin; do
  for tool in "$directory"/*; do
    case ${tool##*/} in
      mpi* | ompi* | opal* | orte* | prte* | hydra*) ;;
      *) [[ -e $work/tools/${tool##*/} ]] || ln -s "$tool" "$work/tools/" ;;
    esac
  done
done
# A cmake of the user's own.
ln -sf "$(command -v cmake)" "$(command -v ctest)" "$(command -v ninja)" "$work/tools/"

try() { # SUFFIX TARGET OTHER_TARGET TESTS
  command -v "mpicc.$1" >/dev/null && command -v "mpiexec.$1" >/dev/null ||
    { printf 'skipped: no mpicc.%s\n' "$1" && return; }
  num_tried=$((num_tried + 1))
  mkdir "$work/$1"
  ln -s "$(command -v "mpicc.$1")" "$work/$1/mpicc"
  ln -s "$(command -v "mpiexec.$1")" "$work/$1/mpiexec"
  # Hydra and orted are started by name from beside the launcher.
  local helper
  for helper in hydra_pmi_proxy hydra_nameserver orted; do
    [[ ! -e /usr/bin/$helper ]] || ln -s "/usr/bin/$helper" "$work/$1/"
  done
  export PATH=$work/$1:$work/tools
  run cmake -G Ninja -S "$source" -B "$work/build-$1" \
    -DCMAKE_BUILD_TYPE=Release -DHIERBAR_BUILD_LIBOMP=OFF -DHIERBAR_BUILD_BENCH=OFF
  check "$1: it is found as mpicc" says "$2.so for $work/$1/mpicc"
  check "$1: the other family is not there" says "no $3.so"
  run cmake --build "$work/build-$1" --target "${2#lib}" mpi_test_programs
  check "$1: its shim is built" succeeded
  run ctest --test-dir "$work/build-$1" --tests-regex "$4" --no-tests=error --output-on-failure
  check "$1: its tests pass" succeeded
  tail -n 5 "$work/output"
}

path=$PATH
try mpich libhierbar_mpi libhierbar_mpi_ompi '^mpi\.barriers\.'
PATH=$path
try openmpi libhierbar_mpi_ompi libhierbar_mpi '^mpi\.ompi\.barriers\.'
PATH=$path
if ((num_tried == 0)); then
  printf 'skipped: neither mpicc.mpich nor mpicc.openmpi is here\n'
  exit 77
fi
finish
