// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that fail. Arguments: a case.
//
// 1. Communicators that the library does not free: it leaves them as they were, and so must the
//    shim.
//
//   world      MPI_COMM_WORLD, by all ranks
//   one_rank   MPI_COMM_WORLD, by rank 0 alone while the others go on to the next barrier
//   callback   a delete callback that fails in all ranks, on an attribute that is older than the
//              shim's or newer
//   callback_in_one_rank   the same in rank 0 alone; the other ranks' communicator is gone
//
// 2. Barriers that fail in rank 0 alone, whose error handler does not simply come back. All ranks'
//    other barriers are as always.
//
//   jump       the handler leaves MPI by a jump
//   throw      it throws an exception
//   barrier    it has a barrier with the other ranks, on another communicator
//   once       it comes back, and has been called once; also where the communicator was freed
#include <csetjmp>
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

int delete_if_allowed(MPI_Comm, int, void* may_go, void*) {
  return *static_cast<bool*>(may_go) ? MPI_SUCCESS : kRefusal;
}

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

// ---- error handlers ----

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

void fail_in_rank_0() {
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

void run(const char* name) {
  for (const char* one : {"jump", "throw", "barrier", "once"}) {
    if (std::strcmp(name, one) != 0) continue;
    what = name;
    return fail_in_rank_0();
  }
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
    refuse_by_callback(rank_in(MPI_COMM_WORLD) % 2 == 0, refuses,
                       MPI_Comm_free);  // in some ranks older, in others newer
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
