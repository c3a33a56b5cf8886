// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/team/team.hpp"

namespace hierbar::mpi {

// The teams of this process, by handle. A handle is the number of a place in the table and of a use
// of that place, so that one which has been freed is no team, whatever is in its place now.
//
// find() is for any thread. A team ends only when none of its threads is in a barrier; a thread
// that uses a handle while another one frees it uses it wrongly.
class Teams {
 public:
  using Handle = std::uintptr_t;  // 0: none
  static constexpr std::size_t kMost = 1024;

  static Teams& get() noexcept;

  // Null: no such team.
  HybridTeam* find(Handle handle) const noexcept {
    if (handle == 0) return nullptr;
    const Place& place = places_[handle % kMost];
    // (H1) load-acquire; pairs with (H2), the release of a team that is ready.
    const bool is_ready = place.handle.load(std::memory_order_acquire) == handle;  // (H1)
    return is_ready ? place.team.get() : nullptr;
  }

  bool is_full() const;
  // Requires that it is not full. Only create_team() adds teams, one at a time in a process that
  // orders its collective calls.
  Handle add(std::unique_ptr<HybridTeam> team);
  std::unique_ptr<HybridTeam> remove(Handle handle);

  // The communicator has been freed. Its teams are of no use any more.
  void lose_comm(MPI_Comm comm);
  // MPI ends, and all teams with it. Their barriers are counted in `states`.
  void end_all(States& states);

 private:
  struct Place {
    std::atomic<Handle> handle{0};  // 0: free
    std::unique_ptr<HybridTeam> team;
    Handle num_uses = 0;
  };

  mutable std::mutex mutex_;  // of changes
  // Relaxed: a program orders what it does with one communicator.
  std::atomic<int> num_teams_{0};
  std::array<Place, kMost> places_;
};

// Never destroyed: MPI may be used until the very end of the process. And made before any code
// runs, so that get() has nothing to ask.
union TeamsForever {
  Teams teams;
  constexpr TeamsForever() : teams() {}
  ~TeamsForever() {}
};
[[gnu::visibility("hidden")]] extern TeamsForever all_teams;

inline Teams& Teams::get() noexcept { return all_teams.teams; }

// MPI_Comm_free or MPI_Comm_disconnect, as `free` says, and the end of what we know about the
// communicator. Collective, as they are.
int free_comm(const Pmpi& pmpi, MPI_Comm* comm, int (*free)(MPI_Comm*));

}  // namespace hierbar::mpi
