// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/entry/mpi_barrier.hpp"

#include <utility>

#include "mpi/barrier/before_set_up.hpp"
#include "mpi/barrier/messages.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/barrier/set_up.hpp"
#include "mpi/entry/collectives.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/settings/report_settings.hpp"
#include "mpi/team/threadcomm.hpp"

namespace hierbar::mpi {
namespace {

constinit thread_local LastComm last_of_barriers;

int pass_on(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, Route route) {
  process.states.count(route);
  return pmpi.Barrier(comm);
}

// On a communicator of threads. `address` is null where nothing is recorded.
int cross_threadcomm(const Pmpi& pmpi, MPI_Comm comm, const ThreadcommSeat& seat,
                     const void* address) {
  HybridTeam& team = *seat.team;
  const int status = address != nullptr && team.is_recorded()
                         ? team.barrier_recorded(seat.number, address)
                         : team.barrier(seat.number);
  if (status != MPI_SUCCESS) pmpi.Comm_call_errhandler(comm, status);
  return status;
}

// `cross` is called with the communicator's state. Progress comes behind the barrier, where it
// holds up this rank alone.
template <class Cross>
[[gnu::always_inline]] inline int cross_and_progress(CommState& state, Cross cross) {
  // Read before: an error handler may free the communicator, and with it the state.
  const std::uint64_t num_before = state.num_barriers.load(std::memory_order_relaxed);
  const int status = cross(state);
  if (num_before % kBarriersPerProgress == kBarriersPerProgress - 1) [[unlikely]] {
    make_progress();
  }
  return status;
}

// What comes before a barrier on a communicator that is not the thread's last one. It is all that
// other barriers need not ask.
template <class Cross>
[[gnu::noinline]] int barrier_elsewhere(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm,
                                        const void* address, Cross cross) {
  if (InsideGuard::is_held()) return pass_on(process, pmpi, comm, Route::kNested);
  if (!process.settings.serves_barriers()) return pass_on(process, pmpi, comm, Route::kOff);
  if (pmpi.has_user_threads) return pass_on(process, pmpi, comm, Route::kUserThreads);
  const std::uint64_t num_removals = process.states.num_removals();
  if (const ThreadcommSeat seat = find_seat(comm); seat.team != nullptr)
    return cross_threadcomm(pmpi, comm, seat, address);
  int status = MPI_SUCCESS;
  CommState* const state = find_state(process, pmpi, comm, BeforeSetUp::kMayCount, status);
  if (status != MPI_SUCCESS) {
    process.states.count(Route::kOutside);
    return status;
  }
  if (state == nullptr) return pass_on(process, pmpi, comm, Route::kOutside);
  if (state->route == Route::kBeforeSetUp) return cross_before_set_up(process, pmpi, comm, *state);
  if (process.has_send_buffer()) {
    status = cross_and_progress(*state, cross);
    free_send_buffer();
    return status;
  }
  last_of_barriers = {comm, state, num_removals};
  return cross_and_progress(*state, cross);
}

template <class Cross>
[[gnu::always_inline]] inline int barrier_with(const Pmpi& pmpi, MPI_Comm comm, const void* address,
                                               Cross cross) {
  ProcessState& process = ProcessState::get();
  // Read once: in a library that may be loaded late, each access to a thread_local is a function
  // call.
  const LastComm& last = last_of_barriers;
  if (!last.is(comm, process.states)) return barrier_elsewhere(process, pmpi, comm, address, cross);
  return cross_and_progress(*last.state, cross);
}

}  // namespace

void free_send_buffer() noexcept {
  constexpr int kNumCalls = 4;  // each of them handles at most 31 pieces of messages
  for (int call = 0; call < kNumCalls; ++call) make_progress();
}

CommState* find_state(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, BeforeSetUp before,
                      int& status, const char* call) {
  status = MPI_SUCCESS;
  if (comm == pmpi.comm_null ||
      (process.keyval() == MPI_KEYVAL_INVALID && !process.make_keyval(pmpi)))
    return nullptr;
  CommState* state = nullptr;
  const int found = process.find(pmpi, comm, state);
  if (found != MPI_SUCCESS) {
    if (is_error_of_comm(pmpi, found)) status = found;
    return nullptr;
  }
  if (state != nullptr && state->route != Route::kBeforeSetUp) return state;
  if (state == nullptr) report_problems(process, pmpi, comm);
  if (before == BeforeSetUp::kMayCount) {
    if (CommState* const counting = state_before_set_up(process, pmpi, comm, state))
      return counting;
  }
  // So that a call that the library makes in the set-up is found to be one.
  last_of_barriers.state = nullptr;
  forget_last_collective();
  return set_up(process, pmpi, comm, call, state);
}

const void*& program_place() noexcept {
  static thread_local const void* place = nullptr;
  return place;
}

const void* take_program_place(const void* caller) noexcept {
  const void* const place = std::exchange(program_place(), nullptr);
  return place != nullptr ? place : caller;
}

int barrier(const Pmpi& pmpi, MPI_Comm comm) {
  return barrier_with(pmpi, comm, nullptr,
                      [&](CommState& state) { return cross(state, pmpi, comm); });
}

int recorded_barrier(const Pmpi& pmpi, MPI_Comm comm, const void* address) {
  return barrier_with(pmpi, comm, address,
                      [&](CommState& state) { return cross_recorded(state, pmpi, comm, address); });
}

int barrier_as_asked(const Pmpi& pmpi, MPI_Comm comm, const void* caller) {
  return report_settings().asked ? recorded_barrier(pmpi, comm, caller) : barrier(pmpi, comm);
}

}  // namespace hierbar::mpi
