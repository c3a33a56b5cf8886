// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/lines.hpp"
#include "barrier/pending.hpp"
#include "barrier/trace_points.hpp"
#include "barrier/word.hpp"
#include "plan/plan.h"

namespace hierbar {

// The hierarchical barrier: one episode, seen from one participant.
//
//   1. gather    wait for the arrival of each child, in ascending order
//   2. arrive    publish the own arrival, with the payload bits of the whole subtree
//   3. exchange  a leader reads the arrivals of all other leaders; there is no root
//      or wait   everybody else waits for its parent's release
//   4. release   publish the release to the children
//
// Where participants outnumber cpus and all of them are leaders, steps 2 to 4 are others (cross_crowded): those who share a core,
// a crew, count themselves, the last one counts the crew, and the last of all releases everybody. What a thread does then costs
// next to nothing beside the scheduler, which runs one after the other: no line moves inside a crew, and nobody looks at all the
// others, as in an exchange.
//
// A barrier whose participants are all leaders is step 2 and 3 alone. Two leaders share one line (EdgeLine), and the whole
// barrier is one line transfer deep; more have a line each. Two participants in all have a path of their own (cross_pair), on
// which nothing is looked up in the plan: there the instructions between two transfers cost as much as the transfers.
//
// The class is a view of a plan and of Lines; it owns neither and is cheap to make. Every memory access goes through Mem, so
// that the same source runs on std::atomic (RealMem) and on simulated memory with store buffers (the tests). Mem offers
//
//   Word                          a 64-bit atomic
//   load_relaxed, load_acquire, load_seq_cst, store_relaxed, store_release
//   exchange, fetch_or, fetch_add (seq_cst), fetch_or_relaxed, fetch_add_relaxed
//   fence()                       orders earlier stores before later loads (seq_cst)
//   wait(Pending<Mem>&)           -> WaitResult; returns kReleased only when pending.ready()
//   wake(participant)             ends that participant's sleep if it sleeps
//   can_sleep()                   false: nobody ever calls announce(), so looks and fences for sleepers are left out
//
// Ordering map. Every access below carries its number. A model checker weakens each of them and finds out what breaks
// (docs/model-checking.md, which also says which orders are stronger than they need to be, and why they stay).
//   (A1) exchange, seq_cst: the arrival. Release half: all that this participant, and through (W1) its subtree, wrote before.
//        Acquire half: pairs with (S2a), so that who finds the sleep bit also sees waiting_for (S1). An exchange and not a store,
//        because on x86 it also drains non-temporal stores, which a plain store may overtake, and because it returns the sleep
//        bit. Pairs with (W1), (W2).
//   (W1) acquire load of an awaited word, in Pending::ready.
//   (W2) acquire load of a peer's arrival in the exchange. Pairs with (A1).
//   (C1) relaxed fetch_or, before (C2), which publishes it: who counts the last one also sees the bits.
//   (C2) fetch_add, seq_cst: the count. All counts of a tally are one release sequence, so whoever counts last has acquired what
//        all before it wrote. Drains non-temporal stores, as (A1) does.
//   (C3) relaxed accesses of the one who counted last; the others come back to the tally only after (R1).
//   (R0) seq_cst fence before the release of participant 0, which made no arrival of its own since it acted: on x86 the plain
//        store (R1) could overtake its non-temporal stores.
//   (R1) release store of a release word. Carries, through (W2) or (C2), what every participant wrote. Pairs with (W1).
//   (R2) seq_cst fence between (R1) and (R3); see Pending::announce.
//   (R3) acquire load of the number of sleepers; pairs with (S2b), so that waiting_for (S1) is seen.
//   (E1) relaxed accesses to the own epoch: no other participant touches it.
//
// Thread safety: each participant index is used by one thread at a time. All functions are noexcept and never allocate.
// Progress: blocking; every wait is Mem::wait, which the host may abort.
template <class Mem>
class Barrier {
 public:
  using Word = typename Mem::Word;

  struct Crossing {
    WaitResult result;
    std::uint32_t bits;  // kReleased: the OR of every participant's bits, the same for all. kAborted: unspecified.
  };

