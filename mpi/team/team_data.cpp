// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The pieces of calls with data (HybridTeam).

#include <algorithm>
#include <cstring>
#include <new>

#include "mpi/team/cross_team.hpp"

namespace hierbar::mpi {
namespace {

constexpr std::size_t kRegionBytes = TeamLayout::kRegionBytes;
// A piece of an allreduce around a meeting, in all of the team's threads together: as much as one
// leader sends and folds. A piece has one element at least.
constexpr std::size_t kMostBytesOfMeeting = 1 << 20;
constexpr std::size_t kLargestElementBytes = 2 * sizeof(long double);

constexpr std::size_t words_for(std::size_t bytes) {
  return (bytes + sizeof(long long) - 1) / sizeof(long long);
}

// Either may be null where there are no bytes.
void copy(void* to, const void* from, std::size_t bytes) noexcept {
  copy_bytes(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
}

}  // namespace

// Where the ranks of a node do not come in the order of their numbers, participants are not in the
// order of members, in which the engine's collectives would fold.
void HybridTeam::lay_out_members() {
  first_members_.push_back(0);
  for (const std::uint32_t num_threads : parts_.threads_of_ranks)
    first_members_.push_back(first_members_.back() + num_threads);
  const bool is_in_order = std::is_sorted(
      parts_.ranks.begin(), parts_.ranks.end(),
      [](const TeamRank& one, const TeamRank& other) { return one.comm_rank < other.comm_rank; });
  uses_collectives_ = is_plain_ && is_in_order && parts_.node->first().collectives != nullptr;
  if (parts_.meets) {
    if (first_ == 0) least_.reserve(1);
    return;
  }
  if (uses_collectives_) return;
  for (std::uint64_t episode = 0; episode < 2; ++episode) {
    inputs_[episode].resize(first_members_.back());
    std::uint32_t participant = 0;
    for (const TeamRank& rank : parts_.ranks) {
      for (std::uint32_t thread = 0; thread < rank.num_threads; ++thread) {
        inputs_[episode][member(rank.comm_rank, static_cast<int>(thread))] =
            parts_.node->region(participant++, episode);
      }
    }
  }
}

void HybridTeam::begin_call(std::uint32_t thread, DataCall call) noexcept {
  Seat& seat = seats_[thread];
  seat.is_inside.store(true, std::memory_order_relaxed);
  ++(call == DataCall::kAllreduce ? seat.num_allreduces : seat.num_bcasts);
}

void HybridTeam::end_call(std::uint32_t thread) noexcept {
  seats_[thread].is_inside.store(false, std::memory_order_release);
}

void HybridTeam::count_calls(States& states) const {
  const Seat& seat = seats_[0];
  const bool is_served = parts_.route == Route::kEngine;
  states.count(parts_.route, seat.episode - seat.num_data_episodes);
  states.count_data(DataCall::kAllreduce, is_served, seat.num_allreduces);
  states.count_data(DataCall::kBcast, is_served, seat.num_bcasts);
}

std::size_t HybridTeam::most_bytes_of_allreduce() const noexcept {
  if (!parts_.meets) return kRegionBytes;
  return std::clamp(kMostBytesOfMeeting / first_members_.back(), kLargestElementBytes,
                    kRegionBytes);
}

// ---- the memory ----

// Along another plan the collectives' lines and slots are others. The regions are the same along
// all; with several nodes only some may have a new plan, and the others would not begin again.
bool HybridTeam::has_data(const Seat& seat) const noexcept {
  return uses_collectives_ ? seat.data_plan == seat.plan.number : seat.data_plan != kNoDataPlan;
}

bool HybridTeam::allocate_data(std::uint32_t thread) noexcept {
  const std::uint32_t me = first_ + thread;
  const TeamNode& node = *parts_.node;
  if (me == 0 && !node.populate_shared_regions()) return false;
  if (uses_collectives_) return seats_[thread].plan.collectives->clear(me);
  if (!node.populate_regions(me)) return false;
  if (me != 0 || !parts_.meets) return true;
  try {
    least_.reserve(std::max(first_members_.back() * words_for(most_bytes_of_allreduce()),
                            words_for(kMostBytesOfBcast)));
    inputs_[0].resize(first_members_.back());
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

// In this episode somebody may tell that it has joined, and then there is another plan.
int HybridTeam::prepare_data(std::uint32_t thread, const void* caller) noexcept {
  Seat& seat = seats_[thread];
  while (!has_data(seat)) {
    const std::uint64_t plan = seat.plan.number;
    const std::uint32_t own = allocate_data(thread) ? 0 : kNoDataMemory;
    Crossing crossing{this, &seat, thread};
    const std::uint32_t all =
        cross_with_data(crossing, caller, own, [this](std::uint32_t gathered) noexcept {
          least_.words()[0] = (gathered & kNoDataMemory) != 0 ? 0 : 1;
          const std::uint32_t failed = exchange_words(1);
          const std::uint32_t lacks = least_.words()[0] == 0 ? kNoDataMemory : 0;
          return (gathered & kThreadHasJoined) | failed | lacks;
        });
    if ((all & kTeamMeetingFailed) != 0) return MPI_ERR_OTHER;
    if ((all & kNoDataMemory) != 0) return MPI_ERR_NO_MEM;
    seat.data_plan = plan;
  }
  return MPI_SUCCESS;
}

// ---- the episodes ----

// As cross().
template <class Cross>
std::uint32_t HybridTeam::run_data_episode(Crossing& crossing, Cross&& cross) noexcept {
  Seat& seat = *crossing.seat;
  ++seat.episode;
  ++seat.num_data_episodes;
  const auto cross_and_progress = [&]() noexcept {
    const WaitDuties duties{&poke, &report_overdue, &crossing};
    const std::uint32_t bits =
        cross(seat.plan.is_outnumbered ? outnumbered_ : parts_.waiting, duties);
    if (crossing.thread == 0 && seat.episode % kBarriersPerProgress == 0) [[unlikely]]
      poke(&crossing);
    return bits;
  };
  return run_team_episode(
      turns_, team_mem(), seat.episode, cross_and_progress, [&]() noexcept { renew(crossing); },
      &yield);
}

// A barrier of the team, recorded if its barriers are. `exchange` has the place of its meeting.
template <class Exchange>
std::uint32_t HybridTeam::cross_with_data(Crossing& crossing, const void* caller,
                                          std::uint32_t bits, const Exchange& exchange) noexcept {
  Seat& seat = *crossing.seat;
  const std::uint32_t me = first_ + crossing.thread;
  bits |= take_news(seat);
  const auto run = [&](auto& trace) {
    return run_data_episode(crossing, [&](const Waiting& waiting, const WaitDuties& duties) {
      const PlannedBarrier& barrier = *seat.plan.barrier;
      return parts_.meets ? barrier.cross_around(me, bits, waiting, duties, exchange, trace)
                          : barrier.cross(me, bits, waiting, duties, trace);
    });
  };
  const std::uint64_t episode = seat.episode + 1;
  if (parts_.trace == nullptr || !parts_.trace->is_due(crossing.thread, episode)) {
    NoTrace trace;
    return run(trace);
  }
  const bool leads = parts_.meets ? me == 0 : seat.plan.barrier->plan().nodes[me].parent == me;
  RankTrace trace = parts_.trace->open(crossing.thread, caller);
  const std::uint32_t all = run(trace);
  trace.left();
  parts_.trace->close(crossing.thread, episode, leads);
  return all;
}

// Of least_, among the nodes. Returns payload bits.
std::uint32_t HybridTeam::exchange_words(std::size_t num_words) noexcept {
  const auto exchange = [&]() noexcept {
    if (parts_.leaders == nullptr) return least_.run(pmpi(), nullptr, parts_.comm, num_words);
    const InsideGuard guard;
    return least_.run(pmpi(), parts_.leaders.get(), parts_.comm, num_words);
  };
  return turns_.meet(team_mem(), exchange, &yield) == MPI_SUCCESS ? 0 : kTeamMeetingFailed;
}

// ---- allreduce ----

int HybridTeam::allreduce(std::uint32_t thread, const void* in, void* out, std::size_t count,
                          std::size_t element_bytes, FoldFunction fold,
                          const void* caller) noexcept {
  if (const int status = prepare_data(thread, caller); status != MPI_SUCCESS) return status;
  Seat& seat = seats_[thread];
  const std::uint32_t me = first_ + thread;
  if (uses_collectives_) {
    Crossing crossing{this, &seat, thread, "an allreduce", seat.plan.collectives};
    if (seat.joined.load(std::memory_order_relaxed) != Joined::kNothingNew)
      seat.joined.store(Joined::kAwaitsPlan, std::memory_order_relaxed);
    run_data_episode(crossing, [&](const Waiting& waiting, const WaitDuties& duties) {
      seat.plan.collectives->allreduce(me, waiting, duties, in, out, count, element_bytes, fold);
      return 0U;
    });
    return MPI_SUCCESS;
  }
  const std::size_t bytes = count * element_bytes;
  const std::uint64_t episode = seat.episode + 1;
  copy(parts_.node->region(me, episode), in, bytes);
  Crossing crossing{this, &seat, thread, "an allreduce"};
  const std::uint32_t all =
      cross_with_data(crossing, caller, 0, [&](std::uint32_t gathered) noexcept {
        return gathered | fold_for_all(episode, count, element_bytes, fold);
      });
  if ((all & kTeamMeetingFailed) != 0) return MPI_ERR_OTHER;
  if (parts_.meets) {
    copy(out, parts_.node->shared_region(episode), bytes);
  } else if (count != 0) {
    fold(out, inputs_[episode % 2].data(), first_members_.back(), count);
  }
  return MPI_SUCCESS;
}

// Each member has a place of its own among the words. A leader brings those of its node.
std::uint32_t HybridTeam::fold_for_all(std::uint64_t episode, std::size_t count,
                                       std::size_t element_bytes, FoldFunction fold) noexcept {
  const std::size_t bytes = count * element_bytes;
  const std::size_t num_members = first_members_.back(), words_of_one = words_for(bytes);
  const std::size_t num_words = std::max<std::size_t>(num_members * words_of_one, 1);
  std::fill_n(least_.words(), num_words, LeastOfLeaders::kNothing);
  std::uint32_t participant = 0;
  for (const TeamRank& rank : parts_.ranks) {
    const std::uint32_t first = member(rank.comm_rank, 0);
    for (std::uint32_t i = 0; i < rank.num_threads; ++i, ++participant)
      std::memcpy(least_.words() + (first + i) * words_of_one,
                  parts_.node->region(participant, episode), bytes);
  }
  if (const std::uint32_t failed = exchange_words(num_words); failed != 0) return failed;
  if (count == 0) return 0;
  for (std::size_t i = 0; i < num_members; ++i) inputs_[0][i] = least_.words() + i * words_of_one;
  fold(parts_.node->shared_region(episode), inputs_[0].data(),
       static_cast<std::uint32_t>(num_members), count);
  return 0;
}

// ---- bcast ----

int HybridTeam::bcast(std::uint32_t thread, std::uint32_t root, void* data, std::size_t bytes,
                      const void* caller) noexcept {
  if (const int status = prepare_data(thread, caller); status != MPI_SUCCESS) return status;
  Seat& seat = seats_[thread];
  const std::uint64_t episode = seat.episode + 1;
  std::byte* const shared = parts_.node->shared_region(episode);
  const bool brings =
      root == member(parts_.ranks[parts_.own_rank].comm_rank, static_cast<int>(thread));
  if (brings) copy(shared, data, bytes);
  Crossing crossing{this, &seat, thread, "a bcast"};
  const std::uint32_t all = cross_with_data(
      crossing, caller, 0,
      [&](std::uint32_t gathered) noexcept { return gathered | spread(episode, root, bytes); });
  if ((all & kTeamMeetingFailed) != 0) return MPI_ERR_OTHER;
  if (!brings) copy(data, shared, bytes);
  return MPI_SUCCESS;
}

std::uint32_t HybridTeam::spread(std::uint64_t episode, std::uint32_t root,
                                 std::size_t bytes) noexcept {
  const std::size_t num_words = std::max<std::size_t>(words_for(bytes), 1);
  std::fill_n(least_.words(), num_words, LeastOfLeaders::kNothing);
  std::byte* const shared = parts_.node->shared_region(episode);
  const bool has_root = std::any_of(
      parts_.ranks.begin(), parts_.ranks.end(),
      [&](const TeamRank& rank) { return root - member(rank.comm_rank, 0) < rank.num_threads; });
  if (has_root) std::memcpy(least_.words(), shared, bytes);
  const std::uint32_t failed = exchange_words(num_words);
  if (failed == 0 && !has_root) std::memcpy(shared, least_.words(), bytes);
  return failed;
}

}  // namespace hierbar::mpi
