// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "barrier/collectives.hpp"
#include "barrier/real_mem.hpp"
#include "base/result.hpp"
#include "mpi/node/planned_barrier.hpp"
#include "mpi/node/segment.hpp"
#include "mpi/team/protocols.hpp"
#include "plan/plan.h"

namespace hierbar::mpi {

struct NobodyWaits {};
inline NobodyWaits nobody_waits;

// The memory of a team's words outside the engine. Its waits are loops of their own, so the host
// has nothing to do. CallerTurns and PlanChange are templates over it; the tests run them on
// simulated memory.
using TeamMem = RealMem<NobodyWaits>;
inline TeamMem team_mem() noexcept { return TeamMem(nobody_waits); }

// What the participants of a team on one node share beside their barriers. PlanChange says how the
// words are used.
struct TeamControl {
  // The number of the newest plan. Writer: participant 0.
  alignas(128) TeamMem::Word published;
  // 1: in this plan participants outnumber the cpus. Written before `published`.
  std::uint32_t outnumbered;
  // How many slots were cleared for all plans so far. Writers: all.
  alignas(128) TeamMem::Word cleared;
};
static_assert(sizeof(TeamControl) <= NodeSegment::kUnitBytes);

// Where the parts of a team's segment lie, in units:
//
//     | control | joins, a word each | image of the newest plan | area 0 | area 1 | ...
//     ... regions | shared | data area 0 | data area 1 |
//
// Plan number n uses area n % 2. When it is made, all participants have left the plan before, so
// nobody uses the area of the one before that (docs/design/teams.md#d0130).
//
// The second line is for calls with data (team_data.hpp), and takes no memory before the first of
// them. There are no data areas where participants are too many for the engine's collectives.
struct TeamLayout {
  // Two for each participant, and two for all. Episode number e uses e % 2.
  static constexpr std::size_t kRegionBytes = kPageBytes;
  using Engine = Collectives<RankMem>;

  std::uint32_t num_participants;
  std::uint32_t area_units;
  std::uint32_t data_area_units;
  std::uint32_t joins_unit, image_unit, image_units;
  std::uint32_t areas[2];
  std::uint32_t end_of_areas;
  std::uint32_t regions_unit, shared_unit;
  std::uint32_t data_areas[2];
  std::uint32_t end;

  // Enough for every plan of that many participants.
  static std::size_t image_bytes(std::uint32_t participants) {
    return sizeof(hierbar_plan) +
           participants * (sizeof(hierbar_plan_node) + 2 * sizeof(std::uint32_t));
  }
  // Units of one area: room for each participant's slot, and for the gaps of a plan in which slots
  // of several NUMA nodes do not share a page.
  static std::uint32_t units_of_area(const hierbar_plan& first, std::uint32_t page_bytes) {
    return NodeSegment::units_for(std::size_t{HIERBAR_LINES_PER_SLOT} * first.line_bytes *
                                  most_slots(first, page_bytes));
  }
  // The same for its data area.
  static std::uint32_t units_of_data_area(const hierbar_plan& first, std::uint32_t page_bytes) {
    if (first.num_participants > Engine::kMostParticipants) return 0;
    hierbar_plan largest = first;
    largest.num_slots = most_slots(first, page_bytes);
    return NodeSegment::units_for(Engine::size_bytes(largest));
  }

  // units_per_page: areas begin at pages.
  TeamLayout(std::uint32_t participants, std::uint32_t units_in_area,
             std::uint32_t units_in_data_area, std::uint32_t units_per_page)
      : num_participants(participants),
        area_units(in_pages(units_in_area, units_per_page)),
        data_area_units(in_pages(units_in_data_area, units_per_page)),
        joins_unit(1),
        image_unit(joins_unit +
                   NodeSegment::units_for(participants * sizeof(std::atomic<std::uint32_t>))),
        image_units(NodeSegment::units_for(image_bytes(participants))) {
    areas[0] = in_pages(image_unit + image_units, units_per_page);
    areas[1] = areas[0] + area_units;
    end_of_areas = areas[1] + area_units;
    regions_unit = end_of_areas;
    shared_unit = regions_unit + participants * kUnitsOfRegions;
    data_areas[0] = in_pages(shared_unit + kUnitsOfRegions, units_per_page);
    data_areas[1] = data_areas[0] + data_area_units;
    end = data_areas[1] + data_area_units;
  }

