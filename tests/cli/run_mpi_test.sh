#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   run_mpi_test.sh HIERBAR SOURCE_DIR
#
# What `hierbar run` preloads for MPI programs. Where the loader would load the MPI library, it is
# that family's shim; where a script, an interpreter or a launcher that nobody knows hides the
# program, or it opens its MPI library, libhierbar_mpi_any.so. Nothing is started to find that out,
# and a program that has no way to MPI gets none of them.

source "$2/tests/cmake/check.sh"
hierbar=$1 sources=$2/tests
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH OMP_PLACES OMP_PROC_BIND KMP_AFFINITY GOMP_CPU_AFFINITY \
  KMP_BARRIER OMP_NUM_THREADS HIERBAR_MPI HIERBAR_VERBOSE
export HIERBAR_MPI_SET_UP_AT=1
cd "$work"

preloads() { # FILE|- COMMAND...
  run "$hierbar" run --dry-run -- "${@:2}"
  check "the settings for '${*:2}'" succeeded
  check "what is preloaded for '${*:2}'" same_text \
    "$(grep -o 'libhierbar_mpi[a-z_]*\.so' <(grep '^env ' output) | sort -u)" "${1#-}"
}
serves() { # COMMAND...: 40 barriers of 2 ranks
  run timeout 120 "$hierbar" run --require-active -- "$@"
  check "'$*' is served" succeeded
  check "'$*': how many" says 'hierbar run: MPI: 40 barriers served in 2 processes, 0 left'
  check "'$*': nobody complains" lacks 'does nothing here'
}
lacks() { ! grep --quiet --fixed-strings -- "$1" output; }

# Without MPI: OpenMP alone, and no more than the C library.
printf 'int main(void) { return 0; }\n' >nothing.c
cc nothing.c -o nothing
printf 'int main(void) {\n#pragma omp parallel\n  ;\n  return 0;\n}\n' >region.c
cc -fopenmp region.c -o region
preloads - ./nothing
check 'and it says so' says 'no MPI in the command, and no way to one, so MPI_Barrier is left alone'
preloads - ./region
preloads - env ./region
preloads - srun -n 2 ./region

# What may come to MPI later: by opening it, by starting a program, or where a file is missing here.
printf '%s\n' '#include <dlfcn.h>' \
  'int main(int c, char **v) { return c < 2 || dlopen(v[1], RTLD_NOW) == 0; }' >opens.c
cc opens.c -ldl -o opens
printf '%s\n' '#include <unistd.h>' 'int main(int c, char **v) { return execvp(v[1], v + 1); }' \
  >starts.c
cc starts.c -o starts
printf 'void brought(void) {}\n' >brought.c
cc -shared -fPIC brought.c -o libbrought.so
printf 'void brought(void);\nint main(void) { brought(); }\n' >lacks.c
cc lacks.c -L. -lbrought -Wl,-rpath,"$work" -o lacks
printf '#!/bin/sh\nexec "$@"\n' >script.sh
chmod +x script.sh
# Called: it leaves a file behind.
printf '#!/bin/sh\ntouch %q\n' "$work/asked" >python3
chmod +x python3
preloads libhierbar_mpi_any.so ./opens
preloads libhierbar_mpi_any.so ./starts ./nothing
preloads libhierbar_mpi_any.so ./script.sh ./nothing
preloads libhierbar_mpi_any.so srun ./script.sh
preloads libhierbar_mpi_any.so srun ./nowhere
preloads - ./lacks
rm libbrought.so
preloads libhierbar_mpi_any.so ./lacks
preloads libhierbar_mpi_any.so ./python3 train.py
preloads libhierbar_mpi_any.so prun -n 2 ./nothing
preloads libhierbar_mpi_any.so mpiexec ./python3 train.py
check 'no Python is started to find out' is_missing asked
run "$hierbar" run --verbose -- ./starts ./nothing
check 'the note' says 'libhierbar_mpi_any.so:'
check 'with the reason' says '(MPI_Barrier for any MPI; found out when the program calls it)'

cat >barriers.c <<'END'
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
END
num_tried=0
for family in mpich openmpi; do
  command -v "mpicc.$family" >/dev/null && command -v "mpiexec.$family" >/dev/null ||
    { printf 'skipped: no mpicc.%s\n' "$family" && continue; }
  num_tried=$((num_tried + 1))
  case $family in
    mpich) shim=libhierbar_mpi.so mpiexec=(mpiexec.mpich) ;;
    openmpi)
      shim=libhierbar_mpi_ompi.so mpiexec=(mpiexec.openmpi --oversubscribe)
      ((EUID)) || mpiexec+=(--allow-run-as-root)
      ;;
  esac
  mpiexec+=(-n 2)
  "mpicc.$family" barriers.c -o "$family"
  "mpicc.$family" -shared -fPIC -Dmain=parts barriers.c -o "$family.so"
  cat >"${family}_opens.py" <<END
import ctypes
ctypes.CDLL("$work/$family.so").parts(0, None)
END
  for launched in "./$family" "${mpiexec[*]} ./$family" "srun -n 2 ./$family" "./starts ./$family" \
    "./script.sh ./$family"; do
    read -ra words <<<"$launched"
    preloads "$shim" "${words[@]}"
  done
  preloads libhierbar_mpi_any.so "${mpiexec[@]}" ./script.sh
  serves "${mpiexec[@]}" "./$family"
  serves "${mpiexec[@]}" sh -c "exec ./$family"
  serves ./starts "${mpiexec[@]}" sh -c "exec ./$family"
  serves sh -c "${mpiexec[*]} ./$family"
  python=$(PATH=/usr/bin:$PATH command -v python3) || continue
  preloads libhierbar_mpi_any.so "${mpiexec[@]}" "$python" "${family}_opens.py"
  serves "${mpiexec[@]}" "$python" "${family}_opens.py"
done
((num_tried)) || printf 'skipped: neither mpicc.mpich nor mpicc.openmpi is here\n'
finish
