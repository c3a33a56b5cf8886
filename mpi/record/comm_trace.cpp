// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/record/comm_trace.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/node/rank_host.hpp"
#include "mpi/record/recorder.hpp"

namespace hierbar::mpi {
namespace {

// In barriers. The largest batch takes 40 KiB in each rank.
constexpr std::size_t kFirstBatch = 16, kSmallestBatch = 4, kLargestBatch = 1024;
constexpr std::uint64_t kLongBatch_ns = 1'000'000'000;

std::uint32_t kind_of(bool several_nodes) {
  return several_nodes ? report::kMpiBarrierOfNodes : report::kMpiBarrier;
}

}  // namespace

CommTrace::CommTrace(Recorder& recorder, std::uint64_t id, std::uint32_t me, RankTree tree,
                     std::uint64_t every, MPI_Comm comm)
    : recorder_(recorder),
      id_(id),
      me_(me),
      tree_(std::move(tree)),
      leads_(tree_.leads(me)),
      every_(every),
      comm_(comm),
      batch_(kFirstBatch),
      batch_start_ns_(monotonic_ns()) {
  records_.reserve(batch_);
  recorder_.add(this);
}

CommTrace::~CommTrace() { recorder_.remove(this); }

RankTrace CommTrace::open(const void* caller) {
  Entry& entry = records_.emplace_back(Entry{{}, caller});
  return RankTrace(entry.stamps, recorder_.clock().source());
}

bool CommTrace::is_disturbed(std::size_t episode) const noexcept {
  return episode == 0 && (is_first_batch_ || every_ == 1);
}

// Each rank's share is `share` episodes in a row. All messages have the same length; the last share
// is padded with zeroes. The first element of a message is a header.
//
// All ranks use rank 0's time, so that their next batches are equal. Otherwise they would settle at
// different barriers and wait for each other. Rank 0 sends the time in both calls, in case one of
// them fails in some rank.
void CommTrace::settle(const Pmpi& pmpi, MPI_Comm comm) {
  const QuietErrors quiet(pmpi, comm);
  const std::size_t num_ranks = tree_.num_ranks();
  const std::size_t share = (records_.size() + num_ranks - 1) / num_ranks;
  auto took_ns = static_cast<std::uint64_t>(monotonic_ns() - batch_start_ns_);
  std::vector<Stamps> own((share + 1) * num_ranks), of_share(own.size());
  for (std::size_t rank = 0; rank < num_ranks; ++rank) own[rank * (share + 1)].arrived = took_ns;
  for (std::size_t i = 0; i < records_.size(); ++i)
    own[i / share * (share + 1) + 1 + i % share] = records_[i].stamps;
  const int stamp_bytes = static_cast<int>((share + 1) * sizeof(Stamps));
  const bool stamped = pmpi.Alltoall(own.data(), stamp_bytes, pmpi.byte, of_share.data(),
                                     stamp_bytes, pmpi.byte, comm) == MPI_SUCCESS;

  std::vector<RankTree::Sight> to_others((share + 1) * num_ranks), sights(to_others.size());
  for (std::size_t rank = 0; rank < num_ranks; ++rank) to_others[rank * (share + 1)].last = took_ns;
  if (stamped) summarise(of_share, share, to_others);
  const int sight_bytes = static_cast<int>((share + 1) * sizeof(RankTree::Sight));
  const bool seen = pmpi.Alltoall(to_others.data(), sight_bytes, pmpi.byte, sights.data(),
                                  sight_bytes, pmpi.byte, comm) == MPI_SUCCESS;
  if (seen) account(sights, share);

  if (stamped) took_ns = of_share[0].arrived;
  if (seen) took_ns = sights[0].last;
  batch_ =
      std::clamp(took_ns < kLongBatch_ns ? 2 * batch_ : batch_ / 2, kSmallestBatch, kLargestBatch);
  is_first_batch_ = false;
  records_.clear();
  records_.reserve(batch_);
  recorder_.checkpoint(pmpi);
  batch_start_ns_ = monotonic_ns();
}

// Computes what each rank is to learn about the episodes of this rank's share.
void CommTrace::summarise(const std::vector<Stamps>& stamps, std::size_t share,
                          std::vector<RankTree::Sight>& to_others) {
  const std::size_t num_ranks = tree_.num_ranks();
  std::vector<Stamps> of_all(num_ranks);
  std::vector<RankTree::Sight> sights(num_ranks);
  const std::lock_guard lock(recorder_.mutex());
  Recorder::Tables& tables = recorder_.tables(me_);
  for (std::size_t i = 0; i < share && me_ * share + i < records_.size(); ++i) {
    const std::size_t episode = me_ * share + i;
    if (is_disturbed(episode)) {
      ++tables.losses.left_out;
      continue;
    }
    for (std::size_t rank = 0; rank < num_ranks; ++rank)
      of_all[rank] = stamps[rank * (share + 1) + 1 + i];
    const report::Site site{records_[episode].caller, kind_of(tree_.has_several_nodes()),
                            tree_.num_ranks()};
    if (!tree_.summarise(of_all, recorder_.clock(), sights, tables.barriers.at(site)))
      ++tables.losses.backwards;
    for (std::size_t rank = 0; rank < num_ranks; ++rank)
      to_others[rank * (share + 1) + 1 + i] = sights[rank];
  }
}

void CommTrace::account(const std::vector<RankTree::Sight>& sights, std::size_t share) {
  const std::lock_guard lock(recorder_.mutex());
  Recorder::Tables& tables = recorder_.tables(me_);
  for (std::size_t episode = 0; episode < records_.size(); ++episode) {
    const Entry& entry = records_[episode];
    keep_for_time_line(entry);
    const RankTree::Sight& sight = sights[episode / share * (share + 1) + 1 + episode % share];
    if (sight.last == 0) continue;
    report::ThreadTimes& times =
        tables.threads.at({entry.caller, kind_of(tree_.has_several_nodes()), tree_.num_ranks()});
    add_wait(times, entry.stamps, sight, recorder_.clock());
  }
}

void CommTrace::keep_for_time_line(const Entry& entry) {
  report::RawEvent event = entry.stamps.to_event();
  event.team = this;
  event.episode = ++num_kept_;
  event.me = me_;
  event.kind = kind_of(tree_.has_several_nodes());
  event.address = entry.caller;
  event.is_leader = leads_;
  recorder_.keep(event);
}

}  // namespace hierbar::mpi
