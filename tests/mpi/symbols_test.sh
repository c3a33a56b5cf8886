#!/bin/sh
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The shim stands in front of whatever MPI library the program has: it needs none itself, needs no
# shared C++ library, and shows nothing but the MPI functions that it replaces, those of
# hierbar/mpi.h, dlsym(), what libhierbar_mpi_any.so calls, with MPICH setsid(), and with Open MPI
# MPI_Buffer_attach and Fortran's calls with data. It has the functions for sessions, and those with
# large counts, if its family's header has them. Arguments: nm, readelf, the library, the
# directories of the header.
set -u
nm=$1 readelf=$2 library=$3
shift 3

expected='MPIX_Threadcomm_finish MPIX_Threadcomm_free MPIX_Threadcomm_init MPIX_Threadcomm_start
MPI_ALLGATHER MPI_ALLREDUCE MPI_ALLTOALL MPI_Abort MPI_Allgather MPI_Allgather_c
MPI_Allreduce MPI_Allreduce_c MPI_Alltoall MPI_Alltoall_c MPI_BARRIER MPI_BCAST
MPI_BUFFER_ATTACH MPI_Barrier MPI_Bcast MPI_Bcast_c MPI_Buffer_attach
MPI_Comm_disconnect MPI_Comm_dup MPI_Comm_free MPI_Finalize MPI_GATHER MPI_Gather
MPI_Gather_c MPI_REDUCE MPI_REDUCE_SCATTER_BLOCK MPI_Reduce MPI_Reduce_c
MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c MPI_SCATTER MPI_Scatter MPI_Scatter_c
MPI_Session_finalize MPI_Session_init MPI_Win_allocate MPI_Win_allocate_c MPI_Win_create
MPI_Win_create_c MPI_Win_create_dynamic PMPI_Allgather PMPI_Allgather_c PMPI_Allreduce
PMPI_Allreduce_c PMPI_Alltoall PMPI_Alltoall_c PMPI_Barrier PMPI_Bcast PMPI_Bcast_c
PMPI_Gather PMPI_Gather_c PMPI_Reduce PMPI_Reduce_c PMPI_Reduce_scatter_block
PMPI_Reduce_scatter_block_c PMPI_Scatter PMPI_Scatter_c
PMPI_Win_allocate PMPI_Win_allocate_c PMPI_Win_create PMPI_Win_create_c
PMPI_Win_create_dynamic dlsym hierbar_mpi_stand_behind
hierbar_team_allreduce hierbar_team_allreduce_fortran hierbar_team_barrier hierbar_team_bcast
hierbar_team_bcast_fortran hierbar_team_create
hierbar_team_create_fortran hierbar_team_free hierbar_team_join mpi_allgather
mpi_allgather_ mpi_allgather__ mpi_allgather_f08_ mpi_allreduce mpi_allreduce_
mpi_allreduce__ mpi_allreduce_f08_ mpi_alltoall mpi_alltoall_ mpi_alltoall__
mpi_alltoall_f08_ mpi_barrier mpi_barrier_ mpi_barrier__ mpi_barrier_f08_ mpi_bcast
mpi_bcast_ mpi_bcast__ mpi_bcast_f08_ mpi_buffer_attach mpi_buffer_attach_
mpi_buffer_attach__ mpi_buffer_attach_f08_ mpi_gather mpi_gather_ mpi_gather__
mpi_gather_f08_ mpi_reduce mpi_reduce_ mpi_reduce__ mpi_reduce_f08_
mpi_reduce_scatter_block mpi_reduce_scatter_block_ mpi_reduce_scatter_block__
mpi_reduce_scatter_block_f08_ mpi_scatter
mpi_scatter_ mpi_scatter__ mpi_scatter_f08_ setsid'
expected=$(echo $expected) # in one line
has_sessions=no has_large_counts=no
for directory; do
  if grep -qsE '^ *# *define +MPI_VERSION +[4-9]' "$directory/mpi.h"; then has_large_counts=yes; fi
  if grep -qsE '^ *# *define +MPI_SESSION_NULL ' "$directory/mpi.h"; then has_sessions=yes; fi
done
case $library in
  *_ompi.so) expected=${expected% setsid} ;; # MPICH's launcher calls it
  *)
    expected=$(echo "$expected" |
      sed -E 's/[^ ]*buffer_attach[^ ]* //gi
              s/mpi_(allgather|allreduce|alltoall|bcast|gather|reduce|scatter)[^ ]* //g
              s/MPI_(ALLGATHER|ALLREDUCE|ALLTOALL|BCAST|GATHER|REDUCE|REDUCE_SCATTER_BLOCK|SCATTER) //g')
    ;;
esac
[ $has_large_counts = yes ] || expected=$(echo "$expected" | sed 's/P*MPI_[A-Za-z_]*_c //g')
[ $has_sessions = yes ] || expected=$(echo "$expected" | sed 's/MPI_Session_[a-z]* //g')
exported=$("$nm" -D --defined-only "$library" | awk '{ print $NF }' | LC_ALL=C sort |
  paste -s -d ' ')
if [ "$exported" != "$expected" ]; then
  echo "$library exports"
  echo "  $exported"
  echo "and not"
  echo "  $expected"
  exit 1
fi
if "$nm" -D --undefined-only "$library" | grep -i 'mpi'; then
  echo "$library has references to an MPI library"
  exit 1
fi
if "$readelf" -d "$library" | grep -E 'NEEDED.*(mpi|hierbar|libstdc\+\+)'; then
  echo "$library needs other libraries than the C library's and GCC's unwinder"
  exit 1
fi