  static std::size_t size_bytes(const hierbar_plan& plan) noexcept { return Lines<Word>::size_bytes(plan); }

  // `lines` holds size_bytes(plan) bytes, zero before the first use and aligned to plan.line_bytes. Both must
  // outlive the barrier. Copies what the hot path needs, so that it lies together.
  Barrier(const hierbar_plan& plan, void* lines) noexcept
      : nodes_(plan.nodes),
        leaders_(plan.leaders),
        lines_(lines, plan.line_bytes),
        num_leaders_(plan.num_leaders),
        one_line_per_group_(plan.release == HIERBAR_RELEASE_LINES),
        num_crews_(plan.num_crews),
        num_participants_(plan.num_participants),
        children_(plan.children) {
    if (plan.num_participants != 2 || plan.num_leaders != 2 || plan.num_crews != 0) return;
    pair_lanes_ = lines_.edge(nodes_[0].slot).arrived;
    for (std::uint32_t i = 0; i < 2; ++i) pair_own_[i] = &own(i);
  }

  // The shape, for hosts that run phases of their own along it.
  const hierbar_plan_node& node(std::uint32_t participant) const noexcept { return nodes_[participant]; }
  std::uint32_t child(const hierbar_plan_node& parent, std::uint32_t i) const noexcept {
    return children_[parent.first_child + i];
  }
  std::uint32_t num_leaders() const noexcept { return num_leaders_; }
  std::uint32_t leader(std::uint32_t i) const noexcept { return leaders_[i]; }
  bool is_crowd() const noexcept { return num_crews_ != 0; }

  // One whole episode. `bits` (below 1 << kPayloadBits) are OR-ed over all participants.
  // Messages: one line transfer per tree edge and direction, and k(k-1) between k leaders. Depth: plan.depth.
  // `trace` is told what happens when; see trace_points.hpp.
  template <class Trace = NoTrace>
  Crossing cross(Mem& mem, std::uint32_t me, std::uint32_t bits, const Trace& trace = Trace()) const noexcept {
    trace.arrived();
    if (pair_lanes_ != nullptr) return cross_pair(mem, me, bits, trace);
    return num_crews_ != 0 ? cross_crowded(mem, me, bits, trace) : cross_tree(mem, me, bits, trace);
  }

  // Split phases, for hosts that do something between them. gather() returns at once after the arrival for everybody but
  // participant 0, which returns when all have arrived; `combine(child)` runs in the parent, in ascending order of the
  // children, after the child's whole subtree has arrived. After its arrival a participant touches nothing of the barrier, so
  // that participant 0 may free it. Participants other than 0 get their own subtree's bits only.
  template <class Combine>
  Crossing gather(Mem& mem, std::uint32_t me, std::uint32_t bits, Combine&& combine) const noexcept {
    const Epoch epoch = begin_episode(mem, own(me));
    if (gather_children(mem, me, epoch, bits, combine) == WaitResult::kAborted) return {WaitResult::kAborted, 0};
    if (me != 0) {
      arrive(mem, me, epoch, bits, /*others_wait=*/false);
      return {WaitResult::kReleased, bits};
    }
    for (std::uint32_t i = 1; i < num_leaders_; ++i) {
      if (await_arrival(mem, me, leaders_[i], epoch, bits) == WaitResult::kAborted) return {WaitResult::kAborted, 0};
      combine(leaders_[i]);
    }
    return {WaitResult::kReleased, bits};
  }

  // The release that ends gather(): participant 0 starts it with `bits`, the others wait for it and pass it on. Of `trace` only
  // released() is called.
  template <class Trace = NoTrace>
  Crossing release(Mem& mem, std::uint32_t me, std::uint32_t bits, const Trace& trace = Trace()) const noexcept {
    const Epoch epoch = mem.load_relaxed(own(me).epoch);  // (E1)
    if (me == 0) {
      trace.released();
      mem.fence();  // (R0)
      if (num_leaders_ > 1) release_each(mem, 0, leaders_ + 1, num_leaders_ - 1, epoch, bits);
    } else {
      bits = 0;
      if (await_release(mem, me, epoch, bits, NoTrace{}) == WaitResult::kAborted) return {WaitResult::kAborted, 0};
      trace.released();
    }
    release_children(mem, me, epoch, bits);
    return {WaitResult::kReleased, bits};
  }

