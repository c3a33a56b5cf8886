// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Communicators that the library does not free: it leaves them as they were, and so must the shim.
// Arguments: a case.
//
//   world      MPI_COMM_WORLD, by all ranks
//   one_rank   MPI_COMM_WORLD, by rank 0 alone while the others go on to the next barrier
//   callback   a delete callback that fails in all ranks, on an attribute that is older than the
//              shim's or newer
//   callback_in_one_rank   the same in rank 0 alone; the other ranks' communicator is gone
#include <cstring>

#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

constexpr int kRefusal = MPI_ERR_OTHER, kBarriers = 5;

// Open MPI 4 disconnects whatever the callback says.
#ifdef OPEN_MPI
constexpr auto kOtherFree = MPI_Comm_free;
#else
constexpr auto kOtherFree = MPI_Comm_disconnect;
#endif

int delete_if_allowed(MPI_Comm, int, void* may_go, void*) { return *static_cast<bool*>(may_go) ? MPI_SUCCESS : kRefusal; }

int class_of(int status) {
  int error_class;
  MPI_Error_class(status, &error_class);
  return error_class;
}

void cross(MPI_Comm comm) {
  Board board(comm);
  for (int i = 0; i < kBarriers; ++i) board.check_barrier();
}

void refuse_world() {
  MPI_Comm world = MPI_COMM_WORLD;
  CHECK(class_of(MPI_Comm_free(&world)) == MPI_ERR_COMM && world == MPI_COMM_WORLD);
}

void refuse_world_everywhere() {
  cross(MPI_COMM_WORLD);
  refuse_world();
  cross(MPI_COMM_WORLD);
}

void refuse_world_in_one_rank() {
  cross(MPI_COMM_WORLD);
  for (int i = 0; i < kBarriers; ++i) {
    if (rank_in(MPI_COMM_WORLD) == 0) refuse_world();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  cross(MPI_COMM_WORLD);
}

// `is_older`: than the shim's attribute, which comes with the first barrier. `part` beside a
// communicator of the same ranks, so that both have the leaders of their nodes in common.
void refuse_by_callback(bool is_older, bool refuses, int (*free)(MPI_Comm*)) {
  MPI_Comm part, beside;
  bool may_go = !refuses;
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_if_allowed, &key, nullptr);
  MPI_Comm_dup(MPI_COMM_WORLD, &part);
  MPI_Comm_dup(MPI_COMM_WORLD, &beside);
  if (is_older) MPI_Comm_set_attr(part, key, &may_go);
  cross(part);
  cross(beside);
  if (!is_older) MPI_Comm_set_attr(part, key, &may_go);
  const int status = free(&part);
  CHECK(class_of(status) == (refuses ? kRefusal : MPI_SUCCESS));
  CHECK((part == MPI_COMM_NULL) == !refuses);
  cross(beside);
  MPI_Comm_free(&beside);
  int refused = refuses ? 1 : 0, refused_everywhere;
  MPI_Allreduce(&refused, &refused_everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (refused_everywhere == 1) cross(part);
  may_go = true;
  if (refuses) CHECK(free(&part) == MPI_SUCCESS && part == MPI_COMM_NULL);
  MPI_Comm_free_keyval(&key);
}

void run(const char* name) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const bool in_one_rank = std::strcmp(name, "callback_in_one_rank") == 0;
  if (std::strcmp(name, "world") == 0) {
    refuse_world_everywhere();
  } else if (std::strcmp(name, "one_rank") == 0) {
    refuse_world_in_one_rank();
  } else {
    CHECK(in_one_rank || std::strcmp(name, "callback") == 0);
    const bool refuses = !in_one_rank || rank_in(MPI_COMM_WORLD) == 0;
    refuse_by_callback(false, refuses, MPI_Comm_free);
    refuse_by_callback(true, refuses, kOtherFree);
    refuse_by_callback(rank_in(MPI_COMM_WORLD) % 2 == 0, refuses, MPI_Comm_free);  // in some ranks older, in others newer
  }
  cross(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  hierbar::test::run(argv[1]);
  MPI_Finalize();
}
