// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions of hierbar/mpi.h; MPICH's functions for communicators of threads, and
// MPI_Comm_dup, which duplicates them.

#include <mpi.h>

#include <atomic>
#include <string>

#include "hierbar/mpi.h"
#include "mpi/entry/entry_points.hpp"
#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/entry/team_collectives.hpp"
#include "mpi/library/family.hpp"
#include "mpi/settings/settings.hpp"
#include "mpi/team/create_team.hpp"
#include "mpi/team/threadcomm.hpp"

using hierbar::mpi::CommState;
using hierbar::mpi::find_pmpi;
using hierbar::mpi::handle_in;
using hierbar::mpi::HybridTeam;
using hierbar::mpi::Pmpi;
using hierbar::mpi::ProcessState;
using hierbar::mpi::RawHandle;
using hierbar::mpi::Route;
using hierbar::mpi::Teams;

// For an entry point of a program whose MPI library is of another family.
#define HIERBAR_PASS_TO_OTHER_SHIM(name, ...)                               \
  do {                                                                      \
    static void* const other = hierbar::mpi::find_in_other_shim(#name);     \
    return reinterpret_cast<decltype(&hierbar_##name)>(other)(__VA_ARGS__); \
  } while (false)

namespace {

int refuse(int code, const char* function, const char* reason) {
  hierbar::mpi::print_line(std::string(function) + ": " + reason);
  return code;
}

// For what each thread may do wrong in each step: a line the first time.
int refuse_once(std::atomic<bool>& refused, int code, const char* function, const char* reason) {
  // Relaxed: it orders nothing.
  return refused.exchange(true, std::memory_order_relaxed) ? code : refuse(code, function, reason);
}
constexpr const char* kNoTeam = "not a valid team; hierbar_team_create() may have failed";

// `team` may be null, as create_team() wants to know.
int create(const Pmpi& pmpi, MPI_Comm comm, int num_threads, Teams::Handle* team) {
  constexpr const char* kFunction = "hierbar_team_create";
  if (team != nullptr) *team = 0;
  ProcessState& process = ProcessState::get();
  if (comm == pmpi.comm_null) return refuse(MPI_ERR_COMM, kFunction, "comm is MPI_COMM_NULL");
  if (process.keyval() == MPI_KEYVAL_INVALID && !process.make_keyval(pmpi)) {
    return refuse(MPI_ERR_OTHER, kFunction, "MPI is not initialised, or already finalised");
  }
  const CommState* state = nullptr;
  if (process.settings.serves_barriers() && !pmpi.has_user_threads) {
    int status = MPI_SUCCESS;
    state = hierbar::mpi::find_state(process, pmpi, comm, hierbar::mpi::BeforeSetUp::kMustSetUp,
                                     status);
    if (status != MPI_SUCCESS) return status;
    if (state == nullptr)
      return refuse(MPI_ERR_COMM, kFunction, "comm is not a valid communicator");
  }
  int is_between_groups = 0;
  if (!hierbar::mpi::ask([&] { return pmpi.Comm_test_inter(comm, &is_between_groups); }))
    return MPI_ERR_COMM;
  if (is_between_groups != 0)
    return refuse(MPI_ERR_COMM, kFunction, "comm is an intercommunicator");
  const hierbar::mpi::TeamRequest request{
      num_threads, false, kFunction,
      "the threads of each process meet, and the ranks in the MPI library's barrier",
      hierbar::mpi::name_of(pmpi, comm)};
  return hierbar::mpi::create_team(process, pmpi, comm, state, request, team);
}

Teams::Handle* as_handle(hierbar_team* team) { return reinterpret_cast<Teams::Handle*>(team); }
HybridTeam* find(hierbar_team team) noexcept {
  return Teams::get().find(reinterpret_cast<Teams::Handle>(team));
}

}  // namespace

HIERBAR_ENTRY(int, hierbar_team_create, RawHandle comm, int num_threads, hierbar_team* team) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_TO_OTHER_SHIM(hierbar_team_create, comm, num_threads, team);
  return create(*pmpi, handle_in<MPI_Comm>(comm), num_threads, as_handle(team));
}

HIERBAR_ENTRY(int, hierbar_team_create_fortran, const MPI_Fint* comm, int num_threads,
              hierbar_team* team) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr)
    HIERBAR_PASS_TO_OTHER_SHIM(hierbar_team_create_fortran, comm, num_threads, team);
  return create(*pmpi, hierbar::mpi::from_fortran(*pmpi, *comm), num_threads, as_handle(team));
}

