// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allgathers and alltoalls with HIERBAR_MPI=collectives, whose results are compared with integers
// that are known.
//
//   allgathers one NUMBER      NUMBER allgathers and alltoalls of MPI_COMM_WORLD, of one element
//   allgathers opened NUMBER   the same by the functions that dlsym() finds in the library's file
//   allgathers barrier NUMBER  the same after a barrier
//   allgathers oracle NUMBER   NUMBER rounds of these, bcasts, allreduces, barriers, messages and
//                              collectives of the library's in an order by chance, on several
//                              communicators; some ranks come late, some calls are in place, and
//                              ranks describe what they bring and get differently
//   allgathers signatures      every way to describe what is brought, with every way for what comes
//   allgathers limits          counts below, at and above the limit, and what is not served
//   allgathers set_up          one of them sets a communicator up: the eighth call on it
//   allgathers freed NUMBER    so many communicators, each with some calls and freed at once
//   allgathers many NUMBER     so many that are alive together
//   allgathers threads NUMBER  two threads, each with a communicator of its own
//   allgathers late            rank 2 comes 3 s late to an allgather
//   allgathers late_alltoall   the same to an alltoall
//   allgathers late_first      the same to the first call
//   allgathers wrong           arguments that are errors: the library raises them
//   allgathers own_part        what is brought is in its place already, without MPI_IN_PLACE
//   allgathers inter           an intercommunicator, and one rank
//   allgathers shared          what fortran_allgathers.F90 does, in one job with it
//   allgathers progress        the rank that waits in an allgather receives a message

#include <string>
#include <type_traits>
#include <vector>

#include "../programs/known_integers.hpp"
#include "described_data.hpp"

