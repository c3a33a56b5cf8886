// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPICH's communicators of threads, on the stub: the PMPIX functions that the shim looks for, and
// PMPI_Comm_dup. As in MPICH, the threads of a process get their ranks in the order in which they
// start, each time anew, and have attributes of their own.
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "stub_mpi.hpp"

using namespace hierbar::test;

namespace {

// What the threads of one process have of such a communicator.
struct Crew {
  std::shared_ptr<StubComm> all;   // the threads of all processes
  std::shared_ptr<StubComm> crew;  // those of this process
  int first;                       // rank of this process's first thread in `all`
  int num_started = 0;
};

std::mutex crews_mutex;
std::map<std::pair<const StubProcess*, MPI_Comm>, Crew> crews;

Crew* find_crew(MPI_Comm comm) {
  const std::lock_guard lock(crews_mutex);
  const auto found = crews.find({&here(), comm});
  return found != crews.end() ? &found->second : nullptr;
}

MPI_Comm add_crew(std::shared_ptr<StubComm> all, int first, int num_threads) {
  const MPI_Comm comm = here().add(all, first);
  const std::lock_guard lock(crews_mutex);
  crews[{&here(), comm}] = {std::move(all), std::make_shared<StubComm>(num_threads), first};
  return comm;
}

void drop_crew(MPI_Comm comm) {
  here().drop(comm);
  const std::lock_guard lock(crews_mutex);
  crews.erase({&here(), comm});
}

// The calling thread's number in its process.
int number_in(const Crew& crew, MPI_Comm comm) { return here().find(comm)->rank - crew.first; }

void start(MPI_Comm comm) {
  Crew& crew = *find_crew(comm);
  int number;
  {
    const std::lock_guard lock(crews_mutex);
    number = crew.num_started++ % crew.crew->size;
  }
  crew.crew->exchange(number, {});
  here().seat_thread(comm, crew.all, crew.first + number);
}

// One of the members makes the communicator, and all get it.
std::shared_ptr<StubComm> make_together(const StubProcess::Seat& seat, int size) {
  const auto parts = seat.comm->exchange(
      seat.rank, {{}, seat.rank == 0 ? std::make_shared<StubComm>(size) : nullptr});
  return parts->front().comm;
}

// By all threads of all processes.
MPI_Comm duplicate(MPI_Comm comm) {
  const Crew& crew = *find_crew(comm);
  const StubProcess::Seat& seat = *here().find(comm);
  std::shared_ptr<StubComm> all = make_together(seat, seat.comm->size);
  MPI_Comm made = MPI_COMM_NULL;
  if (seat.rank == crew.first) made = add_crew(std::move(all), crew.first, crew.crew->size);
  const auto handles = seat.comm->exchange(seat.rank, part_of(&made, sizeof(made)));
  made = value_in<MPI_Comm>((*handles)[static_cast<std::size_t>(crew.first)]);
  start(made);
  return made;
}

}  // namespace

int hierbar::test::free_duplicate(MPI_Comm* comm) {
  const Crew& crew = *find_crew(*comm);
  const std::shared_ptr<StubComm> all_threads = crew.crew;
  const int number = number_in(crew, *comm);
  here().unseat_thread(*comm);
  all_threads->exchange(number, {});
  if (number == 0) drop_crew(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

extern "C" {

int PMPIX_Threadcomm_init(MPI_Comm comm, int num_threads, MPI_Comm* made) {
  return here().call("Threadcomm_init", [&] {
    const StubProcess::Seat& seat = *here().find(comm);
    const auto counts = seat.comm->exchange(seat.rank, part_of(&num_threads, sizeof(num_threads)));
    int first = 0, size = 0;
    for (int rank = 0; rank < seat.comm->size; ++rank) {
      if (rank == seat.rank) first = size;
      size += value_in<int>((*counts)[static_cast<std::size_t>(rank)]);
    }
    *made = add_crew(make_together(seat, size), first, num_threads);
    return MPI_SUCCESS;
  });
}

int PMPIX_Threadcomm_start(MPI_Comm comm) {
  return here().call("Threadcomm_start", [&] {
    start(comm);
    return MPI_SUCCESS;
  });
}

int PMPIX_Threadcomm_finish(MPI_Comm comm) {
  return here().call("Threadcomm_finish", [&] {
    const Crew& crew = *find_crew(comm);
    const int number = number_in(crew, comm);
    here().unseat_thread(comm);
    crew.crew->exchange(number, {});
    return MPI_SUCCESS;
  });
}

int PMPIX_Threadcomm_free(MPI_Comm* comm) {
  return here().call("Threadcomm_free", [&] {
    drop_crew(*comm);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  });
}

int PMPIX_Comm_test_threadcomm(MPI_Comm comm, int* flag) {
  return here().call("Comm_test_threadcomm", [&] {
    *flag = find_crew(comm) != nullptr ? 1 : 0;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return here().call("Comm_dup", [&] {
    const StubProcess::Seat& seat = *here().find(comm);
    *made = StubProcess::is_thread_seated(comm)
                ? duplicate(comm)
                : here().add(make_together(seat, seat.comm->size), seat.rank);
    return MPI_SUCCESS;
  });
}

}  // extern "C"
