// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stub_mpi.hpp"

namespace hierbar::test {

// Handles of objects that have nothing in them. They are counted while they are open.
inline constexpr int kErrhandler = 0x2001, kGroup = 0x2002, kRequest = 0x2003, kSession = 0x2004;

inline StubProcess& here() { return StubProcess::current(); }

inline int open(int kind, int* handle) {
  ++here().num_open;
  *handle = kind;
  return MPI_SUCCESS;
}

inline int close(int null, int* handle) {
  --here().num_open;
  *handle = null;
  return MPI_SUCCESS;
}

}  // namespace hierbar::test