  std::size_t bytes() const { return std::size_t{end} * NodeSegment::kUnitBytes; }

  static constexpr std::uint32_t kUnitsOfRegions = 2 * kRegionBytes / NodeSegment::kUnitBytes;

 private:
  static std::uint32_t in_pages(std::uint32_t units, std::uint32_t units_per_page) {
    return (units + units_per_page - 1) / units_per_page * units_per_page;
  }
  static std::uint32_t most_slots(const hierbar_plan& first, std::uint32_t page_bytes) {
    constexpr std::uint32_t kNumaNodes = 16;
    const std::uint32_t slots_of_page = page_bytes / (HIERBAR_LINES_PER_SLOT * first.line_bytes);
    return std::max(first.num_slots, first.num_participants) +
           std::min(first.num_participants, kNumaNodes) * slots_of_page;
  }
};

// The engine's collectives along one plan of a team, as one process has them. They wait in the
// lines of the plan's barrier.
class TeamCollectives {
 public:
  using Engine = TeamLayout::Engine;

  TeamCollectives(const PlannedBarrier& barrier, std::shared_ptr<NodeSegment> segment,
                  std::uint32_t first_unit) noexcept
      : barrier_(barrier),
        segment_(std::move(segment)),
        first_unit_(first_unit),
        engine_(barrier.plan(), segment_->unit(first_unit), Fencing::kByWriters),
        lines_(segment_->unit(first_unit), barrier.plan().line_bytes) {}

  // Allocates and clears what is this participant's. Returns false if no memory is left.
  bool clear(std::uint32_t me) const noexcept {
    for (const MemoryPart& part : Engine::parts_of(barrier_.plan(), me)) {
      if (!segment_->clear(first_unit_, part.offset, part.bytes)) return false;
    }
    return true;
  }

  template <class Fold>
  WaitResult allreduce(std::uint32_t me, const Waiting& waiting, const WaitDuties& duties,
                       const void* in, void* out, std::size_t count, std::size_t element_bytes,
                       const Fold& fold) const noexcept {
    RankHost host(barrier_.block(), me, waiting, duties);
    RankMem mem(host);
    return engine_.allreduce(mem, me, in, out, count, element_bytes, fold);
  }

  // As BarrierBlock::has_entered().
  bool has_entered(std::uint32_t participant, std::uint32_t observer) const noexcept {
    return mpi::has_entered(barrier_.plan(), lines_, participant, observer);
  }

 private:
  const PlannedBarrier& barrier_;
  std::shared_ptr<NodeSegment> segment_;
  std::uint32_t first_unit_;
  Engine engine_;
  BarrierMemory<RankMem::Word> lines_;
};

// A team's participants on one node: the threads of all its ranks there. They share a
// segment: each publishes its binding there, participant 0 builds the plan from that, and the
// barrier's memory follows.
// One object is one process's view; its threads share it.
//
// The first plan is made with the segment, of the ranks' bindings. Later ones are made in renew(),
// of what the threads have published. Making one cannot fail: if there is no better plan, the one
// before is used again.
class TeamNode {
 public:
  // What the makers of a segment tell those who join it.
  struct Sizes {
    std::uint32_t num_participants;
    std::uint32_t area_units;
    std::uint32_t data_area_units;
  };

  // Makes the first plan, for participants with these bindings, and a segment for them: a shared
  // one, or one for this process only. Where plans cannot be made, only the latter is possible.
  static Result<std::unique_ptr<TeamNode>> create(const std::vector<Binding>& bindings,
                                                  bool is_shared);
  // Joins the segment that another process has made.
  static Result<std::unique_ptr<TeamNode>> join(const std::string& name, std::uint64_t id,
                                                const Sizes& sizes);

  // Allocates the memory of the participants from `begin` to before `end` on the NUMA node of the
  // calling thread, as far as the first plan tells where it is; and then what is left, so that
  // later nobody finds /dev/shm full.
  std::optional<Error> populate(std::uint32_t begin, std::uint32_t end) const;
  std::optional<Error> populate_rest() const;

