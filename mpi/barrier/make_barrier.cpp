// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/make_barrier.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/process.hpp"
#include "mpi/barrier/make_leaders.hpp"
#include "mpi/barrier/offer.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/node/plan_library.hpp"
#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {
namespace {

// Makes the block and the barrier of one node, which take() then hands to the communicator's state.
class BlockMaker {
 public:
  BlockMaker(Agreement& agreement, const std::vector<RankInfo>& records, const NodePart& part)
      : agreement_(agreement), records_(records), part_(part) {}

  // The leader's part: makes the plan, claims the block and clears its own slot. A failure is kept
  // in the agreement. Without a block the offer is empty. If the paper's groups cannot be made, the
  // engine runs in place of `algorithm`.
  Offer offer(Algorithm algorithm) {
    auto image = make_plan_image(bindings(), algorithm);
    if (!image && algorithm == Algorithm::kTopo) {
      if (agreement_.process().claim_first(ProcessState::Message::kStepsAside))
        print_line("algorithm topo cannot be used: " + image.error() + "; hier is used instead");
      algorithm = Algorithm::kHier;
      image = make_plan_image(bindings(), algorithm);
    }
    if (!image) {
      agreement_.fail(Route::kNoPlan, image.error());
      return {};
    }
    const std::optional<ReadPlan> plan =
        ReadPlan::in_place(image->data(), static_cast<std::uint32_t>(part_.ranks.size()));
    Offer offer{};
    offer.algorithm = static_cast<std::uint32_t>(algorithm);
    offer.fencing = static_cast<std::uint32_t>(fencing());
    if (!plan || !claim(plan->plan(), offer)) {
      give_back(offer);
      // Another segment may have room.
      if (offer.is_full != 0 && !part_.is_new) return full();
      agreement_.fail(Route::kSegmentFull,
                      "no shared memory is left for another communicator of " +
                          std::to_string(part_.ranks.size()) +
                          " ranks on one node (HIERBAR_SEGMENT_KIB, or the size of /dev/shm)");
      return {};
    }
    offer.generation = part_.segment->next_generation();
    NodeBarrier::write_image(plan->plan(), peers(), part_.segment->unit(offer.image_unit));
    barrier_ = barrier(*read(offer), offer);
    if (!barrier_->block().clear_slot(0)) no_memory();
    barrier_->block().publish(offer.generation);
    return offer;
  }

  // A member's part: reads the plan and clears its own slot.
  void accept(const Offer& offer) {
    if (offer.num_units == 0) return;  // the leader has failed
    std::optional<ReadPlan> plan = read(offer);
    if (!plan || BarrierBlock::num_units(plan->plan(), static_cast<Algorithm>(offer.algorithm)) !=
                     offer.num_units) {
      return agreement_.fail(Route::kNoPlan, "the plan that another rank made cannot be read");
    }
    auto accepted = barrier(*std::move(plan), offer);
    const std::vector<NodeBarrier::Peer> expected = peers();
    const bool is_same = std::equal(expected.begin(), expected.end(), accepted->peers().begin());
    if (!is_same || !accepted->block().is_of(offer.generation)) {
      return agreement_.fail(Route::kNoSegment, "two ranks do not see the same shared memory");
    }
    if (!accepted->block().clear_slot(part_.me)) return no_memory();
    barrier_ = std::move(accepted);
  }

  void give_back(const Offer& offer) const {
    if (offer.num_image_units != 0)
      part_.segment->units().release(offer.image_unit, offer.num_image_units);
    if (offer.num_units != 0) part_.segment->units().release(offer.first_unit, offer.num_units);
  }

  std::unique_ptr<NodeBarrier> take() { return std::move(barrier_); }

 private:
  static Offer full() {
    Offer offer{};
    offer.is_full = 1;
    return offer;
  }
  void no_memory() {
    agreement_.fail(Route::kSegmentFull,
                    "no memory is left under /dev/shm for another communicator");
  }

  std::vector<Binding> bindings() const {
    std::vector<Binding> bindings;
    for (const std::uint32_t member : part_.members)
      bindings.push_back(part_.segment->member(member).binding);
    return bindings;
  }

  // Writes what it has claimed into the offer, also when it fails half-way.
  bool claim(const hierbar_plan& plan, Offer& offer) const {
    const SegmentAllocator units = part_.segment->units();
    const auto page_bytes = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
    const std::uint32_t num_units =
        BarrierBlock::num_units(plan, static_cast<Algorithm>(offer.algorithm));
    const std::size_t room =
        segment_bytes(agreement_.process().settings, part_.ranks.size()) / NodeSegment::kUnitBytes;
    const std::uint32_t num_image_units = NodeSegment::units_for(NodeBarrier::image_bytes(plan));
    const bool fits_another = num_units + num_image_units <= room;
    const auto block = units.claim(num_units, BarrierBlock::alignment(plan, page_bytes));
    offer.is_full = block || !fits_another ? 0 : 1;
    if (!block) return false;
    offer.first_unit = *block;
    offer.num_units = num_units;
    const auto copy = units.claim(num_image_units, 1);
    offer.is_full = copy || !fits_another ? 0 : 1;
    if (!copy) return false;
    offer.image_unit = *copy;
    offer.num_image_units = num_image_units;
    return part_.segment->populate(offer.image_unit, offer.num_image_units);
  }

