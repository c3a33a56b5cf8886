// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/record/team_trace.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "mpi/library/pmpi.hpp"
#include "mpi/record/recorder.hpp"
#include "placement/evidence/kernel_cpus.hpp"

namespace hierbar::mpi {
namespace {

// Of a thread: 40 KiB at most; less where a rank has thousands of threads. Even, so that half of
// them is a whole number.
constexpr std::size_t kMostEntries = 1024, kFewestEntries = 16, kMostOfRank = std::size_t{1} << 17;

}  // namespace

TeamTrace::TeamTrace(Recorder& recorder, std::vector<std::uint32_t> threads_of_ranks,
                     std::uint32_t me, bool several_nodes, std::uint64_t every)
    : recorder_(recorder),
      threads_of_ranks_(std::move(threads_of_ranks)),
      me_(me),
      several_nodes_(several_nodes),
      kind_(several_nodes ? report::kTeamBarrierOfNodes : report::kTeamBarrier),
      every_(every),
      first_of_(1, 0),
      most_threads_(*std::max_element(threads_of_ranks_.begin(), threads_of_ranks_.end())),
      most_entries_(std::clamp(kMostOfRank / most_threads_ / 2 * 2, kFewestEntries, kMostEntries)),
      threads_(threads_of_ranks_[me]),
      rows_(recorder.take_rows(threads_of_ranks_[me])) {
  for (const std::uint32_t count : threads_of_ranks_) first_of_.push_back(first_of_.back() + count);
  for (Thread& thread : threads_) {
    thread.stride = every_;
    thread.entries.reserve(most_entries_);
  }
}

TeamTrace::~TeamTrace() { recorder_.give_back_rows(rows_); }

void TeamTrace::set_cpus(std::uint32_t thread) {
  const Result<CpuSet> set = own_cpus();
  if (!set.ok()) return;
  std::string& known = threads_[thread].cpus;
  const std::string cpus = set->to_string();
  known = known.empty() || known == cpus ? cpus : report::kVariousCpus;
}

RankTrace TeamTrace::open(std::uint32_t thread, const void* caller) {
  Entry& entry = threads_[thread].entries.emplace_back(Entry{{}, caller});
  return RankTrace(entry.stamps, recorder_.clock().source());
}

// Entry i is of the episode 1 + i * stride, before and after.
void TeamTrace::close(std::uint32_t thread, std::uint64_t episode, bool leads) {
  Thread& own = threads_[thread];
  if (!rows_.empty()) keep_for_time_line(thread, own.entries.back(), episode, leads);
  if ((episode - 1) % own.stride != 0) {
    own.entries.pop_back();
    own.first = std::min(own.first, own.entries.size());  // the tree may have changed in it
    return;
  }
  if (own.entries.size() < most_entries_) return;
  for (std::size_t i = 0; 2 * i < own.entries.size(); ++i) own.entries[i] = own.entries[2 * i];
  own.entries.resize(own.entries.size() / 2);
  own.first = (own.first + 1) / 2;
  own.stride *= 2;
}

// All messages have the same length in all ranks: each rank has as many rows as the one with most
// threads. So only MPI_Alltoall is needed.
void TeamTrace::settle(const Pmpi& pmpi, MPI_Comm comm, const Places& places,
                       std::uint64_t num_barriers) {
  if (places.outnumbered) recorder_.record_outnumbered();
  const std::unique_ptr<RankTree> tree = gather_tree(pmpi, comm, places);
  Episodes episodes{};
  if (!agree(pmpi, comm, tree != nullptr, episodes)) return;
  const std::size_t num_ranks = threads_of_ranks_.size();
  if (me_ == 0) {
    const std::lock_guard lock(recorder_.mutex());
    recorder_.tables(0).losses.left_out +=
        (num_barriers + every_ - 1) / every_ - (episodes.end - episodes.begin);
  }
  if (episodes.share == 0) return;
  const std::size_t block = most_threads_ * episodes.share;
  std::vector<Stamps> own(block * num_ranks), of_share(own.size());
  for (std::size_t i = episodes.begin; i < episodes.end; ++i) {
    const std::size_t rank = (i - episodes.begin) / episodes.share,
                      place = (i - episodes.begin) % episodes.share;
    for (std::size_t thread = 0; thread < threads_.size(); ++thread)
      own[rank * block + thread * episodes.share + place] = threads_[thread].entries[i].stamps;
  }
  const int stamp_bytes = static_cast<int>(block * sizeof(Stamps));
  const bool stamped = pmpi.Alltoall(own.data(), stamp_bytes, pmpi.byte, of_share.data(),
                                     stamp_bytes, pmpi.byte, comm) == MPI_SUCCESS;
  std::vector<RankTree::Sight> to_others(block * num_ranks), sights(to_others.size());
  if (stamped) summarise(*tree, episodes, of_share, to_others);
  const int sight_bytes = static_cast<int>(block * sizeof(RankTree::Sight));
  const bool seen = pmpi.Alltoall(to_others.data(), sight_bytes, pmpi.byte, sights.data(),
                                  sight_bytes, pmpi.byte, comm) == MPI_SUCCESS;
  if (seen) account(episodes, sights);
  recorder_.checkpoint(pmpi);
}

// Collective. Which entries all threads of all ranks have, under the newest tree of every node.
// False in all ranks if a call has failed in one of them; a rank in which the second call fails
// here assumes that the others are as it is itself.
bool TeamTrace::agree(const Pmpi& pmpi, MPI_Comm comm, bool has_tree, Episodes& episodes) const {
  std::size_t begin = 1, end = std::numeric_limits<std::size_t>::max();
  for (const Thread& thread : threads_) {
    begin = std::max(begin, thread.first);
    end = std::min(end, thread.entries.size());
  }
  const long long own[3] = {-static_cast<long long>(begin), static_cast<long long>(end),
                            has_tree ? 1 : 0};
  long long all[3] = {};
  const bool heard = pmpi.Allreduce(own, all, 3, pmpi.long_long, pmpi.min, comm) == MPI_SUCCESS;
  const long long is_well = heard && all[2] != 0 ? 1 : 0;
  long long are_well = is_well;
  pmpi.Allreduce(&is_well, &are_well, 1, pmpi.long_long, pmpi.min, comm);
  if (are_well == 0) return false;
  episodes.begin = static_cast<std::size_t>(-all[0]);
  episodes.end = std::max(episodes.begin, static_cast<std::size_t>(all[1]));
  const std::size_t num_ranks = threads_of_ranks_.size();
  episodes.share = (episodes.end - episodes.begin + num_ranks - 1) / num_ranks;
  return true;
}

// Collective. Null if the call has failed in this rank.
std::unique_ptr<RankTree> TeamTrace::gather_tree(const Pmpi& pmpi, MPI_Comm comm,
                                                 const Places& places) const {
  constexpr long long kNotMine = std::numeric_limits<long long>::max();
  constexpr int kUnitBits = 8;
  std::vector<long long> own(num_participants() + std::size_t{1}, kNotMine), all(own.size());
  for (const Place& place : places.of_node)
    own[place.participant] = static_cast<long long>(place.parent) << kUnitBits | place.unit;
  if (!places.of_node.empty()) own.back() = places.exchange;
  const int count = static_cast<int>(own.size());
  if (pmpi.Allreduce(own.data(), all.data(), count, pmpi.long_long, pmpi.min, comm) != MPI_SUCCESS)
    return nullptr;
  std::vector<std::uint32_t> parents;
  std::vector<std::uint8_t> units;
  for (const long long value : all) {
    parents.push_back(static_cast<std::uint32_t>(value >> kUnitBits));
    units.push_back(static_cast<std::uint8_t>(value));
  }
  parents.pop_back();
  return std::make_unique<RankTree>(parents, several_nodes_, units);
}

// Computes what each thread is to learn about the episodes of this rank's share.
void TeamTrace::summarise(const RankTree& tree, const Episodes& episodes,
                          const std::vector<Stamps>& stamps,
                          std::vector<RankTree::Sight>& to_others) {
  const std::size_t num_ranks = threads_of_ranks_.size();
  const auto row = [&](std::size_t rank, std::size_t thread) {
    return (rank * most_threads_ + thread) * episodes.share;
  };
  std::vector<Stamps> of_all(num_participants());
  std::vector<RankTree::Sight> sights(num_participants());
  const std::lock_guard lock(recorder_.mutex());
  Recorder::Tables& tables = recorder_.team_tables(participant_of(me_, 0), threads_[0].cpus);
  for (std::size_t i = 0; i < episodes.share && episodes.of_rank(me_) + i < episodes.end; ++i) {
    const void* const caller = threads_[0].entries[episodes.of_rank(me_) + i].caller;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      for (std::uint32_t thread = 0; thread < threads_of_ranks_[rank]; ++thread)
        of_all[participant_of(rank, thread)] = stamps[row(rank, thread) + i];
    }
    report::BarrierTimes& times = tables.barriers.at({caller, kind_, num_participants()});
    times.threads_of_ranks = threads_of_ranks_;
    if (!tree.summarise(of_all, recorder_.clock(), sights, times)) ++tables.losses.backwards;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      for (std::uint32_t thread = 0; thread < threads_of_ranks_[rank]; ++thread)
        to_others[row(rank, thread) + i] = sights[participant_of(rank, thread)];
    }
  }
}

