// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// What ranks bring to the collectives of allreduces.cpp and one_way.cpp, what must come out, and
// the cases that both have.

#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "bench/common/random.hpp"
#include "mpi_test.hpp"

namespace hierbar::test {

// What rank `rank` brings as element `index` in round `round`: small, so that sums are exact.
inline long long brought(std::uint64_t round, int rank, int index) {
  return static_cast<long long>(mix(round * 1'000'003 + static_cast<std::uint64_t>(rank) * 1009 +
                                    static_cast<std::uint64_t>(index)) %
                                2001) -
         1000;
}

inline long long expected(MPI_Op op, std::uint64_t round, int num_ranks, int index) {
  long long all = brought(round, 0, index);
  for (int rank = 1; rank < num_ranks; ++rank) {
    const long long next = brought(round, rank, index);
    if (op == MPI_SUM) all += next;
    if (op == MPI_MIN && next < all) all = next;
    if (op == MPI_MAX && next > all) all = next;
  }
  return all;
}

template <class Element>
MPI_Datatype type_of();
template <>
inline MPI_Datatype type_of<int>() {
  return MPI_INT;
}
template <>
inline MPI_Datatype type_of<long>() {
  return MPI_LONG;
}
template <>
inline MPI_Datatype type_of<double>() {
  return MPI_DOUBLE;
}
template <>
inline MPI_Datatype type_of<float>() {
  return MPI_FLOAT;
}

// An operation of the program's own for long.
inline void own_sum(void* in, void* out, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<long*>(out)[i] += static_cast<long*>(in)[i];
}

// All ranks in turn.
inline int root_of(std::uint64_t round, MPI_Comm comm) {
  return static_cast<int>(round % static_cast<std::uint64_t>(size_of(comm)));
}

inline int class_of(int status) {
  int error_class = MPI_SUCCESS;
  if (status != MPI_SUCCESS) MPI_Error_class(status, &error_class);
  return error_class;
}

// A function of the MPI library as programs find it that open their MPI library.
template <class Function>
void find_opened(const char* name, Function& function) {
  Dl_info library;
  CHECK(dladdr(reinterpret_cast<void*>(&MPI_Get_processor_name), &library) != 0);
  void* const handle = dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  CHECK(handle != nullptr);
  function = reinterpret_cast<Function>(dlsym(handle, name));
  CHECK(function != nullptr);
}

// A message of each rank to the next one.
inline void ring(MPI_Comm comm, std::uint64_t round) {
  const int rank = rank_in(comm), num_ranks = size_of(comm);
  long long from_left = 0;
  const long long mine = brought(round, rank, 0);
  MPI_Sendrecv(&mine, 1, MPI_LONG_LONG, (rank + 1) % num_ranks, 5, &from_left, 1, MPI_LONG_LONG,
               (rank + num_ranks - 1) % num_ranks, 5, comm, MPI_STATUS_IGNORE);
  CHECK(from_left == brought(round, (rank + num_ranks - 1) % num_ranks, 0));
}

// MPI_COMM_WORLD, a duplicate, its ranks reversed, and halves, each with what is drawn for it.
class DrawnComms {
 public:
  struct Place {
    MPI_Comm comm;
    Random alike;  // the same numbers in all ranks
    Random own;
  };

  DrawnComms() {
    const int rank = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &made_[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, num_ranks - rank, &made_[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made_[2]);
    std::uint64_t seed = 0;
    for (const MPI_Comm comm : {made_[0], made_[1], made_[2], MPI_COMM_WORLD})
      places_.push_back({comm, Random(seed++), Random(100 + static_cast<std::uint64_t>(rank))});
  }
  ~DrawnComms() {
    for (MPI_Comm& comm : made_) MPI_Comm_free(&comm);
  }
  DrawnComms(const DrawnComms&) = delete;
  DrawnComms& operator=(const DrawnComms&) = delete;

  Place& draw() { return places_[choice_.below(static_cast<std::uint32_t>(places_.size()))]; }

 private:
  std::array<MPI_Comm, 3> made_{};
  std::vector<Place> places_;
  Random choice_{7};
};

// Runs `one_call`, which makes a call by chance, with an operation of the program's own.
template <class OneCall>
void oracle(int num_rounds, const OneCall& one_call) {
  MPI_Op user_op;
  MPI_Op_create(own_sum, 1, &user_op);
  {
    DrawnComms comms;
    for (int round = 0; round < num_rounds; ++round)
      one_call(comms.draw(), static_cast<std::uint64_t>(round), user_op);
  }
  MPI_Op_free(&user_op);
}

// Duplicates of MPI_COMM_WORLD that are alive together.
class Duplicates {
 public:
  explicit Duplicates(int number) : comms_(static_cast<std::size_t>(number)) {
    for (MPI_Comm& comm : comms_) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  ~Duplicates() {
    for (MPI_Comm& comm : comms_) MPI_Comm_free(&comm);
  }
  Duplicates(const Duplicates&) = delete;
  Duplicates& operator=(const Duplicates&) = delete;

  const std::vector<MPI_Comm>& comms() const { return comms_; }

 private:
  std::vector<MPI_Comm> comms_;
};

// Runs `use`, which is given a communicator, a round and a seed, in two threads, each with a
// communicator of its own.
template <class Use>
void use_in_threads(int num_rounds, const Use& use) {
  const Duplicates duplicates(2);
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < duplicates.comms().size(); ++i) {
    running.emplace_back([&use, comm = duplicates.comms()[i], i, num_rounds] {
      for (int round = 0; round < num_rounds; ++round)
        use(comm, round, static_cast<std::uint64_t>(round) * 2 + i);
    });
  }
  for (std::thread& thread : running) thread.join();
}

// Rank 0 waits in `wait` for rank 1, whose message is too long to leave without the receiver's
// progress.
template <class Wait>
void receive_meanwhile(const Wait& wait) {
  constexpr int kBytes = 8 << 20;
  const int rank = rank_in(MPI_COMM_WORLD);
  std::vector<char> bytes(kBytes, static_cast<char>(rank));
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Irecv(bytes.data(), kBytes, MPI_CHAR, 1, 9, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Send(bytes.data(), kBytes, MPI_CHAR, 0, 9, MPI_COMM_WORLD);
  wait();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(bytes[0] == 1 || rank != 0);
}

// The program: PROGRAM CASE [NUMBER].
inline int run_program(int argc, char** argv, void (*run_case)(const std::string&, int)) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "threads") {
    init_thread_multiple(argc, argv);
  } else {
    MPI_Init(&argc, &argv);
  }
  run_case(what, rounds(argc, argv, 100));
  MPI_Finalize();
  return 0;
}

}  // namespace hierbar::test
