#!/bin/sh
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# HPL, transposes, random accesses, FFTs and the network, one after the other. The ranks are
# one row of HPL's grid of processes.
#
# /// row hpcc
# title = "HPC Challenge"
# debian = ["hpcc", "libopenblas0-openmp"]
# mpi = "openmpi"
# command = ["sh", "{file}", "{ranks}"]
# check = ["sh", "-c", "command -v hpcc"]
# # OpenBLAS for pthreads may be the machine's default.
# environment.LD_LIBRARY_PATH = """\
# /usr/lib/x86_64-linux-gnu/openblas-openmp:/usr/lib/aarch64-linux-gnu/openblas-openmp"""
# # It judges its results itself; other lines have times in them.
# result = '^(Success|CommWorldProcs|HPL_N|PTRANS_n|MPIRandomAccess_N|MPIFFT_N)='
# ///
#
# hpcc.sh RANKS: one rank of HPC Challenge. It reads hpccinf.txt and appends to hpccoutf.txt, both
# in the current directory, on the first rank only.

set -eu
rank=$OMPI_COMM_WORLD_RANK
if [ "$rank" = 0 ]; then
  rm -f hpccoutf.txt
  cat >hpccinf.txt <<END
HPC Challenge, whose last problems come after line 32
This line and the one above are titles
hpcc.out        file of the output
8               where the output goes: the file
1               number of sizes of HPL
800             sizes
1               number of block sizes
64              block sizes
0               rows first
1               number of process grids
1               rows
$1              columns
16.0            threshold of the residual
1               number of panel factorizations
2               panel factorizations
1               number of stopping criteria
4               stopping criteria
1               number of panels in a recursion
2               panels in a recursion
1               number of recursive factorizations
1               recursive factorizations
1               number of broadcasts
1               broadcasts
1               number of lookahead depths
1               lookahead depths
2               swapping: mixed
64              threshold of swapping
0               L1 is transposed
0               U is transposed
1               equilibration
8               alignment in doubles
---- transposes ----
0               number of further sizes
1200            sizes
0               number of further block sizes
40              block sizes
END
fi
hpcc
[ "$rank" != 0 ] || cat hpccoutf.txt
