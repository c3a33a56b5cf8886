// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers and scatters with HIERBAR_MPI=collectives, whose results are compared with integers that
// are known.
//
//   gathers one NUMBER      NUMBER gathers and scatters of MPI_COMM_WORLD, of one element, with all
//                           ranks as roots in turn
//   gathers opened NUMBER   the same by the functions that dlsym() finds in the library's file
//   gathers barrier NUMBER  the same after a barrier
//   gathers oracle NUMBER   NUMBER rounds of these, bcasts, reduces, allreduces, barriers, messages
//                           and collectives of the library's in an order by chance, on several
//                           communicators; some ranks come late, some roots' parts are in place,
//                           and ranks describe what they bring and get differently
//   gathers signatures      every way to describe a part, with every way for what the root has
//   gathers limits          counts below, at and above the limit, and what is not served
//   gathers set_up          one of them sets a communicator up: the eighth call on it
//   gathers freed NUMBER    so many communicators, each with some calls and freed at once
//   gathers many NUMBER     so many that are alive together
//   gathers threads NUMBER  two threads, each with a communicator of its own
//   gathers late            rank 2 comes 3 s late to a gather to rank 1
//   gathers late_scatter    the root of a scatter, rank 2, comes 3 s late
//   gathers late_first      the same to the first call
//   gathers no_room         rank 2 comes 3 s late to scatters that rank 1 goes on to make
//   gathers wrong           arguments that are errors: the library raises them
//   gathers lengths         ranks that bring or expect other numbers of elements than the root
//   gathers own_part        the root's part is in its place already, without MPI_IN_PLACE
//   gathers inter           an intercommunicator, and one rank
//   gathers shared          what fortran_gathers.F90 does, in one job with it
//   gathers progress        the rank that waits in a gather receives a message

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "../programs/known_integers.hpp"
#include "described_data.hpp"

namespace {

using namespace hierbar::test;

using Function = decltype(&MPI_Gather);
Function gather = &MPI_Gather;
Function scatter = &MPI_Scatter;
static_assert(std::is_same_v<Function, decltype(&MPI_Scatter)>);

constexpr int kNothing = -77;  // where an argument means nothing

// How a rank describes its part, and the root what all have.
struct Forms {
  Form own = Form::kPlain;
  Form all = Form::kPlain;
  bool in_place = false;  // in the root
};

// Element i of what rank `from` brings in a gather, and gets in a scatter.
int element(std::uint64_t round, int rank, int i) {
  return static_cast<int>(brought(round, rank, i));
}

// Whether a call has happened as it should, for all ranks.
void check_gather(MPI_Comm comm, std::uint64_t round, int count, int root,
                  const Forms& forms = {}) {
  const int rank = rank_in(comm), num_ranks = size_of(comm);
  DescribedData own(forms.own, count);
  for (int i = 0; i < count; ++i) own.at(i) = element(round, rank, i);
  if (rank != root) {
    CHECK(gather(own.data(), own.num_elements(), own.type(), nullptr, kNothing, MPI_DATATYPE_NULL,
                 root, comm) == MPI_SUCCESS);
    CHECK(own.has_guards());
    return;
  }
  DescribedData all(forms.all, count, num_ranks);
  for (int i = 0; i < count && forms.in_place; ++i) all.at(i, root) = element(round, rank, i);
  CHECK((forms.in_place ? gather(MPI_IN_PLACE, kNothing, MPI_DATATYPE_NULL, all.data(),
                                 all.num_elements(), all.type(), root, comm)
                        : gather(own.data(), own.num_elements(), own.type(), all.data(),
                                 all.num_elements(), all.type(), root, comm)) == MPI_SUCCESS);
  for (int from = 0; from < num_ranks; ++from) {
    for (int i = 0; i < count; ++i) CHECK(all.at(i, from) == element(round, from, i));
  }
  CHECK(own.has_guards() && all.has_guards());
}

void check_scatter(MPI_Comm comm, std::uint64_t round, int count, int root,
                   const Forms& forms = {}) {
  const int rank = rank_in(comm), num_ranks = size_of(comm);
  DescribedData own(forms.own, count);
  if (rank != root) {
    CHECK(scatter(nullptr, kNothing, MPI_DATATYPE_NULL, own.data(), own.num_elements(), own.type(),
                  root, comm) == MPI_SUCCESS);
  } else {
    DescribedData all(forms.all, count, num_ranks);
    for (int to = 0; to < num_ranks; ++to) {
      for (int i = 0; i < count; ++i) all.at(i, to) = element(round, to, i);
    }
    CHECK((forms.in_place ? scatter(all.data(), all.num_elements(), all.type(), MPI_IN_PLACE,
                                    kNothing, MPI_DATATYPE_NULL, root, comm)
                          : scatter(all.data(), all.num_elements(), all.type(), own.data(),
                                    own.num_elements(), own.type(), root, comm)) == MPI_SUCCESS);
    for (int to = 0; to < num_ranks; ++to) {
      for (int i = 0; i < count; ++i) CHECK(all.at(i, to) == element(round, to, i));
    }
    CHECK(all.has_guards());
    if (forms.in_place) return;
  }
  for (int i = 0; i < count; ++i) CHECK(own.at(i) == element(round, rank, i));
  CHECK(own.has_guards());
}

void broadcast(MPI_Comm comm, std::uint64_t round) {
  const int root = root_of(round, comm);
  long long value = rank_in(comm) == root ? brought(round, root, 1) : 0;
  MPI_Bcast(&value, 1, MPI_LONG_LONG, root, comm);
  CHECK(value == brought(round, root, 1));
}

void reduce(MPI_Comm comm, std::uint64_t round) {
  const int root = root_of(round, comm);
  const long long mine = brought(round, rank_in(comm), 0);
  long long sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, root, comm);
  if (rank_in(comm) == root) CHECK(sum == expected(MPI_SUM, round, size_of(comm), 0));
}

