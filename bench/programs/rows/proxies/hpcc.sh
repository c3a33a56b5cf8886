#!/bin/sh
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# hpcc.sh INPUT RANKS: one rank of HPC Challenge. It reads hpccinf.txt and appends to hpccoutf.txt,
# both in the current directory, on the first rank only.

set -eu
rank=$OMPI_COMM_WORLD_RANK
if [ "$rank" = 0 ]; then
  rm -f hpccoutf.txt
  sed "s/@RANKS@/$2/" "$1" >hpccinf.txt
fi
hpcc
[ "$rank" != 0 ] || cat hpccoutf.txt
