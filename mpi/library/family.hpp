// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <span>

#include "mpi/library/families.hpp"
#include "mpi/library/mpi_symbols.hpp"

namespace hierbar::mpi {

struct Pmpi;

// MPI libraries of one family have the same handles and constants. The shim is compiled once for
// each family, against the family's mpi.h. What mpi.h does not settle is in family_<name>.cpp.

extern const LibraryFamily kFamily;
// Environment variables that users set for programs that go on after a rank has died.
extern const std::span<const char* const> kFaultToleranceVariables;
extern const char* const kProgressSymbol;  // the library's function that makes progress
// The library's function from a communicator's handle in Fortran to that in C.
extern const char* const kCommFromFortran;
// Whether threads of a process may make communicators of different groups at the same time, as MPI
// allows, without a hang inside the library (docs/design/mpi-setup.md#d0155).
extern const bool kThreadsMayMakeComms;
// Whether an allreduce of one element may have one buffer as both of its buffers, which MPI does
// not allow.
extern const bool kTakesOneElementTwice;
// The same of a reduce_scatter of any number of elements.
extern const bool kTakesOneBufferTwice;
// Whether a rank may have room for more bytes than the root of its bcast brings, which MPI does not
// allow.
extern const bool kTakesFewerBytes;
// Whether an allgather may bring what already lies in its place, without MPI_IN_PLACE, which MPI
// does not allow.
extern const bool kTakesOwnPart;

// The file of this shim.
inline const char* shim_file() { return row_of(kFamily).shim_file; }

// Fills in the predefined handles of the table. If one is missing, find.missing() names it.
void bind_handles(const MpiSymbols& find, Pmpi& pmpi);

// The library's own function that makes progress; null if it has none.
void (*find_progress(const MpiSymbols& find))();

MPI_Comm from_fortran(const Pmpi& pmpi, MPI_Fint comm);

}  // namespace hierbar::mpi
