#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# GROMACS, which Debian builds with GCC: some steps of molecular dynamics of a box of water, in a
# mode whose results do not depend on time. Prints the energies of the last step, and on stderr how
# many ns it would simulate in a day. HIERBAR_GROMACS_STEPS: how many steps, 100 by default. Returns
# 77 where there is no gmx.

set -euo pipefail
if ! command -v gmx >/dev/null; then
  printf 'Skipped: there is no gmx (Debian: gromacs)\n'
  exit 77
fi
directory=$(mktemp --directory)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

run() { gmx -quiet -nobackup "$@" >log 2>&1 || { cat log >&2 && exit 1; }; }

cat >water.top <<'END'
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
Water
[ molecules ]
END
cat >md.mdp <<END
integrator = md
nsteps = ${HIERBAR_GROMACS_STEPS:-100}
dt = 0.001
nstenergy = 20
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
tcoupl = no
gen-vel = yes
gen-temp = 300
gen-seed = 17
ld-seed = 17
constraints = none
END
run solvate -cs spc216 -box 2 2 2 -o water.gro -p water.top
run grompp -f md.mdp -c water.gro -p water.top -o run.tpr -maxwarn 5
run mdrun -s run.tpr -deffnm run -ntmpi 1 -ntomp "${OMP_NUM_THREADS:-2}" -reprod -pin off -nb cpu
gmx -quiet dump -e run.edr 2>/dev/null | tail -n 40
sed --quiet 's/^Performance: *\([0-9.]*\).*/ns_per_day \1/p' run.log >&2
