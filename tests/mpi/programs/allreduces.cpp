// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allreduces with HIERBAR_MPI=collectives, whose results are compared with integers that are known.
//
//   allreduces one NUMBER      NUMBER allreduces of MPI_COMM_WORLD, of one element
//   allreduces opened NUMBER   the same by the function that dlsym() finds in the library's file
//   allreduces barrier NUMBER  the same after a barrier
//   allreduces oracle NUMBER   NUMBER rounds of allreduces, barriers, and the library's collectives
//                              and messages in an order by chance, on MPI_COMM_WORLD, a duplicate,
//                              a reversed one and halves; some ranks come late, and the buffer of
//                              some is MPI_IN_PLACE
//   allreduces limits          counts below, at and above the limit, and what is not served
//   allreduces set_up          an allreduce sets a communicator up: the eighth call on it
//   allreduces freed NUMBER    so many communicators, each with some allreduces and freed at once
//   allreduces many NUMBER     so many that are alive together
//   allreduces threads NUMBER  two threads, each with a communicator of its own
//   allreduces late            rank 2 comes 3 s late to an allreduce
//   allreduces late_first      the same to the first one
//   allreduces wrong           arguments that are errors: the library raises them
//   allreduces inter           an intercommunicator, and one rank
//   allreduces shared          what fortran_allreduce.F90 does, in one job with it
//   allreduces progress        the rank that waits in an allreduce receives a message

#include <string>
#include <vector>

#include "known_integers.hpp"

namespace {

using namespace hierbar::test;

decltype(&MPI_Allreduce) allreduce = &MPI_Allreduce;

// One allreduce. Behind its buffers are elements that nobody may touch.
template <class Element>
void check_allreduce(MPI_Comm comm, std::uint64_t round, int count, MPI_Op op, bool in_place,
                     MPI_Op compared = MPI_OP_NULL) {
  constexpr Element kUntouched = 77;
  const int rank = rank_in(comm), num_ranks = size_of(comm);
  std::vector<Element> in(static_cast<std::size_t>(count) + 1), out(in.size(), kUntouched);
  for (int i = 0; i < count; ++i)
    in[static_cast<std::size_t>(i)] = static_cast<Element>(brought(round, rank, i));
  in.back() = kUntouched;
  if (in_place) out = in;
  const void* const from = in_place ? MPI_IN_PLACE : static_cast<const void*>(in.data());
  CHECK(allreduce(from, out.data(), count, type_of<Element>(), op, comm) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) {
    const auto wanted = static_cast<Element>(
        expected(compared == MPI_OP_NULL ? op : compared, round, num_ranks, i));
    CHECK(out[static_cast<std::size_t>(i)] == wanted);
  }
  CHECK(out.back() == kUntouched && in.back() == kUntouched);
}

void broadcast(MPI_Comm comm, std::uint64_t round) {
  const int root = root_of(round, comm);
  long long value = rank_in(comm) == root ? brought(round, root, 1) : 0;
  MPI_Bcast(&value, 1, MPI_LONG_LONG, root, comm);
  CHECK(value == brought(round, root, 1));
}

// One call by chance, the same in all ranks of the communicator.
void one_call(DrawnComms::Place& places, std::uint64_t round, MPI_Op user_op) {
  const MPI_Comm comm = places.comm;
  const MPI_Op op = std::vector{MPI_SUM, MPI_MIN, MPI_MAX}[places.alike.below(3)];
  const bool in_place = places.own.one_in(3);
  if (places.own.one_in(40)) usleep(places.own.below(300));
  switch (places.alike.below(9)) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      ring(comm, round);
      break;
    case 2:
      broadcast(comm, round);
      break;
    case 3:  // operations of users are the library's
      check_allreduce<long>(comm, round, static_cast<int>(places.alike.below(9)) + 1, user_op,
                            in_place, MPI_SUM);
      break;
    case 4:
      check_allreduce<int>(comm, round, static_cast<int>(places.alike.below(1200)) + 1, op,
                           in_place);
      break;
    case 5:
      check_allreduce<double>(comm, round, static_cast<int>(places.alike.below(700)) + 1, op,
                              in_place);
      break;
    default:
      check_allreduce<long>(comm, round, static_cast<int>(places.alike.below(16)) + 1, op,
                            in_place);
  }
}

void one(int num_rounds) {
  for (int round = 0; round < num_rounds; ++round)
    check_allreduce<double>(MPI_COMM_WORLD, static_cast<std::uint64_t>(round), 1, MPI_SUM,
                            round % 3 == 0);
}

