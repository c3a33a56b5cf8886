// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/entry/mpi_barrier.hpp"

#include "mpi/library/progress.hpp"
#include "mpi/setup/process_state.hpp"
#include "mpi/setup/set_up.hpp"
#include "mpi/team/threadcomm.hpp"

namespace hierbar::mpi {
namespace {

// What a thread remembers between two barriers.
struct Caller {
  bool inside = false;  // of a barrier of ours
  // The communicator of the thread's last barrier and its state, so that the library need not be
  // asked again (docs/decisions/0031). Both are valid while num_removals is the current number. MPI
  // reuses a handle only after a free, and a free raises the number before it. The thread that uses
  // the handle again sees the new number: the program itself has ordered this use after the free.
  MPI_Comm comm;
  CommState* state = nullptr;
  std::uint64_t num_removals = 0;
};

thread_local Caller this_thread;

int pass_on(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, Route route) noexcept {
  process.states.count(route);
  return pmpi.Barrier(comm);
}

// On a communicator of threads. `address` is null where nothing is recorded.
int cross_threadcomm(const Pmpi& pmpi, MPI_Comm comm, const ThreadcommSeat& seat, const void* address) noexcept {
  Team& team = *seat.team;
  const int status =
      address != nullptr && team.is_recorded() ? team.barrier_recorded(seat.number, address) : team.barrier(seat.number);
  if (status != MPI_SUCCESS) pmpi.Comm_call_errhandler(comm, status);
  return status;
}

// After a barrier of a process that has a buffer for MPI_Bsend. Open MPI frees the space of a
// message when it makes progress and finds that the message has arrived. MPI_Bsend itself does not
// look, and fails where the buffer is full. The library's own barrier makes progress, so ours must
// do that too (docs/decisions/0159).
[[gnu::noinline]] void free_send_buffer() noexcept {
  constexpr int kNumCalls = 4;  // each of them handles at most 31 pieces of messages
  for (int call = 0; call < kNumCalls; ++call) make_progress();
}

// `cross` is called with the communicator's state.
template <class Cross>
[[gnu::always_inline]] inline int barrier_with(const Pmpi& pmpi, MPI_Comm comm, const void* address, Cross cross) noexcept {
  ProcessState& process = ProcessState::get();
  // Read once: in a library that may be loaded late, each access to a thread_local is a function
  // call.
  Caller& caller = this_thread;
  if (caller.inside) return pass_on(process, pmpi, comm, Route::kNested);
  if (!process.settings.enabled) return pass_on(process, pmpi, comm, Route::kOff);
  const InsideGuard guard(caller.inside);
  const std::uint64_t num_removals = process.states.num_removals();
  if (caller.state == nullptr || caller.comm != comm || caller.num_removals != num_removals) {
    // Here, so that barriers of ordinary communicators need not ask.
    if (const ThreadcommSeat seat = find_seat(comm); seat.team != nullptr) return cross_threadcomm(pmpi, comm, seat, address);
    CommState* const state = find_state(process, pmpi, comm);
    if (state == nullptr) return pass_on(process, pmpi, comm, Route::kOutside);
    if (process.has_send_buffer()) {
      const int status = cross(*state);
      free_send_buffer();
      return status;
    }
    caller.comm = comm;
    caller.state = state;
    // The number was read before the state was found. So a removal in between makes this entry
    // invalid.
    caller.num_removals = num_removals;
  }
  return cross(*caller.state);
}

}  // namespace

InsideGuard::InsideGuard() noexcept : InsideGuard(this_thread.inside) {}

CommState* find_state(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  if (comm == pmpi.comm_null || (process.keyval() == MPI_KEYVAL_INVALID && !process.make_keyval(pmpi))) return nullptr;
  CommState* state = nullptr;
  if (!process.find(pmpi, comm, state)) return nullptr;
  return state != nullptr ? state : set_up(process, pmpi, comm);
}

int barrier(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  return barrier_with(pmpi, comm, nullptr, [&](CommState& state) noexcept { return cross(state, pmpi, comm); });
}

int recorded_barrier(const Pmpi& pmpi, MPI_Comm comm, const void* address) noexcept {
  return barrier_with(pmpi, comm, address, [&](CommState& state) noexcept { return cross_recorded(state, pmpi, comm, address); });
}

}  // namespace hierbar::mpi
