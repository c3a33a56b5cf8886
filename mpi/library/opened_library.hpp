// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::mpi {

// A program may open its MPI library and take functions from it by dlsym(), as Julia's ccall, Python's
// ctypes and Numba do. Such calls come to no preloaded function. So the shim answers dlsym().
//
// Returns the shim's function that is to be the answer in place of `definition`, which is that of
// `symbol` behind `handle`; `caller` is the place that asks. Null: `definition` stays the answer, since
//
// - this shim has no such function, or does not serve the library, or already serves another one;
// - the library is in a namespace of its own (dlmopen()), or another shim's function was found;
// - the MPI library asks, or a shim;
// - a tool behind the shim has the function, and might be the one that asks. The shim's function would
//   call that of the tool again. Barriers have a function that calls no tool, PMPI_Barrier.
void* function_in_place_of(void* definition, void* handle, const char* symbol, const void* caller);

}  // namespace hierbar::mpi
