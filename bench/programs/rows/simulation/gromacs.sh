#!/bin/sh
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A box of water: some dozen parallel regions in each step.
#
# /// row gromacs
# title = "GROMACS"
# debian = ["gromacs", "gromacs-data"]
# prepare = [["sh", "{file}"]]
# command = [
#   "gmx", "mdrun", "-pin", "off", "-ntmpi", "1", "-ntomp", "{threads}", "-s", "{work}/water.tpr",
#   "-deffnm", "water", "-reprod", "-noconfout",
# ]
# time = 'Performance: +([0-9.]+)'
# rate = true
# # Else it keeps the files of each run, and fails after 99.
# environment = { GMX_MAXBACKUP = "-1" }
# ///
#
# Makes the box of water in the current directory.

set -eu
cat >water.mdp <<'END'
integrator      = md
dt              = 0.002
nsteps          = 400
nstenergy       = 100
cutoff-scheme   = Verlet
coulombtype     = PME
rcoulomb        = 0.9
rvdw            = 0.9
tcoupl          = v-rescale
tc-grps         = System
tau-t           = 0.5
ref-t           = 300
gen-vel         = yes
gen-seed        = 1
ld-seed         = 1
END
cat >water.top <<'END'
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"

[ system ]
Water

[ molecules ]
END
gmx solvate -cs spc216.gro -box 3.72412 1.86206 1.86206 -o water.gro -p water.top
gmx grompp -f water.mdp -c water.gro -p water.top -o water.tpr
