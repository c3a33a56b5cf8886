// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/before_set_up.hpp"

#include <memory>
#include <string>

#include "mpi/barrier/agreement.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {
namespace {

// Whether the ranks of `comm` are threads. Each of them has attributes of its own in it, and so a
// state of its own.
bool is_of_threads(const Pmpi& pmpi, MPI_Comm comm) {
  int is_threadcomm = 0;
  if (pmpi.Comm_test_threadcomm != nullptr)
    ask([&] { return pmpi.Comm_test_threadcomm(comm, &is_threadcomm); });
  return is_threadcomm != 0;
}

CommState* begin_to_count(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm) {
  auto state = std::make_unique<CommState>();
  state->route = Route::kBeforeSetUp;
  // Not under QuietErrors, which would cost as much as the library's barrier: only a library
  // without memory refuses.
  process.attach(pmpi, comm, state.get());
  return state.release();
}

// A call of the library, in which no watchdog of a node's ranks can look. The handler of an error
// runs behind the watch, because it may never come back.
int watched(const Pmpi& pmpi, MPI_Comm comm, const std::string& what, long timeout_ns,
            const std::function<int()>& call) {
  int rank = 0, num_ranks = 0, status = MPI_SUCCESS;
  ask([&] { return pmpi.Comm_rank(comm, &rank); });
  ask([&] { return pmpi.Comm_size(comm, &num_ranks); });
  {
    const SetUpWatch watch(pmpi, comm, rank, num_ranks,
                           {what, "with another HIERBAR_MPI_SET_UP_AT"}, timeout_ns);
    const QuietErrors quiet(pmpi, comm);
    status = call();
  }
  if (status != MPI_SUCCESS) pmpi.Comm_call_errhandler(comm, status);
  return status;
}

}  // namespace

std::optional<Route> route_by_itself(const Pmpi& pmpi, MPI_Comm comm) {
  int is_between_groups = 0, num_ranks = 0;
  if (!ask([&] { return pmpi.Comm_test_inter(comm, &is_between_groups); })) return std::nullopt;
  if (is_between_groups != 0) return Route::kIntercommunicator;
  if (is_of_threads(pmpi, comm)) return Route::kThreadcomm;
  if (!ask([&] { return pmpi.Comm_size(comm, &num_ranks); })) return std::nullopt;
  return num_ranks == 1 ? Route::kOneRank : Route::kEngine;
}

CommState* state_before_set_up(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm,
                               CommState* state) {
  const std::uint64_t set_up_at = process.settings.set_up_at;
  if (state != nullptr) return num_before_set_up(*state) + 1 < set_up_at ? state : nullptr;
  if (set_up_at == 1 || comm == pmpi.comm_world) return nullptr;
  return route_by_itself(pmpi, comm) == Route::kEngine ? begin_to_count(process, pmpi, comm)
                                                       : nullptr;
}

int cross_before_set_up(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state) {
  // Counted first: whoever leaves the barrier by a jump has been in it.
  count_one(state.num_barriers);
  process.states.count(Route::kBeforeSetUp);
  if (process.settings.timeout_ns == 0) return pmpi.Barrier(comm);
  return watched(pmpi, comm, "barrier " + std::to_string(num_before_set_up(state)),
                 process.settings.timeout_ns, [&] { return pmpi.Barrier(comm); });
}

int pass_on_before_set_up(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state,
                          DataCall kind, const std::function<int()>& call) {
  count_one(state.num_data_calls[index_of(kind)]);  // first, as above
  process.states.count_passed(kind);
  if (process.settings.timeout_ns == 0) return call();
  return watched(pmpi, comm,
                 std::string(name_of(kind)) + " " + std::to_string(num_before_set_up(state)),
                 process.settings.timeout_ns, call);
}

}  // namespace hierbar::mpi
