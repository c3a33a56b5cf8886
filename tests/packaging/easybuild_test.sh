#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   easybuild_test.sh SOURCE_DIR DIRECTORY
#
# EasyBuild builds the recipe with the system's compiler, and the module that it makes works in
# Lmod. DIRECTORY keeps EasyBuild and what it has built.

source "$(dirname "$0")/../cmake/check.sh"
source_dir=$1 directory=$(realpath --canonicalize-missing "$2")
skip() { printf 'skipped: %s\n' "$*" && exit 77; }
lmod=/usr/share/lmod/lmod
[[ -x $lmod/libexec/lmod ]] || skip 'there is no Lmod (Debian: lmod)'
if [[ ! -x $directory/tools/bin/eb ]]; then
  python3 -m venv "$directory/tools" && "$directory/tools/bin/pip" install --quiet easybuild ||
    skip 'PyPI cannot be reached, for EasyBuild'
fi
export PATH=$directory/tools/bin:$lmod/libexec:$PATH EB_PYTHON=$directory/tools/bin/python3
export EASYBUILD_PREFIX=$directory/easybuild EASYBUILD_MODULES_TOOL=Lmod
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH KMP_BARRIER

run "$source_dir/packaging/easybuild/make_sources.sh" "$directory/sources"
check 'the sources can be made' succeeded
as_root=()
((EUID)) || as_root=(--allow-use-as-root-and-accept-consequences)
run eb "${as_root[@]}" --sourcepath "$directory/sources" --rebuild --parallel "$(nproc)" \
  "$source_dir"/packaging/easybuild/hierbar-*.eb
cp "$work/output" "$directory/eb.log"
check 'EasyBuild builds it' succeeded

cat >"$work/app.c" <<'END'
#include <stdio.h>
int main(void) {
#pragma omp parallel
  {
#pragma omp barrier
  }
  return puts("done") < 0;
}
END
"${CC:-cc}" -fopenmp "$work/app.c" -o "$work/app"
cat >"$work/use.sh" <<'END'
source "$1/init/bash"
module use "$2"
module load hierbar
OMP_NUM_THREADS=3 hierbar run --require-active -- "$3"
module unload hierbar
! command -v hierbar
END
run bash "$work/use.sh" "$lmod" "$EASYBUILD_PREFIX/modules/all" "$work/app"
check 'the module works, and goes again' succeeded
check 'the barrier is active' says 'served in 1 process'

finish