  // The engine takes no notice of it where ranks outnumber the cpus.
  Fencing fencing() const {
    const bool all_can = std::all_of(part_.ranks.begin(), part_.ranks.end(), [&](int rank) {
      return (records_[static_cast<std::size_t>(rank)].flags & RankInfo::kCanFence) != 0;
    });
    return all_can ? Fencing::kBySleepers : Fencing::kByWriters;
  }

  std::vector<NodeBarrier::Peer> peers() const {
    std::vector<NodeBarrier::Peer> peers;
    for (std::size_t i = 0; i < part_.ranks.size(); ++i)
      peers.push_back({part_.ranks[i], part_.members[i]});
    return peers;
  }

  std::optional<ReadPlan> read(const Offer& offer) const {
    return ReadPlan::in_place(part_.segment->unit(offer.image_unit),
                              static_cast<std::uint32_t>(part_.ranks.size()));
  }

  std::unique_ptr<NodeBarrier> barrier(ReadPlan plan, const Offer& offer) const {
    const NodeBarrier::Place place{offer.first_unit, offer.image_unit, offer.num_image_units};
    return std::make_unique<NodeBarrier>(std::move(plan), part_.segment, place, part_.me,
                                         static_cast<Algorithm>(offer.algorithm),
                                         static_cast<Fencing>(offer.fencing));
  }

  Agreement& agreement_;
  const std::vector<RankInfo>& records_;
  const NodePart& part_;
  std::unique_ptr<NodeBarrier> barrier_;
};

// Adds the lowest ranks of the nodes whose segment is full. Returns whether there are any.
bool find_full(const NodeMap& map, const std::vector<Offer>& offers, std::vector<int>& full) {
  const std::size_t before = full.size();
  for (const NodeMap::Ranks& ranks : map.nodes()) {
    if (offers[static_cast<std::size_t>(ranks.front())].is_full != 0) full.push_back(ranks.front());
  }
  return full.size() > before;
}

// Whether yields of this process do not reach the other ranks of the node at once.
bool is_scheduled_apart(const NodeSegment& segment) {
  static const bool has_autogroups = read_has_autogroups();
  if (!has_autogroups) return false;
  for (std::uint32_t i = 0; i < segment.num_members(); ++i) {
    if (is_in_other_session(segment.member(i).process.pid)) return true;
  }
  return false;
}

Waiting choose_waiting(const NodeSegment& segment, ProcessState& process, int pauses_per_poll) {
  // Of all ranks on the node, as far as known: those of other communicators want their cpus, too.
  std::vector<Binding> all;
  for (std::uint32_t i = 0; i < segment.num_members(); ++i)
    all.push_back(segment.member(i).binding);
  if (outnumber_cpus(all) && process.states.mark_oversubscribed() && process.settings.verbose) {
    print_line("ranks outnumber cpus now; waits in earlier communicators yield early, too");
  }
  Waiting waiting = process.states.is_oversubscribed() ? Waiting::outnumbered() : Waiting{};
  waiting.pauses_per_poll = pauses_per_poll;
  if (is_scheduled_apart(segment)) waiting.yields_together = kYieldsBeforeSleepApart;
  waiting.watch_ns = process.settings.timeout_ns;
  return waiting;
}

}  // namespace

Route make_barrier(Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map,
                   const NodePart& part, CommState& state, std::vector<int>& full) {
  ProcessState& process = agreement.process();
  const bool several_nodes = map.nodes().size() > 1;
  LeadersMaker leaders(agreement, records, map, part);

  // 1. The node's block.
  BlockMaker maker(agreement, records, part);
  Offer own = part.leads() && !part.is_alone()
                  ? maker.offer(static_cast<Algorithm>(records[0].algorithm))
                  : Offer{};
  if (several_nodes && part.leads()) leaders.offer(own);
  const std::vector<Offer> offers = agreement.exchange(own);
  if (!part.leads() && !agreement.has_failed()) maker.accept(part.from_leader(offers));
  if (!agreement.has_failed() && !prepare_progress(agreement.pmpi(), agreement.comm())) {
    agreement.fail(Route::kSetUpFailed, "the MPI library has no request left for making progress");
  }

  // 2. The verdict. After it every slot is clear, every plan is read, and all ranks have the same
  //    offers.
  Route verdict = agreement.known_failure(part.segment.get());
  if (verdict == Route::kEngine) verdict = agreement.agree(part.segment.get());
  if (verdict == Route::kEngine && find_full(map, offers, full)) verdict = Route::kSegmentFull;

  // 3. The leaders' communicator.
  if (verdict == Route::kEngine && several_nodes) verdict = leaders.make(offers);

  if (verdict != Route::kEngine) {
    maker.give_back(own);
    return verdict;
  }
  state.several_nodes = several_nodes;
  state.node = maker.take();
  state.leaders = leaders.take();
  if (state.node != nullptr)
    state.waiting = choose_waiting(*part.segment, process, process.self(0).pauses_per_poll);
  return verdict;
}

}  // namespace hierbar::mpi
