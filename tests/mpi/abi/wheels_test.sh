#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   wheels_test.sh PYTHON DIRECTORY FOLD SHIM HIERBAR|- RUNNER...
#
# Programs of MPI's standard ABI under libhierbar_mpi_abi.so, and under libhierbar_mpi_any.so beside
# it, preloaded and linked: built once, with the header and the library of PyPI's MPICH, and run over
# that library and over Intel's MPI, each with its launcher.
# DIRECTORY is for virtual environments, FOLD the library of runtime/fold, SHIM the shim, HIERBAR
# the command, and RUNNER the start of a command line of run_mpi_test.py without mpiexec.
set -eu
tests=$(cd "$(dirname "$0")/.." && pwd)
root=$tests/../..
. "$tests/python_environment.sh"
python=$1 directory=$2 fold=$3 shim=$4 hierbar=$5
shift 5
pip_seconds=240
mkdir -p "$directory"
enter_abi_libraries "$python" "$directory"

"$tests/abi/header_test.sh" cc "$root/mpi/abi/mpi.h" "$mpich/include/mpi_abi.h"

programs=$directory/programs
mkdir -p "$programs"
build() { # NAME SOURCE FLAG...
  LD_LIBRARY_PATH=$mpich/lib "$mpich/bin/mpicxx_abi" -std=c++20 -O1 -pthread -I"$root" \
    -I"$root/runtime/include" "$tests/$2" -o "$programs/$1" "${@:3}"
}
build barriers programs/barriers.cpp
build progress programs/progress.cpp
build allreduces programs/allreduces.cpp
build one_way programs/one_way.cpp
build gathers collectives/gathers.cpp
build reduce_scatters collectives/reduce_scatters.cpp
build collectives_fuzz programs/collectives_fuzz.cpp
build sessions programs/sessions.cpp
front=$(dirname "$shim")/libhierbar_mpi_any.so
for program in programs/barriers programs/allreduces programs/one_way collectives/gathers \
  collectives/reduce_scatters; do
  build "${program#*/}_front" "$program.cpp" "$front" -Wl,-rpath,"$(dirname "$front")"
done
build teams team/teams.cpp -DHIERBAR_MPI_WEAK
# Fortran's conversions are not in the ABI, which has these.
build reductions programs/reductions.cpp -DMPI_Fint=int -DMPI_Type_f2c=MPI_Type_fromint \
  -DMPI_Type_c2f=MPI_Type_toint -I"$root/runtime" "$root/mpi/library/family_abi.cpp" \
  "$root/mpi/library/mpi_symbols.cpp" "$root/mpi/reduction/reduction.cpp" "$fold"

try() { # LINE OPTION... -- PROGRAM ARGUMENT...
  "${runner[@]}" --shim "$shim" --expect-some "$1" "${@:2}"
}

# What `hierbar run` chooses for the program, whatever the launcher is.
try_command() { # DIRECTORY OF THE LIBRARY, LAUNCHER
  [[ $hierbar != - ]] || return 0
  env LD_LIBRARY_PATH="$1" HIERBAR_MPI_SET_UP_AT=1 I_MPI_FABRICS=shm \
    "$hierbar" run --require-active -- "$2" -n 2 "$programs/barriers" oracle 20 2>&1 |
    tee "$directory/output"
  grep -q '^hierbar run: MPI: 40 barriers served in 2 processes, 0 left' "$directory/output"
  LD_LIBRARY_PATH=$1 "$hierbar" doctor --json -- "$2" -n 2 "$programs/barriers" |
    grep -q '"kind": *"mpi-abi"'
}

