// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers in a program that uses sessions and never calls MPI_Init: two sessions, of which one
// ends before the other.

#include "mpi_test.hpp"

namespace {

struct Session {
  explicit Session(const char* tag) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
  }
  void use() const {
    for (int round = 0; round < 100; ++round) MPI_Barrier(comm);
  }
  void end() {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }

  MPI_Session session;
  MPI_Comm comm;
};

}  // namespace

int main() {
  Session first("first");
  first.use();
  Session second("second");
  second.use();
  first.use();
  second.end();
  first.use();
  first.end();
}
