// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>

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

// What a rank gives to a collective call, and what is in it.
inline StubComm::Part part_of(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  return {{begin, begin + bytes}, nullptr};
}
template <class T>
T value_in(const StubComm::Part& part, std::size_t index = 0) {
  T value;
  std::memcpy(&value, part.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// MPI_Comm_free of a duplicate of a communicator of threads: by all threads of the process.
int free_duplicate(MPI_Comm* comm);

}  // namespace hierbar::test

// Debian's mpi.h is older than these.
extern "C" {
int PMPIX_Threadcomm_init(MPI_Comm comm, int num_threads, MPI_Comm* made);
int PMPIX_Threadcomm_start(MPI_Comm comm);
int PMPIX_Threadcomm_finish(MPI_Comm comm);
int PMPIX_Threadcomm_free(MPI_Comm* comm);
int PMPIX_Comm_test_threadcomm(MPI_Comm comm, int* flag);
}