void TeamTrace::account(const Episodes& episodes, const std::vector<RankTree::Sight>& sights) {
  const std::lock_guard lock(recorder_.mutex());
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
    Recorder::Tables& tables =
        recorder_.team_tables(participant_of(me_, thread), threads_[thread].cpus);
    for (std::size_t i = episodes.begin; i < episodes.end; ++i) {
      const std::size_t rank = (i - episodes.begin) / episodes.share,
                        place = (i - episodes.begin) % episodes.share;
      const RankTree::Sight& sight =
          sights[(rank * most_threads_ + thread) * episodes.share + place];
      if (sight.last == 0) continue;
      const Entry& entry = threads_[thread].entries[i];
      report::ThreadTimes& times = tables.threads.at({entry.caller, kind_, num_participants()});
      add_wait(times, entry.stamps, sight, recorder_.clock());
    }
  }
}

void TeamTrace::keep_for_time_line(std::uint32_t thread, const Entry& entry, std::uint64_t episode,
                                   bool leads) {
  report::RawEvent event = entry.stamps.to_event();
  event.team = this;
  event.episode = episode;
  event.me = participant_of(me_, thread);
  event.kind = kind_;
  event.address = entry.caller;
  event.is_leader = leads;
  rows_[thread]->add(event);
}

}  // namespace hierbar::mpi