HIERBAR_ENTRY(int, hierbar_team_join, hierbar_team team, int thread) {
  if (HybridTeam* const found = find(team)) return found->join(thread);
  if (find_pmpi(__builtin_return_address(0)) == nullptr)
    HIERBAR_PASS_TO_OTHER_SHIM(hierbar_team_join, team, thread);
  static constinit std::atomic<bool> refused{false};
  return refuse_once(refused, MPI_ERR_ARG, "hierbar_team_join", kNoTeam);
}

HIERBAR_ENTRY(int, hierbar_team_barrier, hierbar_team team, int thread) {
  if (HybridTeam* const found = find(team)) {
    return found->is_recorded() ? found->barrier_recorded(thread, __builtin_return_address(0))
                                : found->barrier(thread);
  }
  if (find_pmpi(__builtin_return_address(0)) == nullptr)
    HIERBAR_PASS_TO_OTHER_SHIM(hierbar_team_barrier, team, thread);
  static constinit std::atomic<bool> refused{false};
  return refuse_once(refused, MPI_ERR_ARG, "hierbar_team_barrier", kNoTeam);
}

namespace {

int refuse_no_team(const char* function) {
  static constinit std::atomic<bool> refused{false};
  return refuse_once(refused, MPI_ERR_ARG, function, kNoTeam);
}

// In two families a handle is in Fortran what it is in C, or the library converts it; 0 is no
// handle of the rest.
template <class Handle>
Handle handle_of_fortran(Handle (*convert)(MPI_Fint), MPI_Fint handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return convert != nullptr ? convert(handle) : Handle{};
  } else {
    return static_cast<Handle>(handle);
  }
}

}  // namespace

HIERBAR_ENTRY(int, hierbar_team_allreduce, hierbar_team team, int thread, const void* in, void* out,
              int count, RawHandle type, RawHandle op) {
  const void* const caller = __builtin_return_address(0);
  if (HybridTeam* const found = find(team)) {
    return hierbar::mpi::call_in_team(
        *found, thread,
        hierbar::mpi::TeamAllreduce{in, out, count, handle_in<MPI_Datatype>(type),
                                    handle_in<MPI_Op>(op)},
        caller);
  }
  if (find_pmpi(caller) == nullptr)
    HIERBAR_PASS_TO_OTHER_SHIM(hierbar_team_allreduce, team, thread, in, out, count, type, op);
  return refuse_no_team("hierbar_team_allreduce");
}

HIERBAR_ENTRY(int, hierbar_team_bcast, hierbar_team team, int thread, void* data, int count,
              RawHandle type, int root_rank, int root_thread) {
  const void* const caller = __builtin_return_address(0);
  if (HybridTeam* const found = find(team)) {
    return hierbar::mpi::call_in_team(
        *found, thread,
        hierbar::mpi::TeamBcast{data, count, handle_in<MPI_Datatype>(type), root_rank, root_thread},
        caller);
  }
  if (find_pmpi(caller) == nullptr)
    HIERBAR_PASS_TO_OTHER_SHIM(hierbar_team_bcast, team, thread, data, count, type, root_rank,
                               root_thread);
  return refuse_no_team("hierbar_team_bcast");
}

HIERBAR_ENTRY(int, hierbar_team_allreduce_fortran, hierbar_team team, int thread, const void* in,
              void* out, int count, const MPI_Fint* type, const MPI_Fint* op) {
  const void* const caller = __builtin_return_address(0);
  if (HybridTeam* const found = find(team)) {
    return hierbar::mpi::call_in_team(
        *found, thread,
        hierbar::mpi::TeamAllreduce{in, out, count,
                                    handle_of_fortran(found->pmpi().Type_f2c, *type),
                                    handle_of_fortran(found->pmpi().Op_f2c, *op)},
        caller);
  }
  if (find_pmpi(caller) == nullptr)
    HIERBAR_PASS_TO_OTHER_SHIM(hierbar_team_allreduce_fortran, team, thread, in, out, count, type,
                               op);
  return refuse_no_team("hierbar_team_allreduce");
}

