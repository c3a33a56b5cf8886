// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers that fail in rank 0 alone, whose error handler does not simply come back. All ranks' other
// barriers are as always. Arguments: a case.
//
//   jump     The handler leaves MPI by a jump.
//   throw    It throws an exception.
//   barrier  It has a barrier with the other ranks, on another communicator.
//   once     It comes back, and has been called once; also where the communicator was freed.

#include <csetjmp>
#include <cstring>

#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

const char* what;
int num_calls = 0;
std::jmp_buf out;
MPI_Comm other;

void handle(MPI_Comm*, int*, ...) {
  ++num_calls;
  if (std::strcmp(what, "jump") == 0) std::longjmp(out, 1);
  if (std::strcmp(what, "throw") == 0) throw 1;
  if (std::strcmp(what, "barrier") == 0) MPI_Barrier(other);
}

// A barrier on what is no communicator.
void fail(MPI_Comm no_comm) {
  num_calls = 0;
  if (std::strcmp(what, "throw") == 0) {
    try {
      MPI_Barrier(no_comm);
    } catch (int) {
    }
  } else if (setjmp(out) == 0) {
    MPI_Barrier(no_comm);
  }
  CHECK(num_calls == 1);
}

void set_handler(MPI_Errhandler handler) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
}

void run() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  Board board(MPI_COMM_WORLD);
  MPI_Comm freed;
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  [[maybe_unused]] const MPI_Comm former = freed;
  MPI_Barrier(freed);
  MPI_Comm_free(&freed);
  for (int round = 0; round < 3; ++round) {
    board.check_barrier();
    if (rank_in(MPI_COMM_WORLD) == 0) {
      set_handler(handler);
      fail(MPI_COMM_NULL);
#ifndef OPEN_MPI  // it may read the memory of a communicator that is freed
      if (std::strcmp(what, "barrier") != 0) fail(former);
#endif
      set_handler(MPI_ERRORS_ARE_FATAL);
    } else if (std::strcmp(what, "barrier") == 0) {
      MPI_Barrier(other);
    }
    board.check_barrier();
  }
  MPI_Comm_free(&other);
  MPI_Errhandler_free(&handler);
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  hierbar::test::what = argv[1];
  hierbar::test::run();
  MPI_Finalize();
}
