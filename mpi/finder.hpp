// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::mpi {

// Finds what the program's MPI library exports. `somewhere` is an address in the program or library that called MPI, or in the
// MPI library: that may be known to nobody else, as when an interpreter loads it with an extension module. Where it is not known
// there either, as in the interpreter's exit handlers, one of which may be MPI_Finalize, the first loaded file that knows it
// counts.
class Finder {
 public:
  explicit Finder(const void* somewhere);

  // What the program itself sees comes first, then what the file around that address has or needs. Null: nobody has it.
  void* operator()(const char* symbol) const;

  // The same for what must be there; the last one that is not can be asked for.
  void* need(const char* symbol) const {
    void* const found = (*this)(symbol);
    if (found == nullptr) missing_ = symbol;
    return found;
  }
  const char* missing() const { return missing_; }

 private:
  void* file_ = nullptr;  // never closed: the library stays loaded as long as MPI is used
  mutable const char* missing_ = nullptr;
};

// The path of the file that `address` was loaded from; empty when nobody knows.
const char* file_of(const void* address);

}  // namespace hierbar::mpi