 private:
  struct NoCombine {
    void operator()(std::uint32_t) const noexcept {}
  };

  // Steps 2 and 3 of two leaders without children.
  template <class Trace>
  Crossing cross_pair(Mem& mem, std::uint32_t me, std::uint32_t bits, const Trace& trace) const noexcept {
    const std::uint32_t peer = 1 - me;
    OwnLine<Word>& own = *pair_own_[me];
    const Epoch epoch = begin_episode(mem, own);
    const WordValue before = mem.exchange(pair_lanes_[me][parity(epoch)], make_word(epoch, bits));  // (A1)
    if ((before & kSleepBit) != 0) wake_if_waiting_for(mem, peer, me);
    auto pending = Pending<Mem>::arrival(mem, pair_lanes_[peer][parity(epoch)], epoch, peer, own.waiting_for);
    if (await_others(mem, pending, trace) == WaitResult::kAborted) return {WaitResult::kAborted, 0};
    trace.released();
    return {WaitResult::kReleased, bits | pending.payload()};
  }

  // Not inlined, as cross_crowded is not, for the sake of cross_pair, which took 17 of 110 ns longer in one function with them.
  template <class Trace>
  [[gnu::noinline]] Crossing cross_tree(Mem& mem, std::uint32_t me, std::uint32_t bits, const Trace& trace) const noexcept {
    const Epoch epoch = begin_episode(mem, own(me));
    if (gather_children(mem, me, epoch, bits, NoCombine{}) == WaitResult::kAborted) return {WaitResult::kAborted, 0};
    if (nodes_[me].num_children != 0) trace.gathered();
    arrive(mem, me, epoch, bits, /*others_wait=*/true);
    const bool leads = nodes_[me].parent == me;
    const WaitResult result = leads ? exchange(mem, me, epoch, bits, trace) : await_release(mem, me, epoch, bits, trace);
    if (result == WaitResult::kAborted) return {result, 0};
    trace.released();
    release_children(mem, me, epoch, bits);
    return {WaitResult::kReleased, bits};
  }

  // Steps 2 to 4 of crews. Everybody waits on the release of participant 0, which nobody else releases; whoever is the last does
  // it in participant 0's name.
  template <class Trace>
  [[gnu::noinline]] Crossing cross_crowded(Mem& mem, std::uint32_t me, std::uint32_t bits, const Trace& trace) const noexcept {
    const hierbar_plan_node& node = nodes_[me];
    OwnLine<Word>& own = this->own(me);
    Release<Word>& line = edge_release(0);
    const Epoch epoch = begin_episode(mem, own);
    if (count(mem, lines_.group(nodes_[node.crew].slot).crew, node.crew_size, bits) &&
        count(mem, lines_.group(nodes_[0].slot).everybody, num_crews_, bits)) {
      trace.released();
      mem.store_release(line.released, make_word(epoch, bits));  // (R1)
      if (mem.can_sleep()) wake_crowd(mem, line);
      return {WaitResult::kReleased, bits};
    }
    auto pending = Pending<Mem>::release(mem, line.released, epoch, /*writer=*/0, own.waiting_for, line.asleep);
    if (await_others(mem, pending, trace) == WaitResult::kAborted) return {WaitResult::kAborted, 0};
    trace.released();
    return {WaitResult::kReleased, pending.payload()};
  }

  // Whether all `size` have come now; then `bits` are everybody's.
  static bool count(Mem& mem, Tally<Word>& tally, std::uint32_t size, std::uint32_t& bits) noexcept {
    if (bits != 0) mem.fetch_or_relaxed(tally.bits, bits);            // (C1)
    if (mem.fetch_add(tally.arrived, 1) + 1 != size) return false;    // (C2)
    bits = static_cast<std::uint32_t>(mem.load_relaxed(tally.bits));  // (C3)
    mem.store_relaxed(tally.arrived, 0);                              // (C3)
    if (bits != 0) mem.store_relaxed(tally.bits, 0);                  // (C3)
    return true;
  }

