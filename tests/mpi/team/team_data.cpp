// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allreduces and broadcasts of all threads of all ranks. Arguments: the case, the thread level, how
// many threads each rank brings ("2" or "1,3,2", of which ranks take turns), and the number of
// rounds.

#include <sched.h>

#include <algorithm>
#include <complex>
#include <map>

#include "bench/common/random.hpp"
#include "team_test.hpp"

namespace hierbar::test {
namespace {

struct Options {
  std::vector<int> threads;
  int rounds;

  int threads_of(int rank) const {
    return threads[static_cast<std::size_t>(rank) % threads.size()];
  }
};

// One thread in a team of which it knows all members.
struct Member {
  hierbar_team team;
  int thread;
  int number;  // of all members
  int num_members;
  const Options& options;
  int num_ranks;
};

constexpr int kGuards = 3;

template <class Element>
Element brought(std::uint64_t round, int member, int index) {
  const std::uint64_t bits = mix(round * 1'000'003 + static_cast<std::uint64_t>(member) * 1009 +
                                 static_cast<std::uint64_t>(index));
  return static_cast<Element>(static_cast<int>(bits % 251)) / static_cast<Element>(7);
}

// What runtime/fold promises: blocks of eight, each from left to right, and then the blocks.
template <class Element, class Combine>
Element folded(std::uint64_t round, int num_members, int index, Combine combine) {
  Element total{};
  for (int begin = 0; begin < num_members; begin += 8) {
    Element block = brought<Element>(round, begin, index);
    for (int member = begin + 1; member < std::min(begin + 8, num_members); ++member)
      block = combine(block, brought<Element>(round, member, index));
    total = begin == 0 ? block : combine(total, block);
  }
  return total;
}

template <class Element, class Combine>
void check_allreduce(const Member& me, std::uint64_t round, MPI_Datatype type, MPI_Op op, int count,
                     Combine combine) {
  std::vector<Element> in(static_cast<std::size_t>(count + kGuards), Element(99));
  for (int i = 0; i < count; ++i)
    in[static_cast<std::size_t>(i)] = brought<Element>(round, me.number, i);
  std::vector<Element> out(in.size(), Element(77));
  const bool is_in_place = (round + static_cast<std::uint64_t>(me.number)) % 3 == 0;
  if (is_in_place) out = in;
  CHECK(hierbar_team_allreduce(me.team, me.thread, is_in_place ? MPI_IN_PLACE : in.data(),
                               out.data(), count, type, op) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) {
    CHECK(out[static_cast<std::size_t>(i)] ==
          static_cast<Element>(folded<Element>(round, me.num_members, i, combine)));
  }
  for (int i = count; i < count + kGuards; ++i)
    CHECK(out[static_cast<std::size_t>(i)] == Element(is_in_place ? 99 : 77));
}

template <class Element>
void check_bcast(const Member& me, std::uint64_t round, MPI_Datatype type, int count) {
  const int root_rank = static_cast<int>(mix(round) % static_cast<std::uint64_t>(me.num_ranks));
  const int root_thread =
      static_cast<int>(round % static_cast<std::uint64_t>(me.options.threads_of(root_rank)));
  int root = root_thread;
  for (int rank = 0; rank < root_rank; ++rank) root += me.options.threads_of(rank);
  std::vector<Element> data(static_cast<std::size_t>(count + kGuards), Element(55));
  if (me.number == root) {
    for (int i = 0; i < count; ++i)
      data[static_cast<std::size_t>(i)] = brought<Element>(round, root, i);
  }
  CHECK(hierbar_team_bcast(me.team, me.thread, data.data(), count, type, root_rank, root_thread) ==
        MPI_SUCCESS);
  for (int i = 0; i < count + kGuards; ++i) {
    CHECK(data[static_cast<std::size_t>(i)] ==
          (i < count ? brought<Element>(round, root, i) : Element(55)));
  }
}

// Calls each(type's value, MPI's type) for arithmetic of one kind.
template <class Each>
void for_integers(Each each) {
  each(std::int8_t{}, MPI_INT8_T), each(std::int16_t{}, MPI_INT16_T);
  each(std::int32_t{}, MPI_INT32_T), each(std::int64_t{}, MPI_INT64_T);
  each(std::uint8_t{}, MPI_UINT8_T), each(std::uint16_t{}, MPI_UINT16_T);
  each(std::uint32_t{}, MPI_UINT32_T), each(std::uint64_t{}, MPI_UINT64_T);
  each(int{}, MPI_INT), each(0L, MPI_LONG), each(0LL, MPI_LONG_LONG);
}
template <class Each>
void for_reals(Each each) {
  each(float{}, MPI_FLOAT), each(double{}, MPI_DOUBLE), each(0.0L, MPI_LONG_DOUBLE);
}

template <class Element>
void check_comparable(const Member& me, std::uint64_t round, MPI_Datatype type, int count) {
  using E = Element;
  check_allreduce<E>(me, round, type, MPI_SUM, count, [](E a, E b) { return E(a + b); });
  check_allreduce<E>(me, round, type, MPI_PROD, count, [](E a, E b) { return E(a * b); });
  check_allreduce<E>(me, round, type, MPI_MAX, count, [](E a, E b) { return a > b ? a : b; });
  check_allreduce<E>(me, round, type, MPI_MIN, count, [](E a, E b) { return a < b ? a : b; });
  check_bcast<E>(me, round, type, count);
}

template <class Element>
void check_integer(const Member& me, std::uint64_t round, MPI_Datatype type, int count) {
  using E = Element;
  check_comparable<E>(me, round, type, count);
  check_allreduce<E>(me, round, type, MPI_BAND, count, [](E a, E b) { return E(a & b); });
  check_allreduce<E>(me, round, type, MPI_BOR, count, [](E a, E b) { return E(a | b); });
  check_allreduce<E>(me, round, type, MPI_BXOR, count, [](E a, E b) { return E(a ^ b); });
  if (me.num_members == 1) return;  // then the value stays as it is
  const auto is = [](E a) { return a != 0; };
  check_allreduce<E>(me, round, type, MPI_LAND, count, [&](E a, E b) { return E(is(a) && is(b)); });
  check_allreduce<E>(me, round, type, MPI_LOR, count, [&](E a, E b) { return E(is(a) || is(b)); });
}

// The greatest value, and of equal ones the member with the lowest number. The memory of a gap is
// not the call's.
template <class Value>
void check_pairs(const Member& me, std::uint64_t round, MPI_Datatype type, int count) {
  struct Pair {
    Value value;
    int index;
  };
  std::vector<Pair> pairs(static_cast<std::size_t>(count + 1));
  std::memset(static_cast<void*>(pairs.data()), 0x5a, pairs.size() * sizeof(Pair));
  for (int i = 0; i < count; ++i) {
    pairs[static_cast<std::size_t>(i)].value =
        static_cast<Value>(brought<int>(round, me.number, i));
    pairs[static_cast<std::size_t>(i)].index = me.number;
  }
  const bool is_max = round % 2 == 0;
  CHECK(hierbar_team_allreduce(me.team, me.thread, pairs.data(), pairs.data(), count, type,
                               is_max ? MPI_MAXLOC : MPI_MINLOC) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) {
    int best = 0;
    for (int member = 1; member < me.num_members; ++member) {
      const int one = brought<int>(round, member, i), other = brought<int>(round, best, i);
      if (is_max ? one > other : one < other) best = member;
    }
    const Pair& pair = pairs[static_cast<std::size_t>(i)];
    CHECK(pair.index == best && pair.value == static_cast<Value>(brought<int>(round, best, i)));
  }
  const auto* behind = reinterpret_cast<const unsigned char*>(&pairs.back());
  CHECK(std::all_of(behind, behind + sizeof(Pair), [](int byte) { return byte == 0x5a; }));
  // The same by a broadcast of the last thread's.
  Pair pair{static_cast<Value>(me.number), me.number};
  const int last = me.num_ranks - 1;
  CHECK(hierbar_team_bcast(me.team, me.thread, &pair, 1, type, last,
                           me.options.threads_of(last) - 1) == MPI_SUCCESS);
  CHECK(pair.index == me.num_members - 1);
}

void check_others(const Member& me, std::uint64_t round, int count) {
  using Complex = std::complex<double>;
  check_allreduce<Complex>(me, round, MPI_C_DOUBLE_COMPLEX, MPI_SUM, count,
                           [](Complex a, Complex b) { return a + b; });
  check_bcast<Complex>(me, round, MPI_C_DOUBLE_COMPLEX, count);
  using Byte = unsigned char;
  check_allreduce<Byte>(me, round, MPI_BYTE, MPI_BXOR, count,
                        [](Byte a, Byte b) { return Byte(a ^ b); });
  check_bcast<Byte>(me, round, MPI_BYTE, count);
  check_bcast<char>(me, round, MPI_CHAR, count);
  check_pairs<float>(me, round, MPI_FLOAT_INT, count);
  check_pairs<double>(me, round, MPI_DOUBLE_INT, count);
  check_pairs<long>(me, round, MPI_LONG_INT, count);
  check_pairs<short>(me, round, MPI_SHORT_INT, count);
  check_pairs<int>(me, round, MPI_2INT, count);
  check_pairs<long double>(me, round, MPI_LONG_DOUBLE_INT, count);
}

template <class Body>
void with_team(const Options& options, MPI_Comm comm, Body body) {
  const int rank = rank_in(comm);
  hierbar_team team;
  CHECK(hierbar_team_create(comm, options.threads_of(rank), &team) == MPI_SUCCESS);
  int first = 0, num_members = 0;
  for (int other = 0; other < size_of(comm); ++other) {
    if (other == rank) first = num_members;
    num_members += options.threads_of(other);
  }
  run_threads(options.threads_of(rank), [&](int thread) {
    CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
    body(Member{team, thread, first + thread, num_members, options, size_of(comm)});
  });
  CHECK(hierbar_team_free(&team) == MPI_SUCCESS);
}

// All operations and types. 4096 bytes are a piece; there are lengths below, at and above it.
void all(const Options& options) {
  with_team(options, MPI_COMM_WORLD, [&](const Member& me) {
    std::uint64_t round = 0;
    for (const int count : {1, 0, 3, 520}) {
      for_integers([&](auto zero, MPI_Datatype type) {
        check_integer<decltype(zero)>(me, ++round, type, count);
      });
      for_reals([&](auto zero, MPI_Datatype type) {
        check_comparable<decltype(zero)>(me, ++round, type, count);
      });
      check_others(me, ++round, count);
    }
    for (const int count : {512, 513, 1300}) {
      check_integer<long>(me, ++round, MPI_LONG, count);
      check_comparable<double>(me, ++round, MPI_DOUBLE, count);
    }
  });
}

// Short calls, barriers, delays and new bindings, in one order that all members know.
void rounds(const Options& options, MPI_Comm comm) {
  with_team(options, comm, [&](const Member& me) {
    Random own(static_cast<std::uint64_t>(me.number));
    for (int round = 1; round <= options.rounds; ++round) {
      const auto number = static_cast<std::uint64_t>(round);
      const std::uint64_t what = mix(number) % 8;
      if (own.one_in(50)) usleep(static_cast<useconds_t>(own.below(3000)));
      const int count = static_cast<int>(mix(number + 1'000'000) % 40);
      if (what < 4) {
        check_allreduce<double>(me, number, MPI_DOUBLE, MPI_SUM, count,
                                [](double a, double b) { return a + b; });
      } else if (what < 6) {
        check_bcast<int>(me, number, MPI_INT, count);
      } else {
        CHECK(hierbar_team_barrier(me.team, me.thread) == MPI_SUCCESS);
      }
      if (!own.one_in(16)) continue;
      cpu_set_t cpu;
      CPU_ZERO(&cpu);
      CPU_SET(own.below(2), &cpu);
      sched_setaffinity(0, sizeof(cpu), &cpu);
      const int status = hierbar_team_join(me.team, me.thread);
      CHECK(status == MPI_SUCCESS);
    }
  });
}
void mixed(const Options& options) { rounds(options, MPI_COMM_WORLD); }

// Two teams at the same time, each with calls of its own, in threads of their own.
void two_teams(const Options& options) {
  MPI_Comm comms[2];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::thread other([&] { rounds(options, comms[0]); });
  rounds(options, comms[1]);
  other.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

// Only allreduces: other threads may take the numbers over all the same.
void taken_over(const Options& options) {
  hierbar_team team;
  const int threads = options.threads_of(rank_in(MPI_COMM_WORLD));
  CHECK(hierbar_team_create(MPI_COMM_WORLD, threads, &team) == MPI_SUCCESS);
  for (int crew = 0; crew < options.rounds; ++crew) {
    run_threads(threads, [&](int thread) {
      CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
      int one = 1, sum = 0, size = 0;
      CHECK(hierbar_team_allreduce(team, thread, &one, &sum, 1, MPI_INT, MPI_SUM) == MPI_SUCCESS);
      for (int rank = 0; rank < size_of(MPI_COMM_WORLD); ++rank) size += options.threads_of(rank);
      CHECK(sum == size);
    });
  }
  CHECK(hierbar_team_free(&team) == MPI_SUCCESS);
}

void combine_nothing(void*, void*, int*, MPI_Datatype*) {}

// What is wrong is answered, and the next right call works.
void wrong(const Options& options) {
  MPI_Op op;
  MPI_Op_create(&combine_nothing, 1, &op);
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  with_team(options, MPI_COMM_WORLD, [&](const Member& me) {
    int in = 1, out = 7;
    const auto allreduce = [&](hierbar_team team, int thread, const void* from, void* to, int count,
                               MPI_Datatype of, MPI_Op by) {
      return hierbar_team_allreduce(team, thread, from, to, count, of, by);
    };
    const auto bcast = [&](hierbar_team team, int thread, void* data, int count, MPI_Datatype of,
                           int rank, int root_thread) {
      return hierbar_team_bcast(team, thread, data, count, of, rank, root_thread);
    };
    CHECK(allreduce(HIERBAR_TEAM_NULL, 0, &in, &out, 1, MPI_INT, MPI_SUM) == MPI_ERR_ARG);
    CHECK(allreduce(me.team, -1, &in, &out, 1, MPI_INT, MPI_SUM) == MPI_ERR_RANK);
    CHECK(allreduce(me.team, 99, &in, &out, 1, MPI_INT, MPI_SUM) == MPI_ERR_RANK);
    CHECK(allreduce(me.team, me.thread, &in, &out, -1, MPI_INT, MPI_SUM) == MPI_ERR_COUNT);
    CHECK(allreduce(me.team, me.thread, &in, &out, 1, type, MPI_SUM) == MPI_ERR_TYPE);
    CHECK(allreduce(me.team, me.thread, &in, &out, 1, MPI_DATATYPE_NULL, MPI_SUM) == MPI_ERR_TYPE);
    CHECK(allreduce(me.team, me.thread, &in, &out, 1, MPI_INT, op) == MPI_ERR_OP);
    CHECK(allreduce(me.team, me.thread, &in, &out, 1, MPI_INT, MPI_OP_NULL) == MPI_ERR_OP);
    CHECK(allreduce(me.team, me.thread, &in, &out, 1, MPI_DOUBLE, MPI_BAND) == MPI_ERR_OP);
    CHECK(allreduce(me.team, me.thread, nullptr, &out, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
    CHECK(allreduce(me.team, me.thread, &in, nullptr, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
    CHECK(allreduce(me.team, me.thread, &in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
    CHECK(bcast(HIERBAR_TEAM_NULL, 0, &out, 1, MPI_INT, 0, 0) == MPI_ERR_ARG);
    CHECK(bcast(me.team, 99, &out, 1, MPI_INT, 0, 0) == MPI_ERR_RANK);
    CHECK(bcast(me.team, me.thread, &out, -1, MPI_INT, 0, 0) == MPI_ERR_COUNT);
    CHECK(bcast(me.team, me.thread, &out, 1, type, 0, 0) == MPI_ERR_TYPE);
    CHECK(bcast(me.team, me.thread, &out, 1, MPI_INT, -1, 0) == MPI_ERR_ROOT);
    CHECK(bcast(me.team, me.thread, &out, 1, MPI_INT, me.num_ranks, 0) == MPI_ERR_ROOT);
    CHECK(bcast(me.team, me.thread, &out, 1, MPI_INT, 0, -1) == MPI_ERR_ROOT);
    CHECK(bcast(me.team, me.thread, &out, 1, MPI_INT, 0, 99) == MPI_ERR_ROOT);
    CHECK(bcast(me.team, me.thread, nullptr, 1, MPI_INT, 0, 0) == MPI_ERR_BUFFER);
    for (int again = 0; again < 3; ++again) {  // in turns, as two threads would
      CHECK(hierbar_team_barrier(me.team, me.thread) == MPI_SUCCESS);
      CHECK(bcast(me.team, me.thread, &out, 1, MPI_INT, -1, 0) == MPI_ERR_ROOT);
      CHECK(bcast(me.team, 99, &out, 1, MPI_INT, 0, 0) == MPI_ERR_RANK);
      CHECK(hierbar_team_join(me.team, me.thread) == MPI_SUCCESS);
      CHECK(hierbar_team_join(me.team, me.thread) == MPI_ERR_OTHER);
    }
    CHECK(out == 7);
    CHECK(allreduce(me.team, me.thread, nullptr, nullptr, 0, MPI_INT, MPI_SUM) == MPI_SUCCESS);
    CHECK(bcast(me.team, me.thread, nullptr, 0, MPI_INT, 0, 0) == MPI_SUCCESS);
    CHECK(allreduce(me.team, me.thread, &in, &out, 1, MPI_INT, MPI_SUM) == MPI_SUCCESS);
    CHECK(out == me.num_members);
  });
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

// A thread comes late to an allreduce; HIERBAR_TIMEOUT_S says who is missing.
void late(const Options& options) {
  with_team(options, MPI_COMM_WORLD, [&](const Member& me) {
    check_bcast<int>(me, 1, MPI_INT, 1);
    if (me.number == me.num_members - 1) usleep(1'600'000);
    check_allreduce<int>(me, 2, MPI_INT, MPI_SUM, 1, [](int a, int b) { return a + b; });
  });
}

// Until somebody kills the program.
void forever(const Options& options) {
  with_team(options, MPI_COMM_WORLD, [&](const Member& me) {
    for (std::uint64_t round = 0;; ++round) {
      check_allreduce<int>(me, round, MPI_INT, MPI_SUM, 3, [](int a, int b) { return a + b; });
      check_bcast<int>(me, round, MPI_INT, 3);
      if (round == 0 && me.number == 0) std::printf("first barrier\n"), std::fflush(stdout);
    }
  });
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  using namespace hierbar::test;
  init_with_level(argc, argv, argc > 2 ? argv[2] : "multiple");
  Options options{{}, argc > 4 ? std::atoi(argv[4]) : 100};
  const char* at = argc > 3 ? argv[3] : "2";
  for (; at != nullptr; at = std::strchr(at, ',') != nullptr ? std::strchr(at, ',') + 1 : nullptr)
    options.threads.push_back(std::atoi(at));
  const std::map<std::string, void (*)(const Options&)> cases = {
      {"all", all},     {"mixed", mixed}, {"two_teams", two_teams}, {"taken_over", taken_over},
      {"wrong", wrong}, {"late", late},   {"forever", forever}};
  CHECK(argc > 1 && cases.count(argv[1]) == 1);
  cases.at(argv[1])(options);
  if (rank_in(MPI_COMM_WORLD) == 0) std::printf("all rounds were right\n");
  MPI_Finalize();
}
