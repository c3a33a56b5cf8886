// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Reduce_scatter_block with HIERBAR_MPI=collectives, whose results are compared with integers
// that are known.
//
//   reduce_scatters one NUMBER      NUMBER of them on MPI_COMM_WORLD, of one element for each rank
//   reduce_scatters opened NUMBER   the same by the function that dlsym() finds in the library's
//                                   file
//   reduce_scatters barrier NUMBER  the same after a barrier
//   reduce_scatters oracle NUMBER   NUMBER rounds of these, allreduces, barriers and messages in an
//                                   order by chance, on several communicators; some ranks come
//                                   late, some calls are in place, and some have an operation of
//                                   the program's
//   reduce_scatters limits          counts below, at and above the limit, and what is not served
//   reduce_scatters pairs           pairs with gaps
//   reduce_scatters set_up          one of them sets a communicator up: the eighth call on it
//   reduce_scatters freed NUMBER    so many communicators, each with some calls and freed at once
//   reduce_scatters threads NUMBER  two threads, each with a communicator of its own
//   reduce_scatters late            rank 2 comes 3 s late
//   reduce_scatters wrong           arguments that are errors: the library raises them
//   reduce_scatters one_buffer      one buffer as both, which Open MPI allows
//   reduce_scatters inter           an intercommunicator, and one rank
//   reduce_scatters shared          what fortran_reduce_scatters.F90 does, in one job with it
//   reduce_scatters progress        the rank that waits receives a message

#include <string>
#include <vector>

#include "../programs/known_integers.hpp"

