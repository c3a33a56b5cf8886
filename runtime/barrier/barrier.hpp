// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier_memory.hpp"
#include "barrier/oversubscribed.hpp"
#include "barrier/plan_view.hpp"
#include "barrier/trace_points.hpp"
#include "plan/plan.h"

namespace hierbar {

// The hierarchical barrier. A call runs one episode for one participant, along a plan:
//
//   1. gather    It waits for the arrival of each child, in ascending order.
//   2. arrive    It publishes its own arrival, with the payload bits of its whole subtree.
//   3. exchange  A leader reads the arrivals of all other leaders. There is no root.
//      or wait   Everybody else waits for the release by its parent.
//   4. release   It publishes the release to its children.
//
// If all participants are leaders, steps 2 and 3 are the whole barrier. Two leaders share one line
// (EdgeLine), and the exchange is one line transfer deep; more leaders have a line each.
//
// cross() has three paths. The general one is cross_tree(). The others are:
//   - cross_pair(), for two participants. It looks up nothing in the plan, because the instructions
//     between two transfers cost as much as the transfers (docs/design/engine.md#d0002).
//   - cross_oversubscribed() (oversubscribed.hpp), for plans with crews: participants outnumber
//     cpus, and all are leaders. Steps 2 to 4 are then different.
//
// Requires: in each episode all participants call the same: either cross(), or gather() and then
// release(). Each participant index is used by one thread at a time. Plan and memory outlive the
// barrier, which is a view of both and cheap to make.
//
// Guarantees: a result kReleased means that all participants have arrived, and that everything
// which they wrote before is visible to the caller; of gather() this holds for participant 0 only.
// All functions are noexcept and never allocate. Progress: blocking; every wait is Mem::wait, which
// the host may abort.
//
// Every memory access goes through Mem. So the same source runs on std::atomic (RealMem) and on
// simulated memory with store buffers (the tests). Mem offers
//
//   Word                          a 64-bit atomic
//   load_relaxed, load_acquire, load_seq_cst, store_relaxed, store_release
//   exchange, fetch_or, fetch_add (seq_cst), fetch_or_relaxed, fetch_add_relaxed
//   fence()                       orders earlier stores before later loads (seq_cst)
//   light_fence(), heavy_fence()  as one fence() each, but only towards each other
//                                 (AwaitedWord::announce())
//   fence_streams()               orders earlier non-temporal stores before later stores
//   publish(word, value)          both: fence_streams() and store_release(), or what is as strong
//   wait(AwaitedWord<Mem>&)       -> WaitResult; returns kReleased only if pending.ready()
//   wake(participant)             ends that participant's sleep, if it sleeps
//   can_sleep()                   false: nobody ever calls announce(), so nobody need look for
//                                 sleepers
//   data_to_read(data, bytes)     the address of plain data, which the caller reads, or writes, at
//   data_to_write(data, bytes)    once. Only for collectives.hpp. Simulated memory finds races here
//
// Ordering map. Every access has its number. (A1) to (A4), (W1) and (S1) to (S5) are in
// awaited_word.hpp, (C1) to (C3) in oversubscribed.hpp, (R2), (R4) and (R5) in plan_view.hpp, (E1)
// is in barrier_memory.hpp too. A model checker weakens each of them and finds out what breaks
// (docs/results/model-checking.md). That page also says which orders are stronger than needed, and
// why.
//   (W1) acquire load of an awaited word, in AwaitedWord::ready(). Pairs with (A1), (A2), (R1).
//   (W2) acquire load of a peer's arrival in the exchange. Pairs with (A1), (A2).
//   (R0) seq_cst fence before participant 0 releases. It has published no arrival of its own: on
//        x86 the plain store (R1) could overtake its non-temporal stores.
//   (R1) release store of a release word. Pairs with (W1). It publishes what every participant
//        wrote, which its writer has acquired by (W1), (W2) or (C2).
//   (R3) acquire load of the number of sleepers. Pairs with (S2b), so that waiting_for (S1) is
//        seen.
//   (E1) relaxed accesses to the own epoch: no other participant uses it.
template <class Mem>
class Barrier : protected PlanView<Mem> {
 protected:  // for Collectives
  using View = PlanView<Mem>;
  using View::arrival_sleepers, View::arrived, View::await_others, View::edge_release,
      View::group_release, View::own;
  using View::children_, View::fencing_, View::leaders_, View::nodes_, View::num_leaders_,
      View::one_line_per_group_;
  using View::parity, View::wake_if_waiting_for;