void allreduce(MPI_Comm comm, std::uint64_t round) {
  const long long mine = brought(round, rank_in(comm), 0);
  long long sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, comm);
  CHECK(sum == expected(MPI_SUM, round, size_of(comm), 0));
}

// The library's.
void gatherv(MPI_Comm comm, std::uint64_t round) {
  const int rank = rank_in(comm), num_ranks = size_of(comm), root = root_of(round, comm);
  const long long mine = brought(round, rank, 2);
  std::vector<long long> all(static_cast<std::size_t>(num_ranks));
  const std::vector<int> counts(all.size(), 1);
  std::vector<int> places;
  for (int i = 0; i < num_ranks; ++i) places.push_back(i);
  MPI_Gatherv(&mine, 1, MPI_LONG_LONG, all.data(), counts.data(), places.data(), MPI_LONG_LONG,
              root, comm);
  for (int i = 0; i < num_ranks && rank == root; ++i)
    CHECK(all[static_cast<std::size_t>(i)] == brought(round, i, 2));
}

// One call by chance, the same in all ranks of the communicator.
void one_call(DrawnComms::Place& place, std::uint64_t round, MPI_Op) {
  const MPI_Comm comm = place.comm;
  const int root = static_cast<int>(place.alike.below(static_cast<std::uint32_t>(size_of(comm))));
  const int few = static_cast<int>(place.alike.below(16)) + 1;
  // On both sides of the limit.
  const int many = static_cast<int>(place.alike.below(1200)) / size_of(comm) + 1;
  const auto form = [&] {
    return static_cast<Form>(place.own.one_in(2) ? 0 : place.own.below(kNumForms));
  };
  const Forms forms{form(), form(), place.own.one_in(3)};
  if (place.own.one_in(40)) usleep(place.own.below(300));
  switch (place.alike.below(13)) {
    case 0:
      return void(MPI_Barrier(comm));
    case 1:
      return ring(comm, round);
    case 2:
      return broadcast(comm, round);
    case 3:
      return reduce(comm, round);
    case 4:
      return allreduce(comm, round);
    case 5:
      return gatherv(comm, round);
    case 6:
      return check_gather(comm, round, many, root, forms);
    case 7:
      return check_scatter(comm, round, many, root, forms);
    case 8:
    case 9:
    case 10:
      return check_gather(comm, round, few, root, forms);
    default:
      return check_scatter(comm, round, few, root, forms);
  }
}

void one_on(MPI_Comm comm, int num_rounds) {
  for (int i = 0; i < num_rounds; ++i) {
    const auto round = static_cast<std::uint64_t>(i);
    const Forms forms{Form::kPlain, Form::kPlain, i % 3 == 0};
    check_gather(comm, round, 1, root_of(round, comm), forms);
    check_scatter(comm, round, 1, root_of(round, comm), forms);
  }
}
void one(int num_rounds) { one_on(MPI_COMM_WORLD, num_rounds); }

