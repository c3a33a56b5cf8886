// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>

namespace hierbar::mpi {

struct Pmpi;

// Data as a program describes them. The address may be MPI_BOTTOM, which is null, with a datatype
// that has addresses in it.
struct TypedData {
  void* address;
  MPI_Count count;
  MPI_Datatype type;
};

// Data whose values do not lie in memory as they travel (TypeLayout), by the library's MPI_Pack and
// MPI_Unpack. They return MPI's status. The library raises an error on `comm`; behind one of pack()
// this rank has not come to its call, and the others wait.
//
// Requires: packs_plainly(), and `bytes` is count * size of the type, at most INT_MAX.
int pack(const Pmpi& pmpi, MPI_Comm comm, const TypedData& from, std::byte* packed,
         std::size_t bytes);
int unpack(const Pmpi& pmpi, MPI_Comm comm, const std::byte* packed, std::size_t bytes,
           const TypedData& to);

}  // namespace hierbar::mpi