 public:
  using Word = typename Mem::Word;
  using Crossing = hierbar::Crossing;

  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return BarrierMemory<Word>::size_bytes(plan);
  }

  // `lines` holds size_bytes(plan) bytes, zero before the first use and aligned to plan.line_bytes.
  // What the hot path needs is copied, so that it lies together. `fencing` is alike in all
  // participants; with crews it is not used, because who outnumber their cpus often sleep.
  Barrier(const hierbar_plan& plan, void* lines, Fencing fencing = Fencing::kByWriters) noexcept
      : View(plan, lines, fencing) {
    if (plan.num_participants != 2 || plan.num_leaders != 2 || plan.num_crews != 0) return;
    pair_lanes_ = this->lines_.edge(nodes_[0].slot).arrived;
    for (std::uint32_t i = 0; i < 2; ++i) pair_own_[i] = &own(i);
    for (std::uint32_t i = 0; i < 2; ++i) pair_sleepers_[i] = &arrival_sleepers(i);
  }

  // The shape, for hosts that run their own phases along it.
  const hierbar_plan_node& node(std::uint32_t participant) const noexcept {
    return nodes_[participant];
  }
  std::uint32_t child(const hierbar_plan_node& parent, std::uint32_t i) const noexcept {
    return children_[parent.first_child + i];
  }
  std::uint32_t num_leaders() const noexcept { return num_leaders_; }
  std::uint32_t leader(std::uint32_t i) const noexcept { return leaders_[i]; }
  bool is_oversubscribed() const noexcept { return this->num_crews_ != 0; }

  // One whole episode. `bits` (below 1 << kPayloadBits) are combined by OR over all participants.
  // Messages: one line transfer for each tree edge and direction, and k(k-1) between k leaders.
  // Depth: plan.depth. `trace` learns which step happens when (trace_points.hpp).
  template <class Trace = NoTrace>
  Crossing cross(Mem& mem, std::uint32_t me, std::uint32_t bits,
                 const Trace& trace = Trace()) const noexcept {
    trace.arrived();
    if (pair_lanes_ != nullptr) return cross_pair(mem, me, bits, trace);
    return is_oversubscribed() ? cross_oversubscribed<Mem>(*this, mem, me, bits, trace)
                               : cross_tree(mem, me, bits, trace);
  }

  // The first half of an episode, for hosts that do something between the halves. Participant 0
  // returns when all have arrived. All others return right after their arrival, with the bits of
  // their own subtree only. `combine(child)` runs in the parent, in ascending order of the
  // children, after the child's whole subtree has arrived; in participant 0 also for each other
  // leader. After its arrival a participant uses nothing of the barrier, so participant 0 may then
  // free it. That is why arrivals are exchanges here under either Fencing (A1).
  template <class Combine>
  Crossing gather(Mem& mem, std::uint32_t me, std::uint32_t bits,
                  Combine&& combine) const noexcept {
    const Epoch epoch = begin_episode(mem, own(me));
    constexpr Fencing kGather = Fencing::kByWriters;
    if (gather_children(mem, me, epoch, kGather, bits, combine) == WaitResult::kAborted)
      return {WaitResult::kAborted, 0};
    if (me != 0) {
      arrive(mem, me, epoch, kGather, bits, /*others_wait=*/false);
      return {WaitResult::kReleased, bits};
    }
    for (std::uint32_t i = 1; i < num_leaders_; ++i) {
      if (await_arrival(mem, me, leaders_[i], epoch, kGather, bits) == WaitResult::kAborted)
        return {WaitResult::kAborted, 0};
      combine(leaders_[i]);
    }
    return {WaitResult::kReleased, bits};
  }

  // The second half. Participant 0 starts the release with `bits`; the others wait for it and pass
  // it on. All return participant 0's bits. Of `trace` only released() is called.
  template <class Trace = NoTrace>
  Crossing release(Mem& mem, std::uint32_t me, std::uint32_t bits,
                   const Trace& trace = Trace()) const noexcept {
    const Epoch epoch = mem.load_relaxed(own(me).epoch);  // (E1)
    if (me == 0) {
      trace.released();
      mem.fence();  // (R0)
      if (num_leaders_ > 1) release_each(mem, 0, leaders_ + 1, num_leaders_ - 1, epoch, bits);
    } else {
      bits = 0;
      if (await_release(mem, me, epoch, bits, NoTrace{}) == WaitResult::kAborted)
        return {WaitResult::kAborted, 0};
      trace.released();
    }
    release_children(mem, me, epoch, bits);
    return {WaitResult::kReleased, bits};
  }