namespace {

using namespace hierbar::test;

decltype(&MPI_Reduce_scatter_block) reduce_scatter = &MPI_Reduce_scatter_block;

// One call. In place, what is behind the own part of the result stays as it was, or is the
// library's to use; behind all of it nobody may touch anything.
template <class Element>
void check_reduce_scatter(MPI_Comm comm, std::uint64_t round, int count, MPI_Op op, bool in_place,
                          MPI_Op compared = MPI_OP_NULL) {
  constexpr Element kUntouched = 77;
  const int rank = rank_in(comm), num_ranks = size_of(comm);
  const auto size = static_cast<std::size_t>(count);
  std::vector<Element> in, out(size + 1, kUntouched);
  for (int i = 0; i < count * num_ranks; ++i)
    in.push_back(static_cast<Element>(brought(round, rank, i)));
  in.push_back(kUntouched);
  const std::vector<Element> before = in;
  std::vector<Element>& result = in_place ? in : out;
  const void* const from = in_place ? MPI_IN_PLACE : static_cast<const void*>(in.data());
  CHECK(reduce_scatter(from, result.data(), count, type_of<Element>(), op, comm) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) {
    const auto wanted = static_cast<Element>(
        expected(compared == MPI_OP_NULL ? op : compared, round, num_ranks, rank * count + i));
    CHECK(result[static_cast<std::size_t>(i)] == wanted);
  }
  CHECK(result.back() == kUntouched && (in_place || in == before));
}

void allreduce(MPI_Comm comm, std::uint64_t round) {
  long mine = static_cast<long>(brought(round, rank_in(comm), 0)), sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
  CHECK(sum == expected(MPI_SUM, round, size_of(comm), 0));
}

// One call by chance, the same in all ranks of the communicator.
void one_call(DrawnComms::Place& place, std::uint64_t round, MPI_Op user_op) {
  const MPI_Comm comm = place.comm;
  const MPI_Op op = std::vector{MPI_SUM, MPI_MIN, MPI_MAX}[place.alike.below(3)];
  const bool in_place = place.alike.one_in(3);
  const int few = static_cast<int>(place.alike.below(9)) + 1;
  // On both sides of the limit.
  const int many = static_cast<int>(place.alike.below(1200)) / size_of(comm) + 1;
  if (place.own.one_in(40)) usleep(place.own.below(300));
  switch (place.alike.below(9)) {
    case 0:
      return void(MPI_Barrier(comm));
    case 1:
      return ring(comm, round);
    case 2:
      return allreduce(comm, round);
    case 3:  // operations of users are the library's
      return check_reduce_scatter<long>(comm, round, few, user_op, in_place, MPI_SUM);
    case 4:
      return check_reduce_scatter<int>(comm, round, many, op, in_place);
    case 5:
      return check_reduce_scatter<double>(comm, round, many / 2 + 1, op, in_place);
    default:
      return check_reduce_scatter<long>(comm, round, few, op, in_place);
  }
}

void one_on(MPI_Comm comm, int num_rounds) {
  for (int round = 0; round < num_rounds; ++round)
    check_reduce_scatter<double>(comm, static_cast<std::uint64_t>(round), 1, MPI_SUM,
                                 round % 3 == 0);
}
void one(int num_rounds) { one_on(MPI_COMM_WORLD, num_rounds); }

// With two ranks 2 KiB for each are served: 4 of double, 4 of int, and one with a count of 64 bits.
void limits() {
  const int in_doubles = 2048 / static_cast<int>(sizeof(double));
  const int in_ints = 2048 / static_cast<int>(sizeof(int));
  for (const int count : {1, 2, in_doubles - 1, in_doubles, in_doubles + 1, 4 * in_doubles})
    check_reduce_scatter<double>(MPI_COMM_WORLD, 1, count, MPI_SUM, false);
  for (const int count : {1, in_ints, in_ints + 1}) {
    for (const bool in_place : {false, true})
      check_reduce_scatter<int>(MPI_COMM_WORLD, 2, count, MPI_MAX, in_place);
  }
  int nothing = 0, other = 0;
  MPI_Reduce_scatter_block(&nothing, &other, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
  const int num_ranks = size_of(MPI_COMM_WORLD);
  for (const int count : {1, 600}) {
    std::vector<double> ones(static_cast<std::size_t>(num_ranks * count), 1.0);
    std::vector<double> sum(static_cast<std::size_t>(count));
    // Some ranks may call the one function and others the other one.
    if (rank_in(MPI_COMM_WORLD) == 0) {
      MPI_Reduce_scatter_block(ones.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else {
      MPI_Reduce_scatter_block_c(ones.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM,
                                 MPI_COMM_WORLD);
    }
    for (const double element : sum) CHECK(element == num_ranks);
  }
#endif
}

// The last pair may end before its gap, of which nothing may be touched.
void pairs() {
  struct Pair {
    double value;
    int index;
  };
  const int rank = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
  for (int round = 0; round < 20; ++round) {
    for (const int count : {1, 3}) {
      std::vector<Pair> in(static_cast<std::size_t>(count * num_ranks));
      for (Pair& pair : in) {
        std::fill_n(reinterpret_cast<char*>(&pair), sizeof(pair), '\x5a');
        pair.value = (rank + round) % num_ranks;
        pair.index = rank;
      }
      std::vector<Pair> out = in;
      const void* const from = round % 2 == 0 ? MPI_IN_PLACE : static_cast<const void*>(in.data());
      MPI_Reduce_scatter_block(from, out.data(), count, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
      for (int i = 0; i < count; ++i) {
        const Pair& pair = out[static_cast<std::size_t>(i)];
        CHECK(pair.value == num_ranks - 1 && (pair.index + round) % num_ranks == num_ranks - 1);
        CHECK(reinterpret_cast<const char*>(&pair)[sizeof(double) + sizeof(int)] == '\x5a');
      }
    }
  }
}

void set_up() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int call = 1; call <= 20; ++call) {
    if (call % 3 == 0) MPI_Barrier(comm);
    check_reduce_scatter<long>(comm, static_cast<std::uint64_t>(call), 3, MPI_SUM, false);
    // Not counted: all ranks know that the engine never serves it.
    check_reduce_scatter<float>(comm, static_cast<std::uint64_t>(call), 1000, MPI_SUM, false);
  }
  MPI_Comm_free(&comm);
}

// Others may still read what a rank has brought.
void freed(int number) {
  for (int i = 0; i < number; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < 3; ++call)
      check_reduce_scatter<double>(comm, static_cast<std::uint64_t>(i), 512 / size_of(comm),
                                   MPI_SUM, call == 1);
    MPI_Comm_free(&comm);
  }
}

void threads(int num_rounds) {
  use_in_threads(num_rounds, [](MPI_Comm comm, int round, std::uint64_t seed) {
    check_reduce_scatter<double>(comm, seed, 1 + round % 256, MPI_SUM, false);
    if (round % 5 == 0) MPI_Barrier(comm);
    check_reduce_scatter<int>(comm, seed + 1, 1 + round % 7, MPI_MAX, (round & 1) != 0);
  });
}

void late() {
  one(3);
  if (rank_in(MPI_COMM_WORLD) == 2) sleep(3);
  one(2);
}

int fails(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return class_of(MPI_Reduce_scatter_block(in, out, count, type, op, comm));
}

void wrong() {
  one(2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int in[8] = {1, 2, 3, 4}, out[4];
  CHECK(fails(in, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS);
#ifdef OPEN_MPI  // MPICH 4.0.2 does not look at it here, and crashes
  CHECK(fails(in, out, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_ERR_COUNT);
#endif
  CHECK(fails(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(fails(in, out, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(fails(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL) == MPI_ERR_COMM);
  one(2);
}

// In the first calls, too, in which the communicator is set up.
void one_buffer() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int num_ranks = size_of(MPI_COMM_WORLD);
  for (int call = 0; call < 3; ++call) {
    std::vector<int> both(static_cast<std::size_t>(2 * num_ranks), 1);
    const int status =
        MPI_Reduce_scatter_block(both.data(), both.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#ifdef OPEN_MPI
    CHECK(status == MPI_SUCCESS && both[0] == num_ranks && both[1] == num_ranks);
#else
    CHECK(class_of(status) == MPI_ERR_BUFFER);
#endif
  }
  one(2);
}

// Between two groups each gets a part of what the other group has brought, all of equal length.
void inter() {
  {
    const EvenAndOdd groups;
    const std::vector<int> own(2, groups.is_even() ? 1 : 10);
    for (int call = 0; call < 2; ++call) {
      int sum = 0;
      MPI_Reduce_scatter_block(own.data(), &sum, 1, MPI_INT, MPI_SUM, groups.between());
      CHECK(sum == groups.num_others() * (groups.is_even() ? 10 : 1));
    }
  }
  one_on(MPI_COMM_SELF, 2);
}

void shared() {
  const int rank = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
  std::vector<int> in(static_cast<std::size_t>(2 * num_ranks));
  const auto check = [&](const int* out, int round) {
    CHECK(out[0] == num_ranks * round + rank && out[1] == num_ranks - 1);
  };
  for (int round = 1; round <= 50; ++round) {
    for (int to = 0; to < num_ranks; ++to) {
      in[static_cast<std::size_t>(2 * to)] = num_ranks * round + to;
      in[static_cast<std::size_t>(2 * to + 1)] = rank;
    }
    int out[2] = {};
    MPI_Reduce_scatter_block(in.data(), out, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD);
    check(out, round);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, in.data(), 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD);
    check(in.data(), round);
  }
}

void progress() {
  one(1);
  receive_meanwhile([] { one(1); });
}

void run_case(const std::string& what, int number) {
  if (what == "opened") find_opened("MPI_Reduce_scatter_block", reduce_scatter);
  if (what == "barrier") MPI_Barrier(MPI_COMM_WORLD);
  if (what == "one" || what == "opened" || what == "barrier") one(number);
  if (what == "oracle") oracle(number, one_call);
  if (what == "limits") limits();
  if (what == "pairs") pairs();
  if (what == "set_up") set_up();
  if (what == "freed") freed(number);
  if (what == "threads") threads(number);
  if (what == "late") late();
  if (what == "wrong") wrong();
  if (what == "one_buffer") one_buffer();
  if (what == "inter") inter();
  if (what == "shared") shared();
  if (what == "progress") progress();
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run_case); }