namespace {

using namespace hierbar::test;

using Function = decltype(&MPI_Allgather);
Function allgather = &MPI_Allgather;
Function alltoall = &MPI_Alltoall;
static_assert(std::is_same_v<Function, decltype(&MPI_Alltoall)>);

// How a rank describes its part.
struct Forms {
  Form in = Form::kPlain;
  Form out = Form::kPlain;
  bool in_place = false;  // in all ranks or in none
};

// Element i of what rank `from` brings for rank `to`; in an allgather for all.
int element(std::uint64_t round, int from, int to, int count, int i) {
  return static_cast<int>(brought(round, from, to * count + i));
}

void call(Function function, DescribedData& in, DescribedData& out, bool in_place, MPI_Comm comm) {
  // What describes the data that are in place means nothing.
  CHECK((in_place ? function(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out.data(), out.num_elements(),
                             out.type(), comm)
                  : function(in.data(), in.num_elements(), in.type(), out.data(),
                             out.num_elements(), out.type(), comm)) == MPI_SUCCESS);
}

void check_allgather(MPI_Comm comm, std::uint64_t round, int count, const Forms& forms = {}) {
  const int rank = rank_in(comm), num_ranks = size_of(comm);
  DescribedData in(forms.in, count), out(forms.out, count, num_ranks);
  for (int i = 0; i < count; ++i)
    (forms.in_place ? out.at(i, rank) : in.at(i)) = element(round, rank, 0, count, i);
  call(allgather, in, out, forms.in_place, comm);
  for (int from = 0; from < num_ranks; ++from) {
    for (int i = 0; i < count; ++i) CHECK(out.at(i, from) == element(round, from, 0, count, i));
  }
  CHECK(in.has_guards() && out.has_guards());
}

void check_alltoall(MPI_Comm comm, std::uint64_t round, int count, const Forms& forms = {}) {
  const int rank = rank_in(comm), num_ranks = size_of(comm);
  DescribedData in(forms.in, count, num_ranks), out(forms.out, count, num_ranks);
  for (int to = 0; to < num_ranks; ++to) {
    for (int i = 0; i < count; ++i)
      (forms.in_place ? out : in).at(i, to) = element(round, rank, to, count, i);
  }
  call(alltoall, in, out, forms.in_place, comm);
  for (int from = 0; from < num_ranks; ++from) {
    for (int i = 0; i < count; ++i) CHECK(out.at(i, from) == element(round, from, rank, count, i));
  }
  CHECK(in.has_guards() && out.has_guards());
}

void broadcast(MPI_Comm comm, std::uint64_t round) {
  const int root = root_of(round, comm);
  long long value = rank_in(comm) == root ? brought(round, root, 1) : 0;
  MPI_Bcast(&value, 1, MPI_LONG_LONG, root, comm);
  CHECK(value == brought(round, root, 1));
}

void allreduce(MPI_Comm comm, std::uint64_t round, int count) {
  std::vector<long long> in, sums(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) in.push_back(brought(round, rank_in(comm), i));
  MPI_Allreduce(in.data(), sums.data(), count, MPI_LONG_LONG, MPI_SUM, comm);
  for (int i = 0; i < count; ++i)
    CHECK(sums[static_cast<std::size_t>(i)] == expected(MPI_SUM, round, size_of(comm), i));
}

// The library's.
void allgatherv(MPI_Comm comm, std::uint64_t round) {
  const int rank = rank_in(comm), num_ranks = size_of(comm);
  const long long mine = brought(round, rank, 2);
  std::vector<long long> all(static_cast<std::size_t>(num_ranks));
  const std::vector<int> counts(all.size(), 1);
  std::vector<int> places;
  for (int i = 0; i < num_ranks; ++i) places.push_back(i);
  MPI_Allgatherv(&mine, 1, MPI_LONG_LONG, all.data(), counts.data(), places.data(), MPI_LONG_LONG,
                 comm);
  for (int i = 0; i < num_ranks; ++i)
    CHECK(all[static_cast<std::size_t>(i)] == brought(round, i, 2));
}

// One call by chance, the same in all ranks of the communicator.
void one_call(DrawnComms::Place& place, std::uint64_t round, MPI_Op) {
  const MPI_Comm comm = place.comm;
  const int few = static_cast<int>(place.alike.below(16)) + 1;
  // On both sides of the limit.
  const int many = static_cast<int>(place.alike.below(1200)) / size_of(comm) + 1;
  const auto form = [&] {
    return static_cast<Form>(place.own.one_in(2) ? 0 : place.own.below(kNumForms));
  };
  const Forms forms{form(), form(), place.alike.one_in(4)};
  if (place.own.one_in(40)) usleep(place.own.below(300));
  switch (place.alike.below(12)) {
    case 0:
      return void(MPI_Barrier(comm));
    case 1:
      return ring(comm, round);
    case 2:
      return broadcast(comm, round);
    case 3:
      return allreduce(comm, round, few);
    case 4:
      return allreduce(comm, round, 3 * many / 4);
    case 5:
      return allgatherv(comm, round);
    case 6:
      return check_allgather(comm, round, many, forms);
    case 7:
      return check_alltoall(comm, round, many, forms);
    case 8:
    case 9:
      return check_allgather(comm, round, few, forms);
    default:
      return check_alltoall(comm, round, few, forms);
  }
}

void one_on(MPI_Comm comm, int num_rounds) {
  for (int i = 0; i < num_rounds; ++i) {
    const auto round = static_cast<std::uint64_t>(i);
    const Forms forms{Form::kPlain, Form::kPlain, i % 3 == 0};
    check_allgather(comm, round, 1, forms);
    check_alltoall(comm, round, 1, forms);
  }
}
void one(int num_rounds) { one_on(MPI_COMM_WORLD, num_rounds); }

// 6 * 6 * 2 calls of each, and 6 * 2 in place. Ranks have different forms.
void signatures() {
  const auto rank = static_cast<std::uint32_t>(rank_in(MPI_COMM_WORLD));
  const auto form = [](std::uint32_t number) { return static_cast<Form>(number % kNumForms); };
  std::uint64_t round = 0;
  for (std::uint32_t out = 0; out < kNumForms; ++out) {
    for (std::uint32_t in = 0; in <= kNumForms; ++in) {
      const Forms forms{form(in + rank), form(out + 2 * rank), in == kNumForms};
      for (const int count : {4, 300}) {
        check_allgather(MPI_COMM_WORLD, round++, count, forms);
        check_alltoall(MPI_COMM_WORLD, round++, count, forms);
      }
    }
  }
}

// With two ranks 2 KiB of each are served. Served are, of both, 2 counts in each of four ways.
void limits() {
  constexpr int kMost = 2048 / static_cast<int>(sizeof(int));
  const Form other = rank_in(MPI_COMM_WORLD) == 1 ? Form::kGaps : Form::kBlock;
  for (const int count : {1, kMost, kMost + 1, 2 * kMost, 2 * kMost + 1, 40 * kMost}) {
    for (const bool in_place : {false, true}) {
      for (const Forms& forms :
           {Forms{Form::kPlain, Form::kPlain, in_place}, Forms{other, Form::kPlain, in_place}}) {
        check_allgather(MPI_COMM_WORLD, 1, count, forms);
        check_alltoall(MPI_COMM_WORLD, 2, count, forms);
      }
    }
  }
  MPI_Allgather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
  const int rank = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
  for (const int count : {1, 600}) {
    const auto parts = static_cast<std::size_t>(num_ranks * count);
    std::vector<int> in(parts, rank), all(parts, -1), each(parts, -1);
    MPI_Alltoall_c(in.data(), count, MPI_INT, each.data(), count, MPI_INT, MPI_COMM_WORLD);
    // Some ranks may call the one function and others the other one.
    if (rank == 0) {
      MPI_Allgather(in.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
    } else {
      MPI_Allgather_c(in.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
    }
    for (std::size_t i = 0; i < parts; ++i) {
      const int from = static_cast<int>(i) / count;
      CHECK(all[i] == from && each[i] == from);
    }
  }
#endif
}

void set_up() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int number = 1; number <= 20; ++number) {
    const auto round = static_cast<std::uint64_t>(number);
    if (number % 3 == 0) MPI_Barrier(comm);
    check_allgather(comm, round, 3);
    // Not counted: all ranks know that the engine never serves it.
    check_allgather(comm, round, 2000);
    check_alltoall(comm, round, 3);
  }
  MPI_Comm_free(&comm);
}

// Others may still read what a rank has brought.
void freed(int number) {
  for (int i = 0; i < number; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const auto round = static_cast<std::uint64_t>(i);
    const int most = 1024 / size_of(comm);
    for (int number_in = 0; number_in < 3; ++number_in) {
      check_alltoall(comm, round, most);
      check_allgather(comm, round, most);
    }
    check_alltoall(comm, round, most);
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
    check_allgather(comm, seed, 1 + round % 512);
    if (round % 5 == 0) MPI_Barrier(comm);
    check_alltoall(comm, seed, 1 + round % 7);
  });
}