  void wake_crowd(Mem& mem, const Release<Word>& line) const noexcept {
    mem.fence();                                     // (R2)
    if (mem.load_acquire(line.asleep) == 0) return;  // (R3)
    for (std::uint32_t i = 0; i < num_participants_; ++i) wake_if_waiting_for(mem, i, 0);
  }

  // A wait after the own arrival, of which the trace may make use: what it does then hides behind the others' way. Parents do
  // not: their children would wait for that as well.
  template <class Trace>
  static WaitResult await_others(Mem& mem, Pending<Mem>& pending, const Trace& trace, std::uint32_t num_children = 0) noexcept {
    if constexpr (Trace::kUsesWaits) {
      if (pending.ready()) return WaitResult::kReleased;
      if (num_children == 0) trace.waiting();
    }
    return mem.wait(pending);
  }

  static int parity(Epoch epoch) noexcept { return static_cast<int>(epoch >> kEpochShift & 1); }

  OwnLine<Word>& own(std::uint32_t participant) const noexcept { return lines_.own(nodes_[participant].slot); }

  Word& arrived(std::uint32_t participant, Epoch epoch) const noexcept {
    const hierbar_plan_node& node = nodes_[participant];
    if (num_leaders_ == 2 && participant == leaders_[1]) return lines_.edge(nodes_[leaders_[0]].slot).arrived[1][parity(epoch)];
    return lines_.edge(node.slot).arrived[0][parity(epoch)];
  }

  // The release that a participant's parent writes for it alone, and the one it writes for all of its children.
  Release<Word>& edge_release(std::uint32_t participant) const noexcept { return lines_.edge(nodes_[participant].slot).release; }
  Release<Word>& group_release(std::uint32_t participant) const noexcept {
    return lines_.group(nodes_[participant].slot).release;
  }

  // Step 1.
  template <class Combine>
  WaitResult gather_children(Mem& mem, std::uint32_t me, Epoch epoch, std::uint32_t& bits, Combine&& combine) const noexcept {
    const hierbar_plan_node& node = nodes_[me];
    for (std::uint32_t i = 0; i < node.num_children; ++i) {
      const std::uint32_t child = children_[node.first_child + i];
      if (await_arrival(mem, me, child, epoch, bits) == WaitResult::kAborted) return WaitResult::kAborted;
      combine(child);
    }
    return WaitResult::kReleased;
  }

  template <class Trace = NoTrace>
  WaitResult await_arrival(Mem& mem, std::uint32_t me, std::uint32_t peer, Epoch epoch, std::uint32_t& bits,
                           const Trace& trace = Trace()) const noexcept {
    Word& word = arrived(peer, epoch);
    auto pending = Pending<Mem>::arrival(mem, word, epoch, peer, own(me).waiting_for);
    if (await_others(mem, pending, trace, nodes_[me].num_children) == WaitResult::kAborted) return WaitResult::kAborted;
    bits |= pending.payload();
    return WaitResult::kReleased;
  }

  // Step 2. others_wait: all other leaders may sleep on a leader's arrival (exchange); otherwise only the one above it may.
  void arrive(Mem& mem, std::uint32_t me, Epoch epoch, std::uint32_t bits, bool others_wait) const noexcept {
    const std::uint32_t parent = nodes_[me].parent;
    const WordValue before = mem.exchange(arrived(me, epoch), make_word(epoch, bits));  // (A1)
    if ((before & kSleepBit) != 0) wake_sleepers(mem, me, parent, others_wait);
  }

  [[gnu::cold, gnu::noinline]] void wake_sleepers(Mem& mem, std::uint32_t me, std::uint32_t parent,
                                                  bool others_wait) const noexcept {
    if (parent != me) {
      mem.wake(parent);
    } else if (!others_wait) {
      mem.wake(0);
    } else {
      for (std::uint32_t i = 0; i < num_leaders_; ++i) wake_if_waiting_for(mem, leaders_[i], me);
    }
  }

