// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::mpi {

// Finds what the program's MPI library exports. `caller` is an address in the program or library that called MPI: the MPI library
// may be known to nobody else, as when an interpreter loads it with an extension module.
class Finder {
 public:
  explicit Finder(const void* caller);

  // What the program itself sees comes first, then what the caller's own libraries have. Null: nobody has it.
  void* operator()(const char* symbol) const;

  // The same for what must be there; the last one that is not can be asked for.
  void* need(const char* symbol) const {
    void* const found = (*this)(symbol);
    if (found == nullptr) missing_ = symbol;
    return found;
  }
  const char* missing() const { return missing_; }

 private:
  void* caller_ = nullptr;  // never closed: the library stays loaded as long as MPI is used
  mutable const char* missing_ = nullptr;
};

// The path of the file that `address` was loaded from; empty when nobody knows.
const char* file_of(const void* address);

// What `symbol` would mean if this library had not been loaded: the next definition after it, a tool's or another shim's
// included; or, for a caller whose MPI library the program does not see, that library's `profiling_symbol`. Ends the process,
// with a message, when there is none.
void* find_next(const char* symbol, const char* profiling_symbol, const void* caller);

}  // namespace hierbar::mpi