// 6 * 6 * 2 calls of each, and 6 * 2 with the root's part in place. Ranks have different forms.
void signatures() {
  const auto rank = static_cast<std::uint32_t>(rank_in(MPI_COMM_WORLD));
  const auto form = [](std::uint32_t number) { return static_cast<Form>(number % kNumForms); };
  std::uint64_t round = 0;
  for (std::uint32_t all = 0; all < kNumForms; ++all) {
    for (std::uint32_t own = 0; own <= kNumForms; ++own) {
      const Forms forms{form(own + rank), form(all), own == kNumForms};
      for (const int count : {4, 300}) {
        const int root = root_of(round, MPI_COMM_WORLD);
        check_gather(MPI_COMM_WORLD, round++, count, root, forms);
        check_scatter(MPI_COMM_WORLD, round, count, root, forms);
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
        check_gather(MPI_COMM_WORLD, 1, count, in_place ? 1 : 0, forms);
        check_scatter(MPI_COMM_WORLD, 2, count, in_place ? 0 : 1, forms);
      }
    }
  }
  MPI_Gather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatter(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
  const int rank = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
  for (const int count : {1, 600}) {
    std::vector<int> own(static_cast<std::size_t>(count), rank), part(own.size(), -1);
    std::vector<int> all(own.size() * static_cast<std::size_t>(num_ranks), -1);
    MPI_Gather_c(own.data(), count, MPI_INT, all.data(), count, MPI_INT, 0, MPI_COMM_WORLD);
    // Some ranks may call the one function and others the other one.
    if (rank == 0) {
      MPI_Scatter(all.data(), count, MPI_INT, part.data(), count, MPI_INT, 0, MPI_COMM_WORLD);
    } else {
      MPI_Scatter_c(all.data(), count, MPI_INT, part.data(), count, MPI_INT, 0, MPI_COMM_WORLD);
    }
    CHECK(part == own);
  }
#endif
}

void set_up() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int number = 1; number <= 20; ++number) {
    const auto round = static_cast<std::uint64_t>(number);
    if (number % 3 == 0) MPI_Barrier(comm);
    check_gather(comm, round, 3, 1);
    // Not counted: all ranks know that the engine never serves it.
    check_gather(comm, round, 2000, 1);
    check_scatter(comm, round, 3, 0);
  }
  MPI_Comm_free(&comm);
}

// The ranks that bring data may be gone while others still read.
void freed(int number) {
  for (int i = 0; i < number; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const auto round = static_cast<std::uint64_t>(i);
    const int most = 1024 / size_of(comm);
    for (int number_in = 0; number_in < 3; ++number_in) {
      check_gather(comm, round, most, 1);
      check_scatter(comm, round, most, 0);
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
    check_gather(comm, seed, 1 + round % 512, root_of(seed, comm));
    if (round % 5 == 0) MPI_Barrier(comm);
    check_scatter(comm, seed, 1 + round % 7, root_of(seed / 2, comm));
  });
}

void late(const std::string& what) {
  if (what != "late_first") one(3);
  if (rank_in(MPI_COMM_WORLD) == 2) sleep(3);
  if (what == "late") {
    check_gather(MPI_COMM_WORLD, 1, 5, 1);
  } else {
    check_scatter(MPI_COMM_WORLD, 1, 5, 2);
  }
}

void no_room() {
  one(3);
  if (rank_in(MPI_COMM_WORLD) == 2) sleep(3);
  for (std::uint64_t round = 0; round < 100; ++round) check_scatter(MPI_COMM_WORLD, round, 5, 1);
}