void late(const std::string& what) {
  if (what != "late_first") one(3);
  if (rank_in(MPI_COMM_WORLD) == 2) sleep(3);
  if (what == "late_alltoall") check_alltoall(MPI_COMM_WORLD, 1, 5);
  check_allgather(MPI_COMM_WORLD, 1, 5);
}

// All ranks make the same errors.
void wrong() {
  one(2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int in[8] = {}, out[8];
  for (const Function function : {Function{&MPI_Allgather}, Function{&MPI_Alltoall}}) {
    const auto fails = [&](const void* from, int count, MPI_Datatype type, void* to,
                           MPI_Comm comm) {
      return class_of(function(from, count, type, to, count, type, comm));
    };
    CHECK(fails(in, -1, MPI_INT, out, MPI_COMM_WORLD) == MPI_ERR_COUNT);
    CHECK(fails(in, 4, MPI_DATATYPE_NULL, out, MPI_COMM_WORLD) == MPI_ERR_TYPE);
    CHECK(fails(in, 4, MPI_INT, MPI_IN_PLACE, MPI_COMM_WORLD) != MPI_SUCCESS);
#ifdef MPICH_VERSION  // Open MPI 4.1.4 looks at neither, and crashes in MPI_Allgather
    CHECK(fails(in, 4, MPI_INT, out, MPI_COMM_NULL) == MPI_ERR_COMM);
    int* const own = function == &MPI_Alltoall ? in : in + 4 * rank_in(MPI_COMM_WORLD);
    CHECK(fails(own, 4, MPI_INT, in, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
#endif
  }
  one(2);
}

// What is brought lies in its place already, without MPI_IN_PLACE: an error for which Open MPI does
// not look. In the first calls, too, in which the communicator is set up.
void own_part() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int rank = rank_in(MPI_COMM_WORLD);
  for (int call = 0; call < 3; ++call) {
    std::vector<int> all(static_cast<std::size_t>(2 * size_of(MPI_COMM_WORLD)), -1);
    int* const own = &all[static_cast<std::size_t>(2 * rank)];
    own[0] = own[1] = rank;
    const int status = MPI_Allgather(own, 2, MPI_INT, all.data(), 2, MPI_INT, MPI_COMM_WORLD);
#ifdef OPEN_MPI
    CHECK(status == MPI_SUCCESS);
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<int>(i / 2));
#else
    CHECK(class_of(status) == MPI_ERR_BUFFER);
#endif
  }
  one(2);
}

void inter() {
  {
    const EvenAndOdd groups;
    const int mine = groups.is_even() ? 0 : 1;
    const std::vector<int> own(static_cast<std::size_t>(groups.num_others()), mine);
    for (int number = 0; number < 2; ++number) {
      std::vector<int> all(own.size(), -1), each(own.size(), -1);
      MPI_Allgather(own.data(), 1, MPI_INT, all.data(), 1, MPI_INT, groups.between());
      MPI_Alltoall(own.data(), 1, MPI_INT, each.data(), 1, MPI_INT, groups.between());
      const std::vector<int> right(own.size(), 1 - mine);
      CHECK(all == right && each == right);
    }
  }
  one_on(MPI_COMM_SELF, 2);
}

void shared() {
  const int rank = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
  const auto size = static_cast<std::size_t>(num_ranks);
  for (int round = 1; round <= 50; ++round) {
    const int own[2] = {round, rank};
    std::vector<int> all(2 * size, -1);
    MPI_Allgather(own, 2, MPI_INT, all.data(), 2, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < size; ++i)
      CHECK(all[2 * i] == round && all[2 * i + 1] == static_cast<int>(i));
    std::vector<double> in(size, 0.5 * round + rank), out(size, -1);
    MPI_Alltoall(in.data(), 1, MPI_DOUBLE, out.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < size; ++i) CHECK(out[i] == 0.5 * round + static_cast<double>(i));
    MPI_Alltoall(MPI_IN_PLACE, 1, MPI_DOUBLE, in.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(in == out);
    all.assign(2 * size, -1);
    all[2 * static_cast<std::size_t>(rank)] = round;
    MPI_Allgather(MPI_IN_PLACE, 2, MPI_INT, all.data(), 2, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < size; ++i) CHECK(all[2 * i] == round && all[2 * i + 1] == -1);
  }
}

void progress() {
  one(1);
  receive_meanwhile([] { one(1); });
}

void run_case(const std::string& what, int number) {
  if (what == "opened") {
    find_opened("MPI_Allgather", allgather);
    find_opened("MPI_Alltoall", alltoall);
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
  if (what.rfind("late", 0) == 0) late(what);
  if (what == "wrong") wrong();
  if (what == "own_part") own_part();
  if (what == "inter") inter();
  if (what == "shared") shared();
  if (what == "progress") progress();
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run_case); }