HIERBAR_ENTRY(int, hierbar_team_bcast_fortran, hierbar_team team, int thread, void* data, int count,
              const MPI_Fint* type, int root_rank, int root_thread) {
  const void* const caller = __builtin_return_address(0);
  if (HybridTeam* const found = find(team)) {
    return hierbar::mpi::call_in_team(
        *found, thread,
        hierbar::mpi::TeamBcast{data, count, handle_of_fortran(found->pmpi().Type_f2c, *type),
                                root_rank, root_thread},
        caller);
  }
  if (find_pmpi(caller) == nullptr)
    HIERBAR_PASS_TO_OTHER_SHIM(hierbar_team_bcast_fortran, team, thread, data, count, type,
                               root_rank, root_thread);
  return refuse_no_team("hierbar_team_bcast");
}

HIERBAR_ENTRY(int, hierbar_team_free, hierbar_team* team) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_TO_OTHER_SHIM(hierbar_team_free, team);
  const int status = hierbar::mpi::free_team(ProcessState::get(), *pmpi, as_handle(team));
  if (status == MPI_ERR_ARG) return refuse(status, "hierbar_team_free", kNoTeam);
  if (status != MPI_SUCCESS)
    return refuse(status, "hierbar_team_free", "threads of this process are in the team's barrier");
  return status;
}

using hierbar::mpi::find_pmpi;
using hierbar::mpi::handle_in;
using hierbar::mpi::Pmpi;
using hierbar::mpi::ProcessState;
using hierbar::mpi::RawHandle;

HIERBAR_ENTRY(int, MPIX_Threadcomm_init, RawHandle comm, int num_threads, MPI_Comm* made) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr)
    HIERBAR_PASS_ON(MPIX_Threadcomm_init, PMPIX_Threadcomm_init, comm, num_threads, made);
  if (pmpi->next.Threadcomm_init == nullptr) return MPI_ERR_OTHER;
  if (pmpi->has_user_threads)
    return pmpi->next.Threadcomm_init(handle_in<MPI_Comm>(comm), num_threads, made);
  return hierbar::mpi::init_threadcomm(ProcessState::get(), *pmpi, handle_in<MPI_Comm>(comm),
                                       num_threads, made);
}

HIERBAR_ENTRY(int, MPIX_Threadcomm_start, RawHandle comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPIX_Threadcomm_start, PMPIX_Threadcomm_start, comm);
  if (pmpi->next.Threadcomm_start == nullptr) return MPI_ERR_OTHER;
  return hierbar::mpi::start_threadcomm(*pmpi, handle_in<MPI_Comm>(comm));
}

HIERBAR_ENTRY(int, MPIX_Threadcomm_finish, RawHandle comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPIX_Threadcomm_finish, PMPIX_Threadcomm_finish, comm);
  if (pmpi->next.Threadcomm_finish == nullptr) return MPI_ERR_OTHER;
  return hierbar::mpi::finish_threadcomm(*pmpi, handle_in<MPI_Comm>(comm));
}

HIERBAR_ENTRY(int, MPIX_Threadcomm_free, MPI_Comm* comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPIX_Threadcomm_free, PMPIX_Threadcomm_free, comm);
  if (pmpi->next.Threadcomm_free == nullptr) return MPI_ERR_OTHER;
  return hierbar::mpi::free_threadcomm(ProcessState::get(), *pmpi, comm);
}

HIERBAR_ENTRY(int, MPI_Comm_dup, RawHandle comm, MPI_Comm* made) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Comm_dup, PMPI_Comm_dup, comm, made);
  return hierbar::mpi::duplicate_comm(*pmpi, handle_in<MPI_Comm>(comm), made);
}