  NodeSegment& segment() const { return *segment_; }
  Sizes sizes() const {
    return {layout_.num_participants, layout_.area_units, layout_.data_area_units};
  }
  std::uint32_t num_participants() const { return layout_.num_participants; }

  // Publishes the binding of the calling thread as this participant's. The next renew() uses it.
  void publish_binding(std::uint32_t participant) const;
  // Whether what this participant has published last is the calling thread's.
  bool is_binding_published(std::uint32_t participant) const;
  // What all have published last; for one that has not joined, its rank's.
  std::vector<Binding> bindings() const;
  // How often that has happened. Relaxed: for reports.
  std::uint32_t num_joins(std::uint32_t participant) const {
    return joins(participant).load(std::memory_order_relaxed);
  }

  // For calls with data. Allocate a participant's regions, and those for all, on the NUMA node of
  // the calling thread. Return false if no memory is left.
  bool populate_regions(std::uint32_t participant) const {
    return segment_->populate(unit_of_regions(participant), TeamLayout::kUnitsOfRegions);
  }
  bool populate_shared_regions() const {
    return segment_->populate(layout_.shared_unit, TeamLayout::kUnitsOfRegions);
  }
  std::byte* region(std::uint32_t participant, std::uint64_t episode) const {
    return region_at(unit_of_regions(participant), episode);
  }
  std::byte* shared_region(std::uint64_t episode) const {
    return region_at(layout_.shared_unit, episode);
  }

  struct Current {
    const PlannedBarrier* barrier;
    const TeamCollectives* collectives;  // null: too many participants
    std::uint64_t number;                // of the plan
    bool is_outnumbered;
  };
  // The first plan's.
  Current first() const;

  // Replaces the plan. All participants call it with the number of the plan that they have, between
  // two episodes, when all have arrived in the one before: that orders what they published. Calls
  // wait() while it waits for others, which is never long. Prints the new plan's bad settings once.
  template <class Wait>
  Current renew(std::uint32_t me, std::uint64_t number, Wait&& wait) {
    ++number;
    Views next{};
    const auto take = [&] {
      next = view(number);
      next.barrier->block().clear_slot(me);
    };
    const PlanChange<TeamMem> change(control().published, control().cleared, num_participants());
    change.run(
        team_mem(), me, number, [&] { make_plan(); }, take, [&](const TeamMem::Word&) { wait(); });
    return {next.barrier, next.collectives, number, control().outnumbered != 0};
  }

 private:
  TeamNode(std::shared_ptr<NodeSegment> segment, const TeamLayout& layout)
      : segment_(std::move(segment)), layout_(layout) {}

  TeamControl& control() const { return *static_cast<TeamControl*>(segment_->unit(0)); }
  std::atomic<std::uint32_t>& joins(std::uint32_t participant) const {
    return static_cast<std::atomic<std::uint32_t>*>(
        segment_->unit(layout_.joins_unit))[participant];
  }
  void* image() const { return segment_->unit(layout_.image_unit); }
  std::uint32_t unit_of_regions(std::uint32_t participant) const {
    return layout_.regions_unit + participant * TeamLayout::kUnitsOfRegions;
  }
  std::byte* region_at(std::uint32_t first_unit, std::uint64_t episode) const {
    return static_cast<std::byte*>(segment_->unit(first_unit)) +
           episode % 2 * TeamLayout::kRegionBytes;
  }
  bool fits(const hierbar_plan& plan) const;
  bool fits(const std::vector<std::byte>& image) const;
  void make_plan() const;
  // This process's view of the newest plan, which has this number. The first thread to ask makes
  // it.
  struct Views {
    const PlannedBarrier* barrier;
    const TeamCollectives* collectives;
  };
  Views view(std::uint64_t number);
  bool add_view(std::uint64_t number);

  std::shared_ptr<NodeSegment> segment_;
  TeamLayout layout_;
  std::mutex mutex_;  // of those below
  std::array<std::unique_ptr<PlannedBarrier>, 2> views_;
  std::array<std::unique_ptr<TeamCollectives>, 2> collectives_;
  std::uint64_t num_views_ = 0;
};

}  // namespace hierbar::mpi
