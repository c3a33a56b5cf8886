// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/entry/allreduce.hpp"

#include "mpi/barrier/before_set_up.hpp"
#include "mpi/barrier/cross_with.hpp"
#include "mpi/barrier/make_collectives.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/library/family.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/reduction/reduction.hpp"
#include "mpi/team/threadcomm.hpp"

namespace hierbar::mpi {
namespace {

// Of those that the engine has served.
constinit thread_local LastComm last_of_allreduces;

int call_library(const Pmpi& pmpi, MPI_Comm comm, const AllreduceCall& call) {
#ifdef HIERBAR_HEADER_HAS_LARGE_COUNTS
  if (call.is_large)
    return pmpi.Allreduce_c(call.in, call.out, call.count, call.type, call.op, comm);
#endif
  return pmpi.Allreduce(call.in, call.out, static_cast<int>(call.count), call.type, call.op, comm);
}

[[gnu::noinline]] int pass_on(const Pmpi& pmpi, MPI_Comm comm, const AllreduceCall& call) {
  ProcessState::get().states.count_passed_allreduce();
  return call_library(pmpi, comm, call);
}

// By this rank's own arguments. If not, they are wrong, and the others wait as they would without
// the shim.
bool has_good_buffers(const AllreduceCall& call) noexcept {
  const void* const in = call.in;
  return in != nullptr && call.out != nullptr && call.out != MPI_IN_PLACE &&
         (in != call.out || (call.count == 1 && kTakesOneElementTwice));
}

static_assert(NodeCollectives::kMostBytes <= kMostPairBytes, "cross_without_gaps()");

// Progress comes behind, where it holds up this rank alone.
int serve(CommState& state, const Pmpi& pmpi, MPI_Comm comm, const AllreduceCall& call,
          const Reduction& reduction) {
  const std::uint64_t number = count_one(state.num_allreduces);
  Overdue overdue{&pmpi, comm, &state};
  const WaitDuties duties = duties_of(overdue, &report_overdue_allreduce);
  const void* const in = call.in == MPI_IN_PLACE ? call.out : call.in;
  const auto count = static_cast<std::size_t>(call.count);
  // It is always released: if a rank has died, MPI's launcher ends the program.
  cross_without_gaps(reduction, in, call.out, count, [&](const void* from, void* to) {
    return state.collectives->allreduce(state.waiting, duties, from, to, count,
                                        reduction.element_bytes, reduction);
  });
  if (number % kBarriersPerProgress == 0) [[unlikely]]
    make_progress();
  return MPI_SUCCESS;
}

// The state of a communicator whose allreduces the engine serves, which is made ready for that if
// it was not. Null: the library is to serve the call, or has served it; `status` is its status
// then.
CommState* find_ready_state(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm,
                            const AllreduceCall& call, int& status) {
  CommState* const state =
      find_state(process, pmpi, comm, BeforeSetUp::kMayCount, status, "allreduce");
  if (status != MPI_SUCCESS) return nullptr;
  if (state != nullptr && state->route == Route::kBeforeSetUp) {
    status = allreduce_before_set_up(process, pmpi, comm, *state,
                                     [&] { return call_library(pmpi, comm, call); });
    return nullptr;
  }
  if (state != nullptr && state->data_route == DataRoute::kUndecided) {
    forget_last_allreduce();
    make_collectives(process, pmpi, comm, *state);
  }
  if (state != nullptr && state->data_route == DataRoute::kEngine) return state;
  status = pass_on(pmpi, comm, call);
  return nullptr;
}

// On a communicator that is not the thread's last one.
[[gnu::noinline]] int allreduce_elsewhere(const Pmpi& pmpi, MPI_Comm comm,
                                          const AllreduceCall& call, const Reduction& reduction) {
  ProcessState& process = ProcessState::get();
  if (InsideGuard::is_held() || pmpi.has_user_threads || find_seat(comm).team != nullptr)
    return pass_on(pmpi, comm, call);
  const std::uint64_t num_removals = process.states.num_removals();
  int status = MPI_SUCCESS;
  CommState* const state = find_ready_state(process, pmpi, comm, call, status);
  if (state == nullptr) return status;
  if (process.has_send_buffer()) {
    status = serve(*state, pmpi, comm, call, reduction);
    free_send_buffer();
    return status;
  }
  last_of_allreduces = {comm, state, num_removals};
  return serve(*state, pmpi, comm, call, reduction);
}

}  // namespace

bool serves_allreduces() noexcept { return ProcessState::get().settings.serves_collectives(); }

int allreduce(const Pmpi& pmpi, MPI_Comm comm, const AllreduceCall& call) {
  const Reduction* const reduction = find_reduction(pmpi, call.type, call.op);
  if (reduction == nullptr ||
      !is_small(call.count, reduction->element_bytes, NodeCollectives::kMostBytes) ||
      !has_good_buffers(call))
    return pass_on(pmpi, comm, call);
  const LastComm& last = last_of_allreduces;
  if (!last.is(comm, ProcessState::get().states))
    return allreduce_elsewhere(pmpi, comm, call, *reduction);
  return serve(*last.state, pmpi, comm, call, *reduction);
}

void forget_last_allreduce() noexcept { last_of_allreduces.state = nullptr; }

}  // namespace hierbar::mpi