  // Step 3, a leader's.
  template <class Trace>
  WaitResult exchange(Mem& mem, std::uint32_t me, Epoch epoch, std::uint32_t& bits, const Trace& trace) const noexcept {
    if (num_leaders_ == 2) return await_arrival(mem, me, leaders_[leaders_[0] == me ? 1 : 0], epoch, bits, trace);
    for (std::uint32_t next = 0; next < num_leaders_;) {
      // Look at all that are left before waiting for one: the loads do not depend on each other, so their misses overlap.
      std::uint32_t missing = num_leaders_;
      std::uint32_t seen = 0;
      for (std::uint32_t i = num_leaders_; i-- > next;) {
        if (leaders_[i] == me) continue;
        const WordValue word = mem.load_acquire(arrived(leaders_[i], epoch));  // (W2)
        seen |= payload_of(word) & (reached(word, epoch) ? kPayloadMask : 0U);
        if (!reached(word, epoch)) missing = i;
      }
      bits |= seen;
      if (missing == num_leaders_) return WaitResult::kReleased;
      if (next == 0 && nodes_[me].num_children == 0) trace.waiting();
      if (await_arrival(mem, me, leaders_[missing], epoch, bits) == WaitResult::kAborted) return WaitResult::kAborted;
      next = missing + 1;
    }
    return WaitResult::kReleased;
  }

  // Step 3, everybody else's.
  template <class Trace>
  WaitResult await_release(Mem& mem, std::uint32_t me, Epoch epoch, std::uint32_t& bits, const Trace& trace) const noexcept {
    const std::uint32_t parent = nodes_[me].parent;
    const bool leads = parent == me;  // a leader is released by participant 0, in the split release only
    Release<Word>& line = one_line_per_group_ && !leads ? group_release(parent) : edge_release(me);
    auto pending = Pending<Mem>::release(mem, line.released, epoch, leads ? 0 : parent, own(me).waiting_for, line.asleep);
    if (await_others(mem, pending, trace, nodes_[me].num_children) == WaitResult::kAborted) return WaitResult::kAborted;
    bits |= pending.payload();
    return WaitResult::kReleased;
  }

  // Step 4.
  void release_children(Mem& mem, std::uint32_t me, Epoch epoch, std::uint32_t bits) const noexcept {
    const hierbar_plan_node& node = nodes_[me];
    const std::uint32_t* children = children_ + node.first_child;
    if (node.num_children == 0) return;
    if (!one_line_per_group_) {
      release_each(mem, me, children, node.num_children, epoch, bits);
      return;
    }
    Release<Word>& line = group_release(me);
    mem.store_release(line.released, make_word(epoch, bits));  // (R1)
    if (!mem.can_sleep()) return;
    mem.fence();                                     // (R2)
    if (mem.load_acquire(line.asleep) == 0) return;  // (R3)
    for (std::uint32_t i = 0; i < node.num_children; ++i) wake_if_waiting_for(mem, children[i], me);
  }

  // All stores first: they overlap, and one fence serves all the looks for sleepers.
  void release_each(Mem& mem, std::uint32_t me, const std::uint32_t* readers, std::uint32_t count, Epoch epoch,
                    std::uint32_t bits) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i)
      mem.store_release(edge_release(readers[i]).released, make_word(epoch, bits));  // (R1)
    if (!mem.can_sleep()) return;
    mem.fence();  // (R2)
    for (std::uint32_t i = 0; i < count; ++i)
      if (mem.load_acquire(edge_release(readers[i]).asleep) != 0) wake_if_waiting_for(mem, readers[i], me);  // (R3)
  }

  void wake_if_waiting_for(Mem& mem, std::uint32_t waiter, std::uint32_t writer) const noexcept {
    if (mem.load_relaxed(own(waiter).waiting_for) == std::uint64_t{writer} + 1) mem.wake(waiter);
  }

  const hierbar_plan_node* nodes_;
  const std::uint32_t* leaders_;
  Lines<Word> lines_;
  std::uint32_t num_leaders_;
  bool one_line_per_group_;
  std::uint32_t num_crews_;
  std::uint32_t num_participants_;
  const std::uint32_t* children_;
  Word (*pair_lanes_)[2] = nullptr;  // not null: two participants. See EdgeLine.
  OwnLine<Word>* pair_own_[2] = {};
};

}  // namespace hierbar
