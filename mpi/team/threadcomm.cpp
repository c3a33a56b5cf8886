// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/team/threadcomm.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "mpi/barrier/agreement.hpp"
#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/set_up.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/settings/settings.hpp"
#include "mpi/team/create_team.hpp"
#include "mpi/team/teams.hpp"

namespace hierbar::mpi {
namespace {

constexpr const char* kConsequence = "the MPI library's own barrier is used instead";

// A communicator of threads that the calling thread has started, or a duplicate of one.
struct Started {
  MPI_Comm comm;
  Teams::Handle team;
  int number;
};
thread_local std::vector<Started> started;

std::vector<Started>::iterator find_started(MPI_Comm comm) {
  return std::find_if(started.begin(), started.end(),
                      [&](const Started& one) { return one.comm == comm; });
}

// Collective. A communicator of ours with the ranks of `comm`; null, in all ranks, if one of them
// gets none. Then nobody frees it, because to free it is collective.
MPI_Comm copy_quietly(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm) {
  const QuietErrors quiet(pmpi, comm);
  Agreement agreement(process, pmpi, comm, kConsequence, "MPIX_Threadcomm_init");
  if (agreement.num_ranks() == 0) return pmpi.comm_null;
  const MPI_Comm made = split_quietly(pmpi, comm, 0);
  if (made == pmpi.comm_null)
    agreement.fail(Route::kSetUpFailed,
                   "the MPI library has no communicator left for a threadcomm");
  return agreement.agree(nullptr) == Route::kEngine ? made : pmpi.comm_null;
}

// Its barriers need nothing of the program's communicators. The other routes are failures, or mean
// that the library must do without us.
bool can_serve(Route route) { return route == Route::kEngine || route == Route::kNothingShared; }

void end(ProcessState& process, const Pmpi& pmpi, Teams::Handle team, MPI_Comm comm) {
  free_team(process, pmpi, &team);
  free_comm(pmpi, &comm, pmpi.Comm_free);
}

// Collective. Null, in all ranks: the library serves the barriers.
std::shared_ptr<Threadcomm> make_threadcomm(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm,
                                            int num_threads) {
  if (!process.settings.serves_barriers() || comm == pmpi.comm_null) return nullptr;
  if (process.keyval() == MPI_KEYVAL_INVALID && !process.make_keyval(pmpi)) return nullptr;
  int is_between_groups = 0;
  if (!ask([&] { return pmpi.Comm_test_inter(comm, &is_between_groups); }) ||
      is_between_groups != 0)
    return nullptr;
  const InsideGuard guard;
  MPI_Comm own = copy_quietly(process, pmpi, comm);
  if (own == pmpi.comm_null) return nullptr;
  const CommState* const state = set_up(process, pmpi, own, "barrier");
  // Between start and finish the library lets all threads call it, whatever the thread level.
  const TeamRequest request{num_threads, true, "MPIX_Threadcomm_init", kConsequence,
                            "a threadcomm of " + name_of(pmpi, comm)};
  Teams::Handle handle = 0;
  create_team(process, pmpi, own, state, request, &handle);
  const HybridTeam* const team = Teams::get().find(handle);
  if (team != nullptr && can_serve(team->route()))
    return std::make_shared<Threadcomm>(handle, own, num_threads);
  int rank = 0;
  ask([&] { return pmpi.Comm_rank(own, &rank); });
  if (rank == 0 && process.settings.verbose &&
      process.claim_first(ProcessState::Message::kThreadcomm)) {
    print_line(request.comm_name + ": " + kConsequence + ": " +
               name_of(team != nullptr ? team->route() : Route::kSetUpFailed));
  }
  end(process, pmpi, handle, own);
  return nullptr;
}

}  // namespace

template <class Fits>
std::optional<int> Threadcomm::claim(Fits fits) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(numbers_.begin(), numbers_.end(),
                                  [&](const Number& one) { return !one.is_taken && fits(one); });
  if (found == numbers_.end()) return std::nullopt;
  *found = {std::this_thread::get_id(), true};
  return static_cast<int>(found - numbers_.begin());
}

std::optional<int> Threadcomm::claim_former() {
  return claim([](const Number& one) { return one.last_owner == std::this_thread::get_id(); });
}

std::optional<int> Threadcomm::claim_any() {
  return claim([](const Number&) { return true; });
}

