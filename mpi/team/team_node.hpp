// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "mpi/node/planned_barrier.hpp"
#include "mpi/team/plan_change.hpp"
#include "mpi/team/team_layout.hpp"
#include "mpi/team/team_mem.hpp"

namespace hierbar::mpi {

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
  };

  // Makes the first plan, for participants with these bindings, and a segment for them: a shared
  // one, or one for this process only. Where plans cannot be made, only the latter is possible.
  static Result<std::unique_ptr<TeamNode>> create(const std::vector<Binding>& bindings, bool is_shared);
  // Joins the segment that another process has made.
  static Result<std::unique_ptr<TeamNode>> join(const std::string& name, std::uint64_t id, const Sizes& sizes);

  // Allocates the memory of the participants from `begin` to before `end` on the NUMA node of the
  // calling thread, as far as the first plan tells where it is; and then what is left, so that
  // later nobody finds /dev/shm full.
  std::optional<Error> populate(std::uint32_t begin, std::uint32_t end) const;
  std::optional<Error> populate_rest() const;

  NodeSegment& segment() const { return *segment_; }
  Sizes sizes() const { return {layout_.num_participants, layout_.area_units}; }
  std::uint32_t num_participants() const { return layout_.num_participants; }

  // Publishes the binding of the calling thread as this participant's. The next renew() uses it.
  void publish_binding(std::uint32_t participant) const;
  // Whether what this participant has published last is the calling thread's.
  bool is_binding_published(std::uint32_t participant) const;
  // What all have published last; for one that has not joined, its rank's.
  std::vector<Binding> bindings() const;
  // How often that has happened. Relaxed: for reports.
  std::uint32_t num_joins(std::uint32_t participant) const { return joins(participant).load(std::memory_order_relaxed); }

  struct Current {
    const PlannedBarrier* barrier;
    std::uint64_t number;  // of the plan
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
    const PlannedBarrier* next = nullptr;
    const auto take = [&] {
      next = &view(number);
      next->block().clear_slot(me);
    };
    const PlanChange<TeamMem> change(control().published, control().cleared, num_participants());
    change.run(team_mem(), me, number, [&] { make_plan(); }, take, [&](const TeamMem::Word&) { wait(); });
    return {next, number, control().outnumbered != 0};
  }

 private:
  TeamNode(std::shared_ptr<NodeSegment> segment, const TeamLayout& layout) : segment_(std::move(segment)), layout_(layout) {}

  TeamControl& control() const { return *static_cast<TeamControl*>(segment_->unit(0)); }
  std::atomic<std::uint32_t>& joins(std::uint32_t participant) const {
    return static_cast<std::atomic<std::uint32_t>*>(segment_->unit(layout_.joins_unit))[participant];
  }
  void* image() const { return segment_->unit(layout_.image_unit); }
  bool fits(const std::vector<std::byte>& image) const;
  void make_plan() const;
  // This process's view of the newest plan, which has this number. The first thread to ask makes
  // it.
  const PlannedBarrier& view(std::uint64_t number);
  bool add_view(std::uint64_t number);

  std::shared_ptr<NodeSegment> segment_;
  TeamLayout layout_;
  std::mutex mutex_;  // of the two below
  std::array<std::unique_ptr<PlannedBarrier>, 2> views_;
  std::uint64_t num_views_ = 0;
};

}  // namespace hierbar::mpi
