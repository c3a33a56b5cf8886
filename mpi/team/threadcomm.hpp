// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "mpi/barrier/process_state.hpp"
#include "mpi/team/teams.hpp"

namespace hierbar::mpi {

// MPICH's communicators of threads ("threadcomms"): all threads of all ranks of a communicator are
// their ranks. A program makes one with MPIX_Threadcomm_init, outside of parallel regions; inside
// one, each thread calls MPIX_Threadcomm_start, may duplicate it, and calls MPIX_Threadcomm_finish.
//
// 1. init    Makes a team besides, on a communicator of its own: the threads of two threadcomms may
//            be in barriers at the same time, and the program may free the one that it gave.
// 2. start   The thread takes a number of the team, and gets a seat.
// 3. dup     The duplicate has the same threads, so it gets a seat in the same team: each thread is
//            in one barrier at a time, and all are in the same one.
// 4. finish  The thread leaves its seat.
// 5. free    Ends the team.
//
// Where the engine cannot be used there is no team, in any rank, and the library serves the
// barriers.
class Threadcomm {
 public:
  Threadcomm(Teams::Handle its_team, MPI_Comm comm_of_team, int num_threads)
      : team(its_team), own_comm(comm_of_team), numbers_(static_cast<std::size_t>(num_threads)) {}

  // For the calling thread: the number that it had last if that is free, or any that is free. All
  // return nullopt if there is none.
  std::optional<int> claim_former();
  std::optional<int> claim_any();
  void release(int number);

  const Teams::Handle team;
  MPI_Comm own_comm;  // the team's; the program does not know it

 private:
  struct Number {
    std::thread::id last_owner;
    bool is_taken = false;
  };
  template <class Fits>
  std::optional<int> claim(Fits fits);

  std::mutex mutex_;
  std::vector<Number> numbers_;
};

// Those of this process that a team serves, by handle. Thread-safe.
class Threadcomms {
 public:
  static Threadcomms& get() noexcept;

  void add(MPI_Comm comm, std::shared_ptr<Threadcomm> threadcomm);
  // Null: no team serves it.
  std::shared_ptr<Threadcomm> find(MPI_Comm comm);
  std::shared_ptr<Threadcomm> take_out(MPI_Comm comm);

 private:
  std::mutex mutex_;
  std::map<MPI_Comm, std::shared_ptr<Threadcomm>> by_handle_;
};

// What MPI_Barrier has to know: the calling thread's team and number in it.
struct ThreadcommSeat {
  HybridTeam* team;  // null: no team serves the communicator
  int number;
};
ThreadcommSeat find_seat(MPI_Comm comm) noexcept;

// The MPI functions, for entry points. The library must have them.
int init_threadcomm(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, int num_threads,
                    MPI_Comm* made);
int start_threadcomm(const Pmpi& pmpi, MPI_Comm comm);
int duplicate_comm(const Pmpi& pmpi, MPI_Comm comm, MPI_Comm* made);
int finish_threadcomm(const Pmpi& pmpi, MPI_Comm comm);
int free_threadcomm(ProcessState& process, const Pmpi& pmpi, MPI_Comm* comm);
// The calling thread has freed `comm`, which may have been a duplicate.
void leave_seat(MPI_Comm comm) noexcept;

}  // namespace hierbar::mpi
