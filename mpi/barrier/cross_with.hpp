// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/messages.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/library/progress.hpp"

namespace hierbar::mpi {

// The body of cross() and cross_recorded(). These are compiled in two files: in one file the
// compiler would share parts of them that it otherwise inlines, and cross() would grow.

// Payload bit: the leaders' barrier returned an error.
inline constexpr std::uint32_t kMeetingFailed = 1;

// A barrier over several nodes:
//
// 1. The ranks of each node arrive; the node's leader gathers them.
// 2. The leaders meet (between/meeting.hpp).
// 3. The leader releases the ranks of its node. If the meeting failed, the payload bit tells them.
//
// A rank that is alone on its node is a leader without members. Errors are raised on `comm`, which
// the program knows, in every rank of the node. cross_around(meet) is the node's barrier around the
// meeting, and returns its bits.
template <class Trace, class CrossAround>
[[gnu::always_inline]] inline int cross_nodes(CommState& state, const Pmpi& pmpi, MPI_Comm comm,
                                              Trace& trace, CrossAround&& cross_around) {
  int status = MPI_SUCCESS;
  const auto meet = [&]() noexcept {
    const InsideGuard guard;
    status = state.leaders->meet(pmpi);
    return status == MPI_SUCCESS ? 0 : kMeetingFailed;
  };
  if (state.node == nullptr) {
    trace.arrived();
    meet();
    trace.released();
  } else {
    const std::uint32_t bits = cross_around(meet);
    if (bits != 0 && status == MPI_SUCCESS) status = MPI_ERR_OTHER;
  }
  if (status != MPI_SUCCESS) pmpi.Comm_call_errhandler(comm, status);
  return status;
}

// While a rank waits in what `overdue` is about; `report` is its report_overdue().
inline WaitDuties duties_of(Overdue& overdue,
                            decltype(WaitDuties::on_overdue) report = &report_overdue) noexcept {
  const auto poke = [](void*) noexcept {
    make_progress();
    return has_windows();
  };
  return {poke, report, &overdue};
}

// A barrier of the MPI library, or of the baseline that HIERBAR_ALGORITHM names.
template <class Trace>
[[gnu::noinline]] int cross_without_engine(CommState& state, const Pmpi& pmpi, MPI_Comm comm,
                                           Trace& trace) {
  if (state.route != Route::kBaseline) return pmpi.Barrier(comm);
  Overdue overdue{&pmpi, comm, &state};
  const WaitDuties duties = duties_of(overdue);
  if (state.several_nodes) {
    return cross_nodes(state, pmpi, comm, trace, [&](auto& meet) noexcept {
      return state.node->cross_around_by_baseline(state.waiting, duties, meet, trace);
    });
  }
  state.node->cross_by_baseline(state.waiting, duties, trace);
  return MPI_SUCCESS;
}

// Counts the barrier, and has the MPI library, the engine or a baseline serve it.
template <class Trace>
[[gnu::always_inline]] inline int cross_with(CommState& state, const Pmpi& pmpi, MPI_Comm comm,
                                             Trace& trace) {
  count_one(state.num_barriers);
  if (state.route != Route::kEngine) return cross_without_engine(state, pmpi, comm, trace);
  Overdue overdue{&pmpi, comm, &state};
  const WaitDuties duties = duties_of(overdue);
  if (state.several_nodes) {
    return cross_nodes(state, pmpi, comm, trace, [&](auto& meet) noexcept {
      return state.node->cross_around(state.waiting, duties, meet, trace);
    });
  }
  state.node->cross(state.waiting, duties, trace);
  return MPI_SUCCESS;
}

}  // namespace hierbar::mpi
