// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::mpi {

// What dlsym() is to answer for `symbol` behind `handle` in place of `definition`, the real answer;
// `caller` is the place that asks. Null: `definition` stays the answer. dlsym.cpp calls it for
// names of MPI; shims and the library in front of them have one each.
void* function_in_place_of(void* definition, void* handle, const char* symbol, const void* caller);

// Whether the program has `symbol` from this library only, so that it is to find none.
bool is_only_here(const char* symbol, const void* caller);

// The namespace of the preloaded files, and of all that dlopen() opens.
bool is_in_base_namespace(void* handle);

}  // namespace hierbar::mpi