 private:
  // Steps 2 and 3 of two leaders without children.
  template <class Trace>
  Crossing cross_pair(Mem& mem, std::uint32_t me, std::uint32_t bits,
                      const Trace& trace) const noexcept {
    const std::uint32_t peer = 1 - me;
    OwnLine<Word>& own_line = *pair_own_[me];
    const Epoch epoch = begin_episode(mem, own_line);
    if (publish_arrival(mem, pair_lanes_[me][parity(epoch)], make_word(epoch, bits),
                        *pair_sleepers_[me], fencing_))
      wake_if_waiting_for(mem, peer, me);
    auto pending = awaited_arrival<Mem>(mem, pair_lanes_[peer][parity(epoch)], epoch, peer,
                                        own_line.waiting_for, *pair_sleepers_[peer], fencing_);
    if (await_others(mem, pending, trace) == WaitResult::kAborted) return {WaitResult::kAborted, 0};
    trace.released();
    trace.all_arrived();
    return {WaitResult::kReleased, bits | pending.payload()};
  }

  // Steps 1 to 4. Out of line, as cross_oversubscribed() is: inlined, the two cost cross_pair() 17
  // of 110 ns.
  template <class Trace>
  [[gnu::noinline]] Crossing cross_tree(Mem& mem, std::uint32_t me, std::uint32_t bits,
                                        const Trace& trace) const noexcept {
    const Epoch epoch = begin_episode(mem, own(me));
    if (gather_children(mem, me, epoch, fencing_, bits, combine_of(trace)) == WaitResult::kAborted)
      return {WaitResult::kAborted, 0};
    if (nodes_[me].num_children != 0) trace.gathered();
    arrive(mem, me, epoch, fencing_, bits, /*others_wait=*/true);
    const bool leads = nodes_[me].parent == me;
    const WaitResult result =
        leads ? exchange(mem, me, epoch, bits, trace) : await_release(mem, me, epoch, bits, trace);
    if (result == WaitResult::kAborted) return {result, 0};
    trace.released();
    if (leads) {
      trace.all_arrived();
    } else {
      trace.release_came();
    }
    release_children(mem, me, epoch, bits);
    return {WaitResult::kReleased, bits};
  }

  template <class Trace>
  static auto combine_of(const Trace& trace) noexcept {
    if constexpr (Trace::kMovesData) {
      return [&trace](std::uint32_t child) { trace.subtree_arrived(child); };
    } else {
      return [](std::uint32_t) {};
    }
  }

  // Step 1.
  template <class Combine>
  WaitResult gather_children(Mem& mem, std::uint32_t me, Epoch epoch, Fencing fencing,
                             std::uint32_t& bits, Combine&& combine) const noexcept {
    const hierbar_plan_node& node = nodes_[me];
    for (std::uint32_t i = 0; i < node.num_children; ++i) {
      const std::uint32_t child = children_[node.first_child + i];
      if (await_arrival(mem, me, child, epoch, fencing, bits) == WaitResult::kAborted)
        return WaitResult::kAborted;
      combine(child);
    }
    return WaitResult::kReleased;
  }

  // Waits for (A1) or (A2) of `peer`.
  template <class Trace = NoTrace>
  WaitResult await_arrival(Mem& mem, std::uint32_t me, std::uint32_t peer, Epoch epoch,
                           Fencing fencing, std::uint32_t& bits,
                           const Trace& trace = Trace()) const noexcept {
    auto pending = awaited_arrival<Mem>(mem, arrived(peer, epoch), epoch, peer, own(me).waiting_for,
                                        arrival_sleepers(peer), fencing);
    if (await_others(mem, pending, trace, nodes_[me].num_children) == WaitResult::kAborted)
      return WaitResult::kAborted;
    bits |= pending.payload();
    return WaitResult::kReleased;
  }

  // Step 2. others_wait: all other leaders may sleep for a leader's arrival (exchange). Otherwise
  // only the parent may, or participant 0 for a leader's.
  void arrive(Mem& mem, std::uint32_t me, Epoch epoch, Fencing fencing, std::uint32_t bits,
              bool others_wait) const noexcept {
    if (publish_arrival(mem, arrived(me, epoch), make_word(epoch, bits), arrival_sleepers(me),
                        fencing))
      wake_sleepers(mem, me, nodes_[me].parent, others_wait);
  }

