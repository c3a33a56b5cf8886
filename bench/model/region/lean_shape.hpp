// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "barrier/barrier.hpp"
#include "barrier/pass_on.hpp"
#include "bench/model/region/team_memory.hpp"
#include "plan/plan.h"

namespace hierbar::bench::model {

// A lean region of KMP_BARRIER=hier. The functions are those of stock's patterns (stock_shapes.hpp).
//
// Who releases whom is production source (pass_on.hpp) on a real plan. The accesses themselves are
// C++ over libomp's own types in a program, so these are copies and must be kept like them:
// release() like __kmp_hierbar_release_region() (kmp_hierbar_payload.h), gather() like run_gather()
// (kmp_hierbar_phases.cpp).
template <class Mem>
class LeanShape {
 public:
  using Word = typename Mem::Word;

  // `width`: how many a thread releases of a queue.
  LeanShape(const SimulatedTeam<Mem>& team, const hierbar_plan& plan, std::uint32_t width)
      : team_(team), plan_(plan), width_(width), released_(team.num_threads, 0) {}

  bool release(Mem& mem, std::uint32_t me, Payload& payload) {
    ThreadLines<Word>& own = team_.threads[me];
    if (me != 0) {
      released_[me] += kStateBump;  // b_go is not reset
      if (!await_value(mem, own.release.go, released_[me])) return false;
      payload = {mem.load_relaxed(own.release.payload[0]), mem.load_relaxed(own.release.payload[1])};
    }
    pass_on(*this, me, {width_, width_}, [&](std::uint32_t other) { release_one(mem, other, payload); });
    mem.store_relaxed(own.task.word, 1);  // renew_task()
    return true;
  }

  bool gather(Mem& mem, std::uint32_t me) const {
    mem.load_relaxed(team_.threads[me].task.word);  // the blocktime
    const bool gathers = me == 0 || node(me).num_children != 0;
    const std::uint64_t arrived = gathers ? mem.load_relaxed(team_.lines.arrived.word) + kStateBump : 0;
    for (std::uint32_t i = 0; i < node(me).num_children; ++i) {
      if (!await_value(mem, team_.threads[child(node(me), i)].arrived.word, arrived)) return false;
    }
    if (me != 0) {
      mem.fetch_add(team_.threads[me].arrived.word, kStateBump);
      return true;
    }
    for (std::uint32_t i = 1; i < num_leaders(); ++i) {
      if (!await_value(mem, team_.threads[leader(i)].arrived.word, arrived)) return false;
    }
    mem.store_relaxed(team_.lines.arrived.word, arrived);
    return true;
  }

  // What pass_on() asks.
  const hierbar_plan_node& node(std::uint32_t thread) const { return plan_.nodes[thread]; }
  std::uint32_t child(const hierbar_plan_node& parent, std::uint32_t i) const { return plan_.children[parent.first_child + i]; }
  std::uint32_t num_leaders() const { return plan_.num_leaders; }
  std::uint32_t leader(std::uint32_t i) const { return plan_.leaders[i]; }

 private:
  // __kmp_hierbar_release_one()
  void release_one(Mem& mem, std::uint32_t thread, const Payload& payload) const {
    auto& line = team_.threads[thread].release;
    mem.store_relaxed(line.payload[0], payload.function);
    mem.store_relaxed(line.payload[1], payload.argument);
    mem.fetch_add(line.go, kStateBump);
  }

  SimulatedTeam<Mem> team_;
  hierbar_plan plan_;
  std::uint32_t width_;
  std::vector<std::uint64_t> released_;  // by thread, which keeps it to itself
};

// The halves of the barrier itself, on its own lines: production source. What it hands out are its
// payload bits, so it is a barrier with a place in its middle and no region.
template <class Mem>
class EngineHalves {
 public:
  EngineHalves(const hierbar_plan& plan, void* lines) : barrier_(plan, lines) {}

  bool release(Mem& mem, std::uint32_t me, Payload& payload) const {
    const Crossing crossing = barrier_.release(mem, me, static_cast<std::uint32_t>(payload.function));
    payload = {crossing.bits, crossing.bits};
    return crossing.result == WaitResult::kReleased;
  }
  bool gather(Mem& mem, std::uint32_t me) const {
    return barrier_.gather(mem, me, 0, [](std::uint32_t) {}).result == WaitResult::kReleased;
  }

 private:
  Barrier<Mem> barrier_;
};

}  // namespace hierbar::bench::model
