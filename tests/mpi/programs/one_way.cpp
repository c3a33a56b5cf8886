// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bcasts and reduces with HIERBAR_MPI=collectives, whose results are compared with integers that
// are known.
//
//   one_way one NUMBER      NUMBER bcasts and reduces of MPI_COMM_WORLD, of one element, with all
//                           ranks as roots in turn
//   one_way opened NUMBER   the same by the functions that dlsym() finds in the library's file
//   one_way barrier NUMBER  the same after a barrier
//   one_way oracle NUMBER   NUMBER rounds of bcasts, reduces, allreduces, barriers, and the
//                           library's collectives and messages in an order by chance, on several
//                           communicators; some ranks come late, the root's buffer may be
//                           MPI_IN_PLACE, and ranks describe the data of a bcast differently
//   one_way signatures      every way to describe the data in the root, with every way in the
//                           others
//   one_way limits          counts below, at and above the limit, and what is not served
//   one_way set_up          a bcast or a reduce sets a communicator up: the eighth call on it
//   one_way freed NUMBER    so many communicators, each with some calls and freed at once
//   one_way many NUMBER     so many that are alive together
//   one_way threads NUMBER  two threads, each with a communicator of its own
//   one_way late            the root of a bcast, rank 2, comes 3 s late
//   one_way late_first      the same to the first call
//   one_way late_reduce     rank 2 comes 3 s late to a reduce to rank 1
//   one_way no_room         rank 2 comes 3 s late to bcasts that rank 1 goes on to make
//   one_way wrong           arguments that are errors: the library raises them
//   one_way inter           an intercommunicator, and one rank
//   one_way shared          what fortran_one_way.F90 does, in one job with it
//   one_way progress        the rank that waits in a bcast receives a message

#include <cstddef>
#include <string>
#include <vector>

#include "../collectives/described_data.hpp"
#include "known_integers.hpp"

namespace {

using namespace hierbar::test;

decltype(&MPI_Bcast) bcast = &MPI_Bcast;
decltype(&MPI_Reduce) reduce = &MPI_Reduce;

void check_bcast(MPI_Comm comm, std::uint64_t round, int count, int root, Form form) {
  DescribedData data(form, count);
  const auto element = [&](int i) { return static_cast<int>(brought(round, root, i)); };
  if (rank_in(comm) == root) {
    for (int i = 0; i < count; ++i) data.at(i) = element(i);
  }
  CHECK(bcast(data.data(), data.num_elements(), data.type(), root, comm) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) CHECK(data.at(i) == element(i));
  CHECK(data.has_guards());
}

// Behind its buffers are elements that nobody may touch. Other ranks than the root pass null for
// the results.
template <class Element>
void check_reduce(MPI_Comm comm, std::uint64_t round, int count, MPI_Op op, int root, bool in_place,
                  MPI_Op compared = MPI_OP_NULL) {
  constexpr Element kUntouched = 77;
  const int rank = rank_in(comm), num_ranks = size_of(comm);
  std::vector<Element> in(static_cast<std::size_t>(count) + 1), out(in.size(), kUntouched);
  for (int i = 0; i < count; ++i)
    in[static_cast<std::size_t>(i)] = static_cast<Element>(brought(round, rank, i));
  in.back() = kUntouched;
  const std::vector<Element> before = in;
  // MPICH 4.0.2 reads from MPI_IN_PLACE in its long reductions to another rank than 0.
  const bool is_served = static_cast<std::size_t>(count) * sizeof(Element) <= 4096;
  in_place = in_place && rank == root && (is_served || root == 0);
  if (in_place) out = in;
  const void* const from = in_place ? MPI_IN_PLACE : static_cast<const void*>(in.data());
  void* const to = rank == root ? out.data() : nullptr;
  CHECK(reduce(from, to, count, type_of<Element>(), op, root, comm) == MPI_SUCCESS);
  CHECK(in == before && out.back() == kUntouched);
  if (rank != root) return;
  for (int i = 0; i < count; ++i) {
    CHECK(out[static_cast<std::size_t>(i)] ==
          static_cast<Element>(
              expected(compared == MPI_OP_NULL ? op : compared, round, num_ranks, i)));
  }
}

void gather(MPI_Comm comm, std::uint64_t round) {
  const long long mine = brought(round, rank_in(comm), 2);
  std::vector<long long> all(static_cast<std::size_t>(size_of(comm)));
  MPI_Allgather(&mine, 1, MPI_LONG_LONG, all.data(), 1, MPI_LONG_LONG, comm);
  for (int rank = 0; rank < size_of(comm); ++rank)
    CHECK(all[static_cast<std::size_t>(rank)] == brought(round, rank, 2));
}

void allreduce(MPI_Comm comm, std::uint64_t round) {
  const long long mine = brought(round, rank_in(comm), 0);
  long long sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, comm);
  CHECK(sum == expected(MPI_SUM, round, size_of(comm), 0));
}