// Served are 3 of double and 4 of int, and one with a count of 64 bits.
void limits() {
  const int in_doubles = 4096 / static_cast<int>(sizeof(double));
  const int in_ints = 4096 / static_cast<int>(sizeof(int));
  for (const int count : {0, 1, in_doubles - 1, in_doubles, in_doubles + 1, 4 * in_doubles})
    check_allreduce<double>(MPI_COMM_WORLD, 1, count, MPI_SUM, false);
  for (const int count : {1, in_ints, in_ints + 1}) {
    for (const bool in_place : {false, true})
      check_allreduce<int>(MPI_COMM_WORLD, 2, count, MPI_MAX, in_place);
  }
  // A type of the program's, and one that has two names.
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_LONG, &two);
  MPI_Type_commit(&two);
  MPI_Op op;
  const auto sum_pairs = [](void* in, void* out, int* count, MPI_Datatype*) {
    for (int i = 0; i < 2 * *count; ++i) static_cast<long*>(out)[i] += static_cast<long*>(in)[i];
  };
  MPI_Op_create(sum_pairs, 1, &op);
  const long pair[2] = {1, rank_in(MPI_COMM_WORLD)};
  long sums[2] = {};
  MPI_Allreduce(pair, sums, 1, two, op, MPI_COMM_WORLD);
  const long num_ranks = size_of(MPI_COMM_WORLD);
  CHECK(sums[0] == num_ranks && sums[1] == num_ranks * (num_ranks - 1) / 2);
  MPI_Op_free(&op);
  MPI_Type_free(&two);
#if MPI_VERSION >= 4
  for (const MPI_Count count : {MPI_Count{1}, MPI_Count{600}}) {
    std::vector<double> ones(static_cast<std::size_t>(count), 1.0), sum(ones.size());
    MPI_Allreduce_c(ones.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (const double element : sum) CHECK(element == static_cast<double>(num_ranks));
  }
#endif
}

void set_up() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int call = 1; call <= 20; ++call) {
    if (call % 3 == 0) MPI_Barrier(comm);
    check_allreduce<long>(comm, static_cast<std::uint64_t>(call), 3, MPI_SUM, false);
    // Not counted: all ranks know that the engine never serves it.
    check_allreduce<float>(comm, static_cast<std::uint64_t>(call), 2000, MPI_SUM, false);
  }
  MPI_Comm_free(&comm);
}

void freed(int number) {
  for (int i = 0; i < number; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const auto round = static_cast<std::uint64_t>(i);
    for (int call = 0; call < 3; ++call)
      check_allreduce<double>(comm, round, 512, MPI_SUM, call == 1);
    MPI_Comm_free(&comm);  // rank 0 may still copy what the others have brought
  }
}

void many(int number) {
  const Duplicates duplicates(number);
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (const MPI_Comm comm : duplicates.comms())
      check_allreduce<int>(comm, round, 5, MPI_MIN, false);
  }
}

void threads(int num_rounds) {
  use_in_threads(num_rounds, [](MPI_Comm comm, int round, std::uint64_t seed) {
    check_allreduce<double>(comm, seed, 1 + round % 600, MPI_SUM, false);
    if (round % 5 == 0) MPI_Barrier(comm);
    check_allreduce<int>(comm, seed + 1, 1 + round % 7, MPI_MAX, (round & 1) != 0);
  });
}

void late(bool is_first) {
  if (!is_first) one(3);
  if (rank_in(MPI_COMM_WORLD) == 2) sleep(3);
  one(2);
}

int fails(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return class_of(MPI_Allreduce(in, out, count, type, op, comm));
}

void wrong() {
  one(2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int in[4] = {1, 2, 3, 4}, out[4];
  CHECK(fails(in, in, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
  CHECK(fails(in, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
  CHECK(fails(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(fails(in, out, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(fails(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL) == MPI_ERR_COMM);
  one(2);
}

void inter() {
  {
    const EvenAndOdd groups;
    const int own = groups.is_even() ? 1 : 10;
    int sum = 0;
    for (int call = 0; call < 2; ++call)
      MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, groups.between());
    CHECK(sum == groups.num_others() * (groups.is_even() ? 10 : 1));
  }
  check_allreduce<int>(MPI_COMM_SELF, 1, 3, MPI_SUM, false);
}

void shared() {
  const int rank = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
  int in[3] = {}, out[3] = {};
  const auto reduce = [&] {
    MPI_Allreduce(in, out, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(out[0] == in[0] && out[1] == num_ranks - 1 && out[2] == 0);
  };
  for (int round = 1; round <= 50; ++round) {
    in[0] = round;
    in[1] = rank;
    in[2] = -rank;
    reduce();
    const double half = 0.5 * round;
    double sum = 0;
    MPI_Allreduce(&half, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == half * num_ranks);
  }
  reduce();
}

void progress() {
  one(1);
  receive_meanwhile([] { one(1); });
}

void run_case(const std::string& what, int number) {
  if (what == "opened") find_opened("MPI_Allreduce", allreduce);
  if (what == "barrier") MPI_Barrier(MPI_COMM_WORLD);
  if (what == "one" || what == "opened" || what == "barrier") one(number);
  if (what == "oracle") oracle(number, one_call);
  if (what == "limits") limits();
  if (what == "set_up") set_up();
  if (what == "freed") freed(number);
  if (what == "many") many(number);
  if (what == "threads") threads(number);
  if (what == "late" || what == "late_first") late(what == "late_first");
  if (what == "wrong") wrong();
  if (what == "inter") inter();
  if (what == "shared") shared();
  if (what == "progress") progress();
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run_case); }