void Threadcomm::release(int number) {
  const std::lock_guard lock(mutex_);
  numbers_[static_cast<std::size_t>(number)].is_taken = false;
}

// Never destroyed: MPI may be used until the very end of the process.
Threadcomms& Threadcomms::get() noexcept {
  static Threadcomms* const all = new Threadcomms;
  return *all;
}

void Threadcomms::add(MPI_Comm comm, std::shared_ptr<Threadcomm> threadcomm) {
  const std::lock_guard lock(mutex_);
  by_handle_.insert_or_assign(comm, std::move(threadcomm));
}

std::shared_ptr<Threadcomm> Threadcomms::find(MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  const auto found = by_handle_.find(comm);
  return found != by_handle_.end() ? found->second : nullptr;
}

std::shared_ptr<Threadcomm> Threadcomms::take_out(MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  const auto node = by_handle_.extract(comm);
  return node.empty() ? nullptr : node.mapped();
}

ThreadcommSeat find_seat(MPI_Comm comm) noexcept {
  const auto found = find_started(comm);
  if (found == started.end()) return {nullptr, 0};
  // The team may be gone: a duplicate outlives the communicator that it was made from.
  return {Teams::get().find(found->team), found->number};
}

int init_threadcomm(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, int num_threads,
                    MPI_Comm* made) {
  // Before the library's own, which may fail in one rank only. In that case the team stays until
  // MPI_Finalize: to end it is collective.
  std::shared_ptr<Threadcomm> threadcomm = make_threadcomm(process, pmpi, comm, num_threads);
  const int status = pmpi.next.Threadcomm_init(comm, num_threads, made);
  if (status == MPI_SUCCESS && threadcomm != nullptr)
    Threadcomms::get().add(*made, std::move(threadcomm));
  return status;
}

// A thread gets the number that it had before, so that the team needs no new plan in each region.
// Those that had one claim it before the library's start, which waits for all threads, and the
// others after it. If the library did not wait, some numbers would change hands, and nothing else.
int start_threadcomm(const Pmpi& pmpi, MPI_Comm comm) {
  const std::shared_ptr<Threadcomm> threadcomm = Threadcomms::get().find(comm);
  std::optional<int> number = threadcomm != nullptr ? threadcomm->claim_former() : std::nullopt;
  const int status = pmpi.next.Threadcomm_start(comm);
  if (threadcomm == nullptr) return status;
  if (status != MPI_SUCCESS) {
    if (number) threadcomm->release(*number);
    return status;
  }
  if (!number) number = threadcomm->claim_any();
  HybridTeam* const team = Teams::get().find(threadcomm->team);
  if (!number || team == nullptr) {
    print_line("MPIX_Threadcomm_start: more threads than MPIX_Threadcomm_init was given");
    return MPI_ERR_OTHER;
  }
  team->take(*number);
  started.push_back({comm, threadcomm->team, *number});
  return MPI_SUCCESS;
}

int duplicate_comm(const Pmpi& pmpi, MPI_Comm comm, MPI_Comm* made) {
  const int status = pmpi.next.Comm_dup(comm, made);
  const auto found = find_started(comm);
  if (status == MPI_SUCCESS && found != started.end())
    started.push_back({*made, found->team, found->number});
  return status;
}

int finish_threadcomm(const Pmpi& pmpi, MPI_Comm comm) {
  const auto found = find_started(comm);
  if (found != started.end()) {
    if (const std::shared_ptr<Threadcomm> threadcomm = Threadcomms::get().find(comm))
      threadcomm->release(found->number);
    started.erase(found);
  }
  return pmpi.next.Threadcomm_finish(comm);
}

void leave_seat(MPI_Comm comm) noexcept {
  const auto found = find_started(comm);
  if (found != started.end()) started.erase(found);
}

int free_threadcomm(ProcessState& process, const Pmpi& pmpi, MPI_Comm* comm) {
  // Before the library can give the handle to another communicator.
  const MPI_Comm freed = comm != nullptr ? *comm : pmpi.comm_null;
  std::shared_ptr<Threadcomm> threadcomm = Threadcomms::get().take_out(freed);
  const int status = pmpi.next.Threadcomm_free(comm);
  if (threadcomm == nullptr) return status;
  if (status == MPI_SUCCESS) {
    end(process, pmpi, threadcomm->team, threadcomm->own_comm);
  } else {
    Threadcomms::get().add(freed, std::move(threadcomm));
  }
  return status;
}

}  // namespace hierbar::mpi