// One call by chance, the same in all ranks of the communicator.
void one_call(DrawnComms::Place& place, std::uint64_t round, MPI_Op user_op) {
  const MPI_Comm comm = place.comm;
  const MPI_Op op = std::vector{MPI_SUM, MPI_MIN, MPI_MAX}[place.alike.below(3)];
  const int root = static_cast<int>(place.alike.below(static_cast<std::uint32_t>(size_of(comm))));
  const int few = static_cast<int>(place.alike.below(16)) + 1;
  const int many = static_cast<int>(place.alike.below(1200)) + 1;
  const auto form = static_cast<Form>(place.own.one_in(2) ? 0 : place.own.below(kNumForms));
  const bool in_place = place.own.one_in(3);
  if (place.own.one_in(40)) usleep(place.own.below(300));
  switch (place.alike.below(13)) {
    case 0:
      return void(MPI_Barrier(comm));
    case 1:
      return ring(comm, round);
    case 2:
      return allreduce(comm, round);
    case 3:
      return gather(comm, round);
    case 4:  // operations of users are the library's
      return check_reduce<long>(comm, round, few, user_op, root, in_place, MPI_SUM);
    case 5:
      return check_reduce<int>(comm, round, many, op, root, in_place);
    case 6:
      return check_reduce<double>(comm, round, many / 2 + 1, op, root, in_place);
    case 7:
    case 8:
      return check_reduce<long>(comm, round, few, op, root, in_place);
    case 9:
      return check_bcast(comm, round, many, root, form);
    default:
      return check_bcast(comm, round, few, root, form);
  }
}

void one_on(MPI_Comm comm, int num_rounds) {
  for (int i = 0; i < num_rounds; ++i) {
    const auto round = static_cast<std::uint64_t>(i);
    check_bcast(comm, round, 1, root_of(round, comm), Form::kPlain);
    check_reduce<double>(comm, round, 1, MPI_SUM, root_of(round, comm), i % 3 == 0);
  }
}
void one(int num_rounds) { one_on(MPI_COMM_WORLD, num_rounds); }

// A pair with a gap in C, and a struct of its two types.
void bcast_pair() {
  struct Pair {
    double value;
    int index;
  };
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {offsetof(Pair, value), offsetof(Pair, index)};
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Type_commit(&type);
  const int rank = rank_in(MPI_COMM_WORLD);
  for (int root = 0; root < size_of(MPI_COMM_WORLD); ++root) {
    Pair pair = rank == root ? Pair{0.5 + root, 3 + root} : Pair{-1, -1};
    bcast(&pair, 1, (rank + root) % 3 == 0 ? type : MPI_DOUBLE_INT, root, MPI_COMM_WORLD);
    CHECK(pair.value == 0.5 + root && pair.index == 3 + root);
  }
  MPI_Type_free(&type);
}

// 6 * 6 * 2 bcasts in two ranks, and one for each rank.
void signatures() {
  const int rank = rank_in(MPI_COMM_WORLD);
  std::uint64_t round = 0;
  for (std::uint32_t of_root = 0; of_root < kNumForms; ++of_root) {
    for (std::uint32_t of_others = 0; of_others < kNumForms; ++of_others) {
      for (const int count : {4, 1024}) {
        const int root = root_of(round, MPI_COMM_WORLD);
        check_bcast(MPI_COMM_WORLD, round++, count, root,
                    static_cast<Form>(rank == root ? of_root : of_others));
      }
    }
  }
  bcast_pair();
}