  [[gnu::cold, gnu::noinline]] void wake_sleepers(Mem& mem, std::uint32_t me, std::uint32_t parent,
                                                  bool others_wait) const noexcept {
    this->fence_before_wake(mem);
    if (parent != me) {
      mem.wake(parent);
    } else if (!others_wait) {
      mem.wake(0);
    } else {
      for (std::uint32_t i = 0; i < num_leaders_; ++i) wake_if_waiting_for(mem, leaders_[i], me);
    }
  }

  // Step 3 of a leader.
  template <class Trace>
  WaitResult exchange(Mem& mem, std::uint32_t me, Epoch epoch, std::uint32_t& bits,
                      const Trace& trace) const noexcept {
    if (num_leaders_ == 2)
      return await_arrival(mem, me, leaders_[leaders_[0] == me ? 1 : 0], epoch, fencing_, bits,
                           trace);
    for (std::uint32_t next = 0; next < num_leaders_;) {
      // Read all that are left before waiting for one. The loads are independent, so their misses
      // overlap.
      std::uint32_t missing = num_leaders_;
      std::uint32_t seen = 0;
      for (std::uint32_t i = num_leaders_; i-- > next;) {
        if (leaders_[i] == me) continue;
        // (W2) pairs with (A1), (A2).
        const WordValue word = mem.load_acquire(arrived(leaders_[i], epoch));  // (W2)
        seen |= payload_of(word) & (reached(word, epoch) ? kPayloadMask : 0U);
        if (!reached(word, epoch)) missing = i;
      }
      bits |= seen;
      if (missing == num_leaders_) return WaitResult::kReleased;
      if (next == 0 && nodes_[me].num_children == 0) trace.waiting();
      if (await_arrival(mem, me, leaders_[missing], epoch, fencing_, bits) == WaitResult::kAborted)
        return WaitResult::kAborted;
      next = missing + 1;
    }
    return WaitResult::kReleased;
  }

  // Step 3 of everybody else. Waits for (R1).
  template <class Trace>
  WaitResult await_release(Mem& mem, std::uint32_t me, Epoch epoch, std::uint32_t& bits,
                           const Trace& trace) const noexcept {
    const std::uint32_t parent = nodes_[me].parent;
    const bool leads = parent == me;  // only in release(): participant 0 releases the other leaders
    Release<Word>& line = one_line_per_group_ && !leads ? group_release(parent) : edge_release(me);
    auto pending = AwaitedWord<Mem>::release(mem, line.released, epoch, leads ? 0 : parent,
                                             own(me).waiting_for, line.asleep, fencing_);
    if (await_others(mem, pending, trace, nodes_[me].num_children) == WaitResult::kAborted)
      return WaitResult::kAborted;
    bits |= pending.payload();
    return WaitResult::kReleased;
  }

  // Step 4.
  void release_children(Mem& mem, std::uint32_t me, Epoch epoch,
                        std::uint32_t bits) const noexcept {
    const hierbar_plan_node& node = nodes_[me];
    const std::uint32_t* children = children_ + node.first_child;
    if (node.num_children == 0) return;
    if (!one_line_per_group_) {
      release_each(mem, me, children, node.num_children, epoch, bits);
      return;
    }
    Release<Word>& line = group_release(me);
    mem.store_release(line.released, make_word(epoch, bits));  // (R1) pairs with (W1)
    if (!mem.can_sleep()) return;
    this->fence_before_look(mem);
    if (mem.load_acquire(line.asleep) == 0) return;  // (R3) pairs with (S2b)
    for (std::uint32_t i = 0; i < node.num_children; ++i) wake_if_waiting_for(mem, children[i], me);
  }

  // Step 4 with a line for each of `readers`. All stores come first: they overlap in time, and one
  // fence serves all loads (R3). (R1) pairs with (W1), (R3) with (S2b).
  void release_each(Mem& mem, std::uint32_t me, const std::uint32_t* readers, std::uint32_t count,
                    Epoch epoch, std::uint32_t bits) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i)
      mem.store_release(edge_release(readers[i]).released, make_word(epoch, bits));  // (R1)
    if (!mem.can_sleep()) return;
    this->fence_before_look(mem);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (mem.load_acquire(edge_release(readers[i]).asleep) != 0) {  // (R3)
        wake_if_waiting_for(mem, readers[i], me);
      }
    }
  }

 protected:
  Word (*pair_lanes_)[2] = nullptr;  // not null: there are two participants; see EdgeLine
  OwnLine<Word>* pair_own_[2] = {};
  Word* pair_sleepers_[2] = {};
};

}  // namespace hierbar
