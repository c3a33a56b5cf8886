// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::mpi {

// What this process's calls of MPI go to. It is found once, at the first of them.
struct Shim {
  // In the program's MPI library; null: it has none that a shim could serve.
  const void* library = nullptr;
  // The shim of the library's family, as dlopen() returns it. Null: none serves, or the program has
  // it without us, so calls go on as if this library were not there.
  void* handle = nullptr;
  // The shim's function_in_place_of(), for our dlsym().
  void* (*in_place_of)(void* definition, void* handle, const char* symbol,
                       const void* caller) = nullptr;
};

// `caller` is an address in the program or library that calls MPI, or in the MPI library. Takes no
// lock: the caller may hold the loader's.
const Shim& find_shim(const void* caller);

// Where a call goes without this library: the next definition behind it, or that of the caller's
// file or of one it needs, which may be a plug-in that nobody else sees. Null: nowhere.
void* definition_without_us(const char* name, const void* caller);

}  // namespace hierbar::mpi