// Served are, of both: 2 of int in each of two ways; and of reduce 3 of double.
void limits() {
  const int in_ints = 4096 / static_cast<int>(sizeof(int));
  const int in_doubles = 4096 / static_cast<int>(sizeof(double));
  const int rank = rank_in(MPI_COMM_WORLD);
  for (const int count : {1, in_ints, in_ints + 1, 40 * in_ints}) {
    for (const int root : {0, 1}) {
      check_bcast(MPI_COMM_WORLD, 1, count, root, rank == 1 ? Form::kGaps : Form::kPlain);
      check_reduce<int>(MPI_COMM_WORLD, 2, count, MPI_MAX, root, root == 0);
    }
  }
  for (const int count : {0, 1, in_doubles - 1, in_doubles, in_doubles + 1})
    check_reduce<double>(MPI_COMM_WORLD, 1, count, MPI_SUM, 0, false);
  bcast(nullptr, 0, MPI_INT, 0, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
  const int num_ranks = size_of(MPI_COMM_WORLD);
  for (const MPI_Count count : {MPI_Count{1}, MPI_Count{600}}) {
    std::vector<double> ones(static_cast<std::size_t>(count), 1.0), sum(ones.size());
    MPI_Reduce_c(ones.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    // Some ranks may call the one function and others the other one.
    if (rank == 0) {
      MPI_Bcast(sum.data(), static_cast<int>(count), MPI_DOUBLE, 1, MPI_COMM_WORLD);
    } else {
      MPI_Bcast_c(sum.data(), count, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    }
    for (const double element : sum) CHECK(element == static_cast<double>(num_ranks));
  }
#endif
}

void set_up() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int call = 1; call <= 20; ++call) {
    const auto round = static_cast<std::uint64_t>(call);
    if (call % 3 == 0) MPI_Barrier(comm);
    // Nor is the second one counted, which all ranks know that the engine never serves.
    check_bcast(comm, round, 3, 1, Form::kPlain);
    check_bcast(comm, round, 2000, 1, Form::kPlain);
    check_reduce<long>(comm, round, 3, MPI_SUM, 1, false);
  }
  MPI_Comm_free(&comm);
}

// The root may be gone while others still read.
void freed(int number) {
  for (int i = 0; i < number; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const auto round = static_cast<std::uint64_t>(i);
    for (int call = 0; call < 3; ++call) {
      check_reduce<double>(comm, round, 512, MPI_SUM, 0, call == 1);
      check_bcast(comm, round, 1024, 0, Form::kPlain);
    }
    MPI_Comm_free(&comm);
  }
}

void many(int number) {
  const Duplicates duplicates(number);
  for (int round = 0; round < 3; ++round) {
    for (const MPI_Comm comm : duplicates.comms()) one_on(comm, 1);
  }
}

void threads(int num_rounds) {
  use_in_threads(num_rounds, [](MPI_Comm comm, int round, std::uint64_t seed) {
    check_reduce<double>(comm, seed, 1 + round % 512, MPI_SUM, root_of(seed, comm), false);
    if (round % 5 == 0) MPI_Barrier(comm);
    check_bcast(comm, seed, 1 + round % 7, root_of(seed / 2, comm), Form::kPlain);
  });
}

void late(bool is_first) {
  if (!is_first) one(3);
  if (rank_in(MPI_COMM_WORLD) == 2) sleep(3);
  check_bcast(MPI_COMM_WORLD, 1, 5, 2, Form::kPlain);
  one(2);
}

void late_reduce() {
  one(3);
  if (rank_in(MPI_COMM_WORLD) == 2) sleep(3);
  check_reduce<int>(MPI_COMM_WORLD, 1, 5, MPI_SUM, 1, false);
}

void no_room() {
  one(3);
  if (rank_in(MPI_COMM_WORLD) == 2) sleep(3);
  for (std::uint64_t round = 0; round < 100; ++round)
    check_bcast(MPI_COMM_WORLD, round, 5, 1, Form::kPlain);
}

// Both ranks bring or expect other numbers of elements. The root does not know of it.
void check_lengths(int of_root, int of_other, Form form, int error) {
  const bool is_root = rank_in(MPI_COMM_WORLD) == 0;
  DescribedData data(form, is_root ? of_root : of_other);
  for (int i = 0; i < (is_root ? of_root : of_other); ++i) data.at(i) = is_root ? i : -1;
  const int status = MPI_Bcast(data.data(), data.num_elements(), data.type(), 0, MPI_COMM_WORLD);
  CHECK(class_of(status) == (is_root ? MPI_SUCCESS : error));
  CHECK(data.has_guards());
}

// All ranks make the same errors, but for the last ones.
void wrong() {
  one(2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int num_ranks = size_of(MPI_COMM_WORLD);
  int in[4] = {1, 2, 3, 4}, out[4];
  const auto bcast_fails = [&](void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    return class_of(MPI_Bcast(data, count, type, root, comm));
  };
  const auto reduce_fails = [&](const void* from, void* to, MPI_Op op, int root, MPI_Comm comm) {
    return class_of(MPI_Reduce(from, to, 4, MPI_INT, op, root, comm));
  };
  CHECK(bcast_fails(in, 4, MPI_INT, num_ranks, MPI_COMM_WORLD) == MPI_ERR_ROOT);
  CHECK(bcast_fails(in, 4, MPI_INT, -7, MPI_COMM_WORLD) == MPI_ERR_ROOT);
  CHECK(bcast_fails(in, -1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT);
  CHECK(bcast_fails(in, 4, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) == MPI_ERR_TYPE);
  CHECK(bcast_fails(in, 4, MPI_INT, 0, MPI_COMM_NULL) == MPI_ERR_COMM);
  CHECK(reduce_fails(in, out, MPI_SUM, num_ranks, MPI_COMM_WORLD) == MPI_ERR_ROOT);
  CHECK(reduce_fails(in, out, MPI_OP_NULL, 0, MPI_COMM_WORLD) == MPI_ERR_OP);
  CHECK(reduce_fails(in, out, MPI_SUM, 0, MPI_COMM_NULL) == MPI_ERR_COMM);
#ifdef OPEN_MPI  // it takes fewer elements
  constexpr int kFewerPlain = MPI_SUCCESS;
#else
  constexpr int kFewerPlain = MPI_ERR_OTHER;
#endif
  check_lengths(9, 4, Form::kPlain, MPI_ERR_TRUNCATE);
  check_lengths(9, 4, Form::kGaps, MPI_ERR_TRUNCATE);
  check_lengths(4, 9, Form::kPlain, kFewerPlain);
  check_lengths(4, 9, Form::kGaps, MPI_ERR_OTHER);
  one(2);
}

void inter() {
  {
    const EvenAndOdd groups;
    const int root = groups.root();
    for (int call = 0; call < 2; ++call) {
      int value = root == MPI_ROOT ? 5 : 0;
      MPI_Bcast(&value, 1, MPI_INT, root, groups.between());
      CHECK(value == (root == MPI_PROC_NULL ? 0 : 5));
      const int own = 1;
      int sum = 0;
      MPI_Reduce(&own, &sum, 1, MPI_INT, MPI_SUM, root, groups.between());
      CHECK(sum == (root == MPI_ROOT ? size_of(MPI_COMM_WORLD) / 2 : 0));
    }
  }
  one_on(MPI_COMM_SELF, 2);
}

void shared() {
  const int rank = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
  for (int round = 1; round <= 50; ++round) {
    const int root = round % num_ranks;
    int data[3] = {rank == root ? round : -1, rank == root ? root : -1, -1};
    MPI_Bcast(data, 2, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(data[0] == round && data[1] == root && data[2] == -1);
    double half = 0.5 * round, sum = -1;
    MPI_Reduce(&half, &sum, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    CHECK(sum == (rank == root ? half * num_ranks : -1));
    // The root's buffer is MPI_IN_PLACE.
    MPI_Reduce(rank == root ? MPI_IN_PLACE : &half, &half, 1, MPI_DOUBLE, MPI_MAX, root,
               MPI_COMM_WORLD);
    CHECK(half == 0.5 * round);
  }
}

void progress() {
  one(1);
  receive_meanwhile([] { check_bcast(MPI_COMM_WORLD, 1, 1, 1, Form::kPlain); });
}

void run_case(const std::string& what, int number) {
  if (what == "opened") {
    find_opened("MPI_Bcast", bcast);
    find_opened("MPI_Reduce", reduce);
  }
  if (what == "barrier") MPI_Barrier(MPI_COMM_WORLD);
  if (what == "one" || what == "opened" || what == "barrier") one(number);
  if (what == "oracle") oracle(number, one_call);
  if (what == "signatures") signatures();
  if (what == "limits") limits();
  if (what == "set_up") set_up();
  if (what == "freed") freed(number);
  if (what == "many") many(number);
  if (what == "threads") threads(number);
  if (what == "late" || what == "late_first") late(what == "late_first");
  if (what == "late_reduce") late_reduce();
  if (what == "no_room") no_room();
  if (what == "wrong") wrong();
  if (what == "inter") inter();
  if (what == "shared") shared();
  if (what == "progress") progress();
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run_case); }