// All ranks make the same errors.
void wrong() {
  one(2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int num_ranks = size_of(MPI_COMM_WORLD);
  int in[8] = {}, out[8];
  for (const Function function : {Function{&MPI_Gather}, Function{&MPI_Scatter}}) {
    const auto fails = [&](int count, MPI_Datatype type, int root, MPI_Comm comm) {
      return class_of(function(in, count, type, out, count, type, root, comm));
    };
    CHECK(fails(4, MPI_INT, num_ranks, MPI_COMM_WORLD) == MPI_ERR_ROOT);
    CHECK(fails(4, MPI_INT, -7, MPI_COMM_WORLD) == MPI_ERR_ROOT);
    CHECK(fails(-1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT);
    CHECK(fails(4, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) == MPI_ERR_TYPE);
    CHECK(fails(4, MPI_INT, 0, MPI_COMM_NULL) == MPI_ERR_COMM);
  }
  one(2);
}

// Rank 1 brings or expects another number of elements than rank 0, the root.
void check_lengths(int of_root, int of_other, Form form, int of_gather, int of_scatter) {
  const bool is_root = rank_in(MPI_COMM_WORLD) == 0;
  const int count = is_root ? of_root : of_other;
  DescribedData all(Form::kPlain, of_root, 2), own(form, count);
  for (int i = 0; i < count; ++i) own.at(i) = i;
  int status = MPI_Gather(own.data(), own.num_elements(), own.type(), all.data(),
                          all.num_elements(), all.type(), 0, MPI_COMM_WORLD);
  CHECK(class_of(status) == (is_root ? of_gather : MPI_SUCCESS));
  status = MPI_Scatter(all.data(), all.num_elements(), all.type(), own.data(), own.num_elements(),
                       own.type(), 0, MPI_COMM_WORLD);
  CHECK(class_of(status) == (is_root ? MPI_SUCCESS : of_scatter));
  CHECK(all.has_guards() && own.has_guards());
}

void lengths() {
  one(2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef OPEN_MPI  // it takes fewer elements
  constexpr int kFewer = MPI_SUCCESS;
#else
  constexpr int kFewer = MPI_ERR_OTHER;
#endif
  check_lengths(9, 4, Form::kPlain, kFewer, MPI_ERR_TRUNCATE);
  check_lengths(4, 9, Form::kPlain, MPI_ERR_TRUNCATE, kFewer);
  check_lengths(9, 4, Form::kGaps, MPI_ERR_OTHER, MPI_ERR_TRUNCATE);
  check_lengths(4, 9, Form::kGaps, MPI_ERR_TRUNCATE, MPI_ERR_OTHER);
  one(2);
}

// The root's part lies in its place already, without MPI_IN_PLACE: an error for which Open MPI does
// not look. Nothing may follow where the root alone has an error.
void own_part() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  one(2);
  const int rank = rank_in(MPI_COMM_WORLD), root = 1;
  std::vector<int> all(static_cast<std::size_t>(2 * size_of(MPI_COMM_WORLD)), -1);
  int* const own = &all[static_cast<std::size_t>(2 * rank)];
  own[0] = own[1] = rank;
  const int status = MPI_Gather(own, 2, MPI_INT, all.data(), 2, MPI_INT, root, MPI_COMM_WORLD);
#ifdef OPEN_MPI
  CHECK(status == MPI_SUCCESS);
  for (std::size_t i = 0; i < all.size() && rank == root; ++i)
    CHECK(all[i] == static_cast<int>(i / 2));
  one(2);
#else
  CHECK(class_of(status) == (rank == root ? MPI_ERR_BUFFER : MPI_SUCCESS));
#endif
}

// The root is in the group of even ranks. Where an argument means nothing, it is an error
// elsewhere.
void inter() {
  {
    const EvenAndOdd groups;
    const int root = groups.root();
    for (int number = 0; number < 2; ++number) {
      std::vector<int> all(static_cast<std::size_t>(groups.num_others()), -1);
      const std::vector<int> right(all.size(), 5);
      int own = 5;
      MPI_Gather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, root, groups.between());
      CHECK(root != MPI_ROOT || all == right);
      own = -1;
      MPI_Scatter(right.data(), 1, MPI_INT, &own, 1, MPI_INT, root, groups.between());
      CHECK(own == (root == 0 ? 5 : -1));
    }
  }
  one_on(MPI_COMM_SELF, 2);
}

// Two of each with all ranks as roots in turn, the second one in place.
void shared() {
  const int rank = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
  const auto size = static_cast<std::size_t>(num_ranks);
  for (int round = 1; round <= 50; ++round) {
    const int root = round % num_ranks;
    for (const bool in_place : {false, true}) {
      const int own[2] = {round, rank};
      std::vector<int> all(2 * size, -1);
      if (in_place) std::copy(own, own + 2, &all[2 * static_cast<std::size_t>(rank)]);
      MPI_Gather(in_place && rank == root ? MPI_IN_PLACE : own, 2, MPI_INT, all.data(), 2, MPI_INT,
                 root, MPI_COMM_WORLD);
      for (std::size_t i = 0; i < size && rank == root; ++i)
        CHECK(all[2 * i] == round && all[2 * i + 1] == static_cast<int>(i));
    }
    std::vector<double> parts;
    for (int to = 0; to < num_ranks; ++to) parts.push_back(0.5 * round + to);
    for (const bool in_place : {false, true}) {
      double part = -1;
      MPI_Scatter(parts.data(), 1, MPI_DOUBLE, in_place && rank == root ? MPI_IN_PLACE : &part, 1,
                  MPI_DOUBLE, root, MPI_COMM_WORLD);
      CHECK(part == (in_place && rank == root ? -1 : 0.5 * round + rank));
    }
  }
}

void progress() {
  one(1);
  receive_meanwhile([] { one(1); });
}

void run_case(const std::string& what, int number) {
  if (what == "opened") {
    find_opened("MPI_Gather", gather);
    find_opened("MPI_Scatter", scatter);
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
  if (what == "no_room") no_room();
  if (what == "wrong") wrong();
  if (what == "lengths") lengths();
  if (what == "own_part") own_part();
  if (what == "inter") inter();
  if (what == "shared") shared();
  if (what == "progress") progress();
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run_case); }