all() { # WHAT THE LIBRARY CALLS ITSELF
  try "library: $1" --ranks 2 --count engine==2000 --count library==0 \
    -- "$programs/barriers" oracle 1000
  try "library: $1" --ranks 4 --env HIERBAR_FAKE_NODES=2 --count engine==200 --count library==0 \
    -- "$programs/barriers" oracle 50
  try "library: $1" --ranks 2 --count engine==800 --count library==0 \
    -- "$programs/barriers" duplicates 200
  for what in isend ssend; do
    try "library: $1" --ranks 2 --count engine==42 --count library==0 \
      -- "$programs/progress" $what 1 0
  done
  try "library: $1" --ranks 2 --env HIERBAR_MPI=collectives --count 'allreduces>=1000' \
    -- "$programs/allreduces" one 1000
  try "library: $1" --ranks 2 --env HIERBAR_MPI=collectives --count bcasts==2000 \
    --count reduces==2000 --count 'library bcasts==0' --count 'library reduces==0' \
    -- "$programs/one_way" one 1000
  try "library: $1" --ranks 2 --env HIERBAR_MPI=collectives --count gathers==2000 \
    --count scatters==2000 --count 'library gathers==0' --count 'library scatters==0' \
    -- "$programs/gathers" one 1000
  try "library: $1" --ranks 2 --env HIERBAR_MPI=collectives --count reduce-scatters==2000 \
    --count 'library reduce-scatters==0' -- "$programs/reduce_scatters" one 1000
  try 'calls, seed 3: all were right' --ranks 3 --env HIERBAR_MPI=collectives \
    --count 'allreduces>=1' --count 'bcasts>=1' --count 'reduces>=1' --count 'gathers>=1' \
    --count 'scatters>=1' --count 'reduce-scatters>=1' -- "$programs/collectives_fuzz" \
    --served allreduce,bcast,reduce,gather,scatter,reduce_scatter_block --seconds 0.5 --seed 3
  try 'team of 4 threads in 2 ranks on this node' --ranks 2 \
    --expect-some 'all rounds were right' -- "$programs/teams" oracle funneled 2 50
  try "library: $1" --ranks 2 --count engine==800 --count library==0 -- "$programs/sessions"
  all_of_front "$1" '' --shim "$front"
  all_of_front "$1" _front
  "${runner[@]}" --shim "$front" --expect-some 'team of 4 threads in 2 ranks on this node' \
    --ranks 2 --expect-some 'all rounds were right' -- "$programs/teams" oracle funneled 2 50
  "${runner[@]}" --shim "$front" --expect-some "library: $1" --ranks 2 --count engine==800 \
    --count library==0 -- "$programs/sessions"
}

# The library for any MPI finds this shim, and says nothing of it.
all_of_front() { # WHAT THE LIBRARY CALLS ITSELF, SUFFIX OF THE PROGRAMS, OPTION...
  local try=("${runner[@]}" "${@:3}" --expect-some "library: $1" --reject 'does nothing here'
             --ranks 2)
  "${try[@]}" --count engine==2000 --count library==0 -- "$programs/barriers$2" oracle 1000
  try+=(--env HIERBAR_MPI=collectives)
  "${try[@]}" --count 'allreduces>=1000' -- "$programs/allreduces$2" one 1000
  "${try[@]}" --count bcasts==2000 --count reduces==2000 --count 'library bcasts==0' \
    --count 'library reduces==0' -- "$programs/one_way$2" one 1000
  "${try[@]}" --count gathers==2000 --count scatters==2000 --count 'library gathers==0' \
    --count 'library scatters==0' -- "$programs/gathers$2" one 1000
  "${try[@]}" --count reduce-scatters==2000 --count 'library reduce-scatters==0' \
    -- "$programs/reduce_scatters$2" one 1000
}

runner=("$@" --mpiexec "$mpich/bin/mpiexec" --env "LD_LIBRARY_PATH=$mpich/lib")
all 'MPICH Version: *5\.0\.2'
LD_LIBRARY_PATH=$mpich/lib "$programs/reductions"
try_command "$mpich/lib" "$mpich/bin/mpiexec"

# A shim of another family says which one is right, and passes all calls on, also to that one.
other=$(dirname "$shim")/libhierbar_mpi.so
if [[ -e $other ]]; then
  refusal='uses .*/libmpi_abi\.so.*, but libhierbar_mpi\.so is for MPICH only '
  refusal+='.libhierbar_mpi_abi\.so is for MPI.s standard ABI.'
  "${runner[@]}" --shim "$other" --expect "$refusal" --count engine==0 \
    -- "$programs/barriers" duplicates 20
  try "$refusal" --preload "$other" --count engine==80 --count library==0 \
    -- "$programs/barriers" duplicates 20
fi
# The same MPICH under its own ABI, whose library has the standard ABI's functions, too.
LD_LIBRARY_PATH=$mpich/lib "$mpich/bin/mpicxx" -std=c++20 -O1 -pthread -DMPICH_SKIP_MPICXX \
  -I"$root" "$tests/programs/barriers.cpp" -o "$programs/barriers_mpich"
refusal='uses .*/libmpi\.so.*, but libhierbar_mpi_abi\.so is for MPI.s standard ABI only '
refusal+='.libhierbar_mpi\.so is for MPICH.'
try "$refusal" --count engine==0 -- "$programs/barriers_mpich" duplicates 20

# Shared memory only: what goes between machines needs another wheel.
runner=("$@" --mpiexec "$intel/bin/mpiexec" --env "LD_LIBRARY_PATH=$intel/lib"
        --env I_MPI_FABRICS=shm)
all 'Intel.R. MPI Library 2021\.19\.0'
I_MPI_FABRICS=shm LD_LIBRARY_PATH=$intel/lib "$programs/reductions"
try_command "$intel/lib" "$intel/bin/mpiexec"
cc -O2 -Wall -Wextra "$tests/abi/fortran_calls.c" -o "$programs/fortran_calls" -L"$intel/lib" \
  -l:libmpifort_abi.so.1 -Wl,--allow-shlib-undefined
try 'library: Intel' --ranks 2 --count engine==200 --count library==0 -- "$programs/fortran_calls"
