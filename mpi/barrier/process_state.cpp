// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/process_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "base/arch/pause.hpp"
#include "base/served_file.hpp"
#include "mpi/barrier/messages.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/library/progress.hpp"

namespace hierbar::mpi {
namespace {

bool is_in_world(const Pmpi& pmpi) {
  int initialised = 0, finalised = 0;
  ask([&] { return pmpi.Initialized(&initialised); });
  ask([&] { return pmpi.Finalized(&finalised); });
  return initialised != 0 && finalised == 0;
}

// Does what MPI_COMM_NULL_COPY_FN does. In some MPI libraries that name is a function of the
// library, and the process must not need a library when it is loaded.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

// `is_last`: no other rank uses the communicator's memory any more.
template <class Memory>
void end(const DataPart<Memory>& part, bool is_last) {
  if (part.memory == nullptr) return;
  if (is_last) part.memory->release();
  ProcessState::give_back_one(ProcessState::get().num_with(part));
}

// Ends the state. This is local, because other ranks may still be leaving the last barrier. Returns
// its share of a leaders' communicator, which the caller must release or keep.
std::shared_ptr<LeaderShare> end(CommState* state) {
  ProcessState& process = ProcessState::get();
  if (state->route != Route::kBeforeSetUp) process.states.remove(state);
  const bool is_last = state->node != nullptr && state->node->detach();
  end(state->collectives, is_last);
  end(state->one_way, is_last);
  std::shared_ptr<LeaderShare> leaders = std::move(state->leaders);
  delete state;
  return leaders;
}

// The delete callback of the communicators' attribute. When the process itself frees the
// communicator, the state is set aside and nothing is done here. Otherwise the communicator is
// being freed past the process's entry points. Ranks that pass through these settle the trace just
// before the library's own call, and this rank does it just inside: all ranks or none. Beside that,
// only local things may be done, as in every callback.
int forget_comm(MPI_Comm comm, int, void* attribute, void* pmpi) {
  auto* state = static_cast<CommState*>(attribute);
  if (state->is_aside) return MPI_SUCCESS;
  if (!ProcessState::get().has_reported())
    settle_trace(*state, *static_cast<const Pmpi*>(pmpi), comm);
  ProcessState::get().leader_comms.keep(end(state));
  return MPI_SUCCESS;
}

// The delete callback of the attribute of MPI_COMM_SELF. MPI works as always while it runs.
int finalize_inside(MPI_Comm, int, void* pmpi, void*) {
  ProcessState::get().world_ends(*static_cast<const Pmpi*>(pmpi));
  return MPI_SUCCESS;
}

}  // namespace

bool is_error_of_comm(const Pmpi& pmpi, int status) {
  int error_class = status;
  pmpi.Error_class(status, &error_class);
  return error_class == MPI_ERR_COMM;
}

ProcessState& ProcessState::get() {
  static ProcessState* const process = new ProcessState;
  return *process;
}

const Self& ProcessState::self(int fake_rank) {
  const std::lock_guard lock(mutex_);
  if (!has_self_) {
    self_ = {random_id(),
             read_node_key(static_cast<std::uint64_t>(fake_rank % settings.num_fake_nodes)),
             measure_pauses_per_poll()};
    has_self_ = true;
  }
  return self_;
}

bool ProcessState::make_keyval(const Pmpi& pmpi) {
  const std::lock_guard lock(mutex_);
  if (keyval() != MPI_KEYVAL_INVALID) return true;
  const bool in_world = is_in_world(pmpi);
  if (!in_world && num_sessions_.load(std::memory_order_relaxed) == 0) return false;
  int made = MPI_KEYVAL_INVALID;
  if (pmpi.Comm_create_keyval(&copy_nothing, forget_comm, &made, const_cast<Pmpi*>(&pmpi)) !=
      MPI_SUCCESS)
    return true;
  if (in_world && !world_has_ended_ &&
      pmpi.Comm_create_keyval(&copy_nothing, finalize_inside, &self_keyval_, nullptr) ==
          MPI_SUCCESS) {
    has_self_attribute_ =
        pmpi.Comm_set_attr(pmpi.comm_self, self_keyval_, const_cast<Pmpi*>(&pmpi)) == MPI_SUCCESS;
  }
  keyval_.store(made, std::memory_order_release);  // (K2) pairs with (K1)
  return true;
}

int ProcessState::find(const Pmpi& pmpi, MPI_Comm comm, CommState*& state) {
  void* attribute = nullptr;
  int found = 0;
  if (const int key = keyval(); key != MPI_KEYVAL_INVALID) {
    const auto get = [&] {
      return pmpi.Comm_get_attr(comm, key, static_cast<void*>(&attribute), &found);
    };
    int status = get();
    // As ask() does, but not where the answer is that there is no such communicator.
    if (status != MPI_SUCCESS && !is_error_of_comm(pmpi, status)) status = get();
    if (status != MPI_SUCCESS) return status;
  }
  state = found != 0 ? static_cast<CommState*>(attribute) : states.take_loose(comm);
  if (found == 0 && state != nullptr) attach(pmpi, comm, state);
  return MPI_SUCCESS;
}

void ProcessState::attach(const Pmpi& pmpi, MPI_Comm comm, CommState* state) {
  const int key = keyval();
  if (key != MPI_KEYVAL_INVALID && pmpi.Comm_set_attr(comm, key, state) == MPI_SUCCESS) return;
  states.add_loose(comm, state);
}

void ProcessState::set_aside(const Pmpi& pmpi, MPI_Comm comm, CommState& state) {
  state.is_aside = true;
  // Before the library can give the handle to another communicator.
  if (state.route != Route::kBeforeSetUp) states.expire_all();
  states.take_loose(comm);
  if (keyval() != MPI_KEYVAL_INVALID) pmpi.Comm_delete_attr(comm, keyval());
}

void ProcessState::put_back(const Pmpi& pmpi, MPI_Comm comm, CommState& state) {
  attach(pmpi, comm, &state);
  // Only now: attach() may replace an attribute that is still there. That runs forget_comm(), which
  // must not end this state.
  state.is_aside = false;
}

void ProcessState::forget(const Pmpi& pmpi, CommState* state) {
  leader_comms.release(pmpi, end(state));
}

int ProcessState::thread_level(const Pmpi& pmpi) const {
  int in_world = 0, level = MPI_THREAD_MULTIPLE;
  ask([&] { return pmpi.Initialized(&in_world); });
  if (pmpi.has_unseen_sessions) return level;
  const int of_sessions = session_level_.load(std::memory_order_relaxed);
  if (in_world == 0) return of_sessions >= 0 ? of_sessions : level;
  ask([&] { return pmpi.Query_thread(&level); });
  return std::max(level, of_sessions);
}

void ProcessState::session_begins(int thread_level) {
  int highest = session_level_.load(std::memory_order_relaxed);
  while (thread_level > highest &&
         !session_level_.compare_exchange_weak(highest, thread_level, std::memory_order_relaxed)) {
  }
  num_sessions_.fetch_add(1, std::memory_order_relaxed);
}

void ProcessState::session_ends(const Pmpi& pmpi) {
  // All communicators of the session have been freed by now, and some may be kept here whose
  // communicators were freed past the process's entry points. Nobody knows of which session they
  // are.
  leader_comms.free_kept(pmpi, 0);
  if (num_sessions_.fetch_sub(1, std::memory_order_relaxed) > 1 || is_in_world(pmpi)) return;
  report(pmpi, /*may_communicate=*/false);
  close(pmpi);
}

void ProcessState::world_ends(const Pmpi& pmpi) {
  if (!is_in_world(pmpi)) return;
  has_self_attribute_ = false;
  world_has_ended_ = true;
  report(pmpi, /*may_communicate=*/true);
  if (num_sessions_.load(std::memory_order_relaxed) == 0) close(pmpi);
}

// After this the MPI library holds nothing of the process's, except the attributes of communicators
// that the program did not free.
void ProcessState::close(const Pmpi& pmpi) {
  leader_comms.free_all(pmpi);
  end_progress(pmpi);
  memberships.clear();
  states.expire_all();
  states.forget_loose();
  const std::lock_guard lock(mutex_);
  // (K2) as well: its release pairs with (K1).
  int key = keyval_.exchange(MPI_KEYVAL_INVALID, std::memory_order_acq_rel);
  if (key != MPI_KEYVAL_INVALID) pmpi.Comm_free_keyval(&key);
  if (self_keyval_ != MPI_KEYVAL_INVALID) pmpi.Comm_free_keyval(&self_keyval_);
}

void ProcessState::report(const Pmpi& pmpi, bool may_communicate) {
  if (reported_) return;
  reported_ = true;
  if (void (*end)(States&) = at_end_.load(std::memory_order_relaxed)) end(states);
  CommState* world = nullptr;
  std::optional<QuietErrors> quiet;
  if (may_communicate) {
    find(pmpi, pmpi.comm_world, world);
    quiet.emplace(pmpi, pmpi.comm_world);
  }
  recorder.finish(pmpi, world != nullptr && world->reports_everywhere);
  num_reported_ = states.counts();
  data_reported_ = states.data_counts();
  add_to_served("mpi", num_reported_, data_reported_);
  const bool in_world = is_in_world(pmpi);
  if (in_world) ask([&] { return pmpi.Comm_rank(pmpi.comm_world, &reported_rank_); });
  std::atexit([] { ProcessState::get().report_rest(); });
  if (!settings.verbose) return;
  print_report(pmpi, {num_reported_, data_reported_}, reported_rank_,
               in_world && world != nullptr && world->verbose_everywhere);
}

void ProcessState::add_to_served(const char* kind, const Counts& counts, const DataCounts& data) {
  const std::uint64_t num_served = counts[static_cast<std::size_t>(Route::kEngine)];
  add_to_served_file(kind, num_served,
                     std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) - num_served);
  for (std::size_t i = 0; i < kNumDataCalls; ++i) {
    if (data[i].served + data[i].passed != 0)
      add_to_served_file(kDataCallsOfMpi[i].kind, data[i].served, data[i].passed);
  }
}

void ProcessState::report_rest() {
  Counts rest = states.counts();
  for (std::size_t route = 0; route < kNumRoutes; ++route) rest[route] -= num_reported_[route];
  DataCounts more = states.data_counts();
  std::uint64_t num_more = std::accumulate(rest.begin(), rest.end(), std::uint64_t{0});
  for (std::size_t i = 0; i < kNumDataCalls; ++i) {
    more[i].served -= data_reported_[i].served;
    more[i].passed -= data_reported_[i].passed;
    num_more += more[i].served + more[i].passed;
  }
  if (num_more == 0) return;
  add_to_served(kMoreOfMpi, rest, more);
  if (settings.verbose) print_rest({rest, more}, reported_rank_);
}

}  // namespace hierbar::mpi
