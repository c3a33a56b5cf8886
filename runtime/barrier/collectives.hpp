// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier.hpp"
#include "barrier/collective_memory.hpp"
#include "barrier/plan_view.hpp"
#include "barrier/trace_points.hpp"
#include "plan/plan.h"

namespace hierbar {

// Episodes that carry data, among the participants of a plan. They have memory of their own, so
// they and the barriers of the same participants may come in any order.
//
//   allreduce   Every participant brings `count` elements and gets the fold of all.
//   allgather   Every participant brings `bytes`, and gets what all bring, one behind the other in
//               the order of the participants' numbers.
//   alltoall    Every participant brings `bytes` for each one, and gets what all bring for it. Both
//               lie in the order of the numbers.
//   reduce_scatter  Every participant brings `count` elements for each one, in the order of the
//               numbers, and gets the fold of what all bring for it.
//
// Nobody leaves before all have come.
//
// A fold is called as fold(out, inputs, num_inputs, count). It combines inputs[0][i] to
// inputs[num_inputs - 1][i], in this order, for each i below `count`; `out` may be one of them. The
// order of the inputs is that of the participants' numbers, whatever the plan is, so all get the
// same bits, and they get them again under another plan. Each element is folded by one call with
// all of its inputs.
//
// Requires: in each episode all participants call the same function with the same count and size of
// an element or number of bytes, and folds that give the same bits. Each participant index is used
// by one thread at a time. Plan and memory outlive the object, which is a view of both.
//
// Guarantees: what Barrier guarantees, also where `count` is 0. `in` may be `out`, and of an
// allgather the participant's own place in it. Nothing is read or written beyond what a participant
// brings and what it gets. The inputs of a fold are aligned to 16 bytes, or to what divides the
// size of an element; the own one lies where the caller has it.
//
// The values of an allreduce take one of four ways. Plan, count and size of an element decide,
// which are equal in all participants.
//
//   packets   Two leaders without children, and few bytes. Data and word lie in one line
//             (Packet), so the values cost nothing beside a barrier's line transfer.
//   crews     Participants outnumber cpus. Each leaves its data in its region, and is counted. The
//             last one to arrive folds them into the result of participant 0, and releases all.
//   together  Else, as long as the data are few. The values travel with the episode, not partial
//             sums: before it arrives, a parent puts those of its subtree together in its own
//             region. Each leader reads the regions of the leaders and folds all values. Results go
//             down by the results of the parents. That all leaders fold costs less than one line
//             transfer.
//   split     Else. Each folds its slice of all, and collects the other slices: two episodes. In
//             the first a region has what its owner brings, in the second the owner's slice of the
//             result.
//
// An allgather is an allreduce whose fold puts its inputs one behind the other (Join). It takes the
// same ways, but it is never split: what all bring fits into a region. An alltoall goes by packets,
// or by the first half of a split: each leaves what it brings in its region, and when all have come
// it takes its own part from each region. Values do not travel through a tree then, where a parent
// would move what is for others; and with crews all would wait for the one who moves it all. A
// reduce_scatter goes as an alltoall, and each folds the parts that are for it.
//
// Two regions suffice. Participant q writes the region of episode e, and the same one again before
// it arrives in e + 2. By then it has finished e + 1: so all have arrived in e + 1, after they had
// read what they wanted of e. Packets and both steps of a split follow this rule too, because each
// is an episode of its own. One result suffices. It is written after all have arrived, who had
// copied the earlier one before. It is not a region, because its readers read until they arrive in
// the next episode, and the owner writes into the next region before it knows that.
//
// All accesses to data are plain. They are ordered by words. Ordering map, beside the one in
// barrier.hpp:
//   (D1) plain writes of data, before the own word: (A1), (A2), (C2) or (D2). Those of a result
//        come before (R1).
//   (D2) release store of a packet's word, behind its data. Pairs with (W1) of the peer. An
//        exchange would be a full fence, in which the peer's poll may take the line between data
//        and word. So the peer that sleeps is counted, as for a release.
//   (D3) plain reads of data, behind (W1), (W2) or (C2). Before the own next word, by which whoever
//        writes there next knows of it.
//   (R2), (R4) after (D2) and before (R3), the look for the peer that sleeps: as for a release.
template <class Mem>
class Collectives : private Barrier<Mem> {
  using Base = Barrier<Mem>;
  using Base::children_, Base::fencing_, Base::leaders_, Base::nodes_, Base::num_leaders_;
  using Base::fence_before_look, Base::own, Base::parity, Base::wake_if_waiting_for;
  using Base::num_crews_, Base::num_participants_;
  using Base::pair_lanes_, Base::pair_own_, Base::pair_sleepers_;

 public:
  using Word = typename Mem::Word;
  using Part = MemoryPart;

  static constexpr std::size_t kMostBytes =
      CollectiveMemory<Word>::kRegionBytes;  // that one participant brings
  static constexpr std::size_t kSlotBytes = CollectiveMemory<Word>::kSlotBytes;  // of one of them
  static constexpr std::uint32_t kMostParticipants = kMostFoldInputs;

  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return CollectiveMemory<Word>::size_bytes(plan);
  }
  // What belongs to one participant, which sets it to zero before any of them uses the memory. The
  // first to write to a page is then a participant of the domain that uses the page.
  static std::array<Part, 2> parts_of(const hierbar_plan& plan, std::uint32_t me) noexcept {
    return parts_of_participant<Word>(plan, me, kSlotBytes);
  }

  // `memory` holds size_bytes(plan) bytes, zero before the first use. It begins at a page where the
  // plan has slots on several NUMA nodes, else at a line. `fencing` is alike in all participants.
  Collectives(const hierbar_plan& plan, void* memory, Fencing fencing) noexcept
      : Base(plan, memory, fencing), data_(plan, memory) {}

  // Requires count * element_bytes <= kMostBytes and at most kMostParticipants.
  template <class Fold>
  WaitResult allreduce(Mem& mem, std::uint32_t me, const void* in, void* out, std::size_t count,
                       std::size_t element_bytes, const Fold& fold) const noexcept {
    const auto call = make_call(in, out, count, element_bytes, fold);
    if (goes_by_packets(call.bytes())) return cross_by_packets(mem, me, call);
    return allreduce_by_regions(mem, me, call);
  }

  // Requires bytes * number of participants <= kMostBytes.
  WaitResult allgather(Mem& mem, std::uint32_t me, const void* in, void* out,
                       std::size_t bytes) const noexcept {
    const Join join{bytes};
    const Call<Join> call{static_cast<const std::byte*>(in),
                          static_cast<std::byte*>(out),
                          1,
                          bytes,
                          bytes * num_participants_,
                          join};
    return goes_by_packets(bytes) ? cross_by_packets(mem, me, call)
                                  : cross_by_regions(mem, me, next(mem, me), call);
  }

  // Requires bytes * number of participants <= kMostBytes.
  WaitResult alltoall(Mem& mem, std::uint32_t me, const void* in, void* out,
                      std::size_t bytes) const noexcept {
    const auto* const brought = static_cast<const std::byte*>(in);
    auto* const got = static_cast<std::byte*>(out);
    return goes_by_packets(bytes) ? alltoall_by_packets(mem, me, brought, got, bytes)
                                  : alltoall_by_regions(mem, me, brought, got, bytes);
  }

  // Requires count * element_bytes * number of participants <= kMostBytes.
  template <class Fold>
  WaitResult reduce_scatter(Mem& mem, std::uint32_t me, const void* in, void* out,
                            std::size_t count, std::size_t element_bytes,
                            const Fold& fold) const noexcept {
    const auto call = make_call(in, out, count, element_bytes, fold);
    return goes_by_packets(call.bytes()) ? reduce_scatter_by_packets(mem, me, call)
                                         : reduce_scatter_by_regions(mem, me, call);
  }

 private:
  static constexpr std::size_t kLaneBytes = Packet<Word>::kDataBytes;
  static constexpr std::size_t kMostBytesInPackets =
      CollectiveMemory<Word>::kNumPackets * kLaneBytes;
  // More bytes of all others are split. One participant reads about 25 lines in the time of a
  // second episode.
  static constexpr std::size_t kMostBytesTogether = 1536;

  template <class Fold>
  struct Call {
    const std::byte* in;
    std::byte* out;
    std::size_t count;
    std::size_t element_bytes;
    std::size_t result_bytes;
    const Fold& fold;

    std::size_t bytes() const noexcept { return count * element_bytes; }
  };

  template <class Fold>
  static Call<Fold> make_call(const void* in, void* out, std::size_t count,
                              std::size_t element_bytes, const Fold& fold) noexcept {
    return {static_cast<const std::byte*>(in),
            static_cast<std::byte*>(out),
            count,
            element_bytes,
            count * element_bytes,
            fold};
  }

  // The episode that comes.
  Epoch next(Mem& mem, std::uint32_t me) const noexcept {
    return next_epoch(mem.load_relaxed(own(me).epoch));  // (E1)
  }

  // 1. Packets.

  // Without a byte there is no packet, hence nothing to wait for.
  bool goes_by_packets(std::size_t bytes) const noexcept {
    return pair_lanes_ != nullptr && bytes - 1 < kMostBytesInPackets;
  }

  template <class Fold>
  WaitResult cross_by_packets(Mem& mem, std::uint32_t me, const Call<Fold>& call) const noexcept {
    const std::uint32_t peer = 1 - me;
    OwnLine<Word>& own_line = *pair_own_[me];
    const Epoch epoch = begin_episode(mem, own_line);
    Packet<Word>* const packets =
        data_.packets() + static_cast<std::size_t>(parity(epoch)) * data_.kNumPackets;
    send_packets(mem, me, packets, epoch, call.in, call.bytes());
    alignas(16) std::byte theirs[kMostBytesInPackets];
    std::size_t at = 0;
    for (Packet<Word>* packet = packets; at < call.bytes(); ++packet, at += kLaneBytes) {
      auto& lane = packet->lanes[peer];
      auto pending = AwaitedWord<Mem>::release(mem, lane.word, epoch, peer, own_line.waiting_for,
                                               *pair_sleepers_[peer], fencing_);
      if (mem.wait(pending) == WaitResult::kAborted) return WaitResult::kAborted;
      read(mem, theirs + at, lane.data, std::min(call.bytes() - at, kLaneBytes));
    }
    const void* inputs[2];
    inputs[me] = call.in;
    inputs[peer] = theirs;
    call.fold(call.out, inputs, 2, call.count);
    return WaitResult::kReleased;
  }

  // The look for a sleeper comes behind all packets, and before the own wait: who looks later may
  // itself go to sleep first.
  void send_packets(Mem& mem, std::uint32_t me, Packet<Word>* packet, Epoch epoch,
                    const std::byte* in, std::size_t bytes) const noexcept {
    mem.fence_streams();
    for (std::size_t at = 0; at < bytes; ++packet, at += kLaneBytes) {
      auto& lane = packet->lanes[me];
      write(mem, lane.data, in + at, std::min(bytes - at, kLaneBytes));
      mem.store_release(lane.word, make_word(epoch, 0));  // (D2) pairs with (W1)
    }
    if (!mem.can_sleep()) return;
    fence_before_look(mem);
    if (mem.load_acquire(*pair_sleepers_[me]) != 0)  // (R3) pairs with (S2b)
      wake_if_waiting_for(mem, 1 - me, me);
  }

  // 2. Regions. Out of line, as the other ways of a barrier are.

  template <class Fold>
  [[gnu::noinline]] WaitResult allreduce_by_regions(Mem& mem, std::uint32_t me,
                                                    const Call<Fold>& call) const noexcept {
    const Epoch epoch = next(mem, me);
    if (num_crews_ == 0 && splits(call.bytes(), call.count))
      return allreduce_split(mem, me, epoch, call);
    return cross_by_regions(mem, me, epoch, call);
  }

  template <class Fold>
  WaitResult cross_by_regions(Mem& mem, std::uint32_t me, Epoch epoch,
                              const Call<Fold>& call) const noexcept {
    write(mem, data_.region(me, epoch), call.in, call.bytes());
    const Courier<Fold> courier{{}, *this, mem, me, epoch, call, call.bytes()};
    if (this->cross(mem, me, 0, courier).result == WaitResult::kAborted)
      return WaitResult::kAborted;
    if (num_crews_ != 0) read(mem, call.out, data_.result(0), call.result_bytes);
    return WaitResult::kReleased;
  }

  // A region holds the values of a whole subtree. Where it would not, slices may be empty.
  bool splits(std::size_t bytes, std::size_t count) const noexcept {
    if (bytes * (num_participants_ - 1) <= kMostBytesTogether) return false;
    return count >= num_participants_ ||
           (num_leaders_ != num_participants_ && bytes * num_participants_ > kMostBytes);
  }
  static_assert(2 * kMostBytesTogether <= kMostBytes, "what is not split fits into a region");

  // Moves the values along with an episode, for crews and together.
  template <class Fold>
  struct Courier : NoTrace {
    static constexpr bool kMovesData = true;

    const Collectives& self;
    Mem& mem;
    std::uint32_t me;
    Epoch epoch;
    const Call<Fold>& call;
    mutable std::size_t num_gathered;  // bytes in the own region

    void subtree_arrived(std::uint32_t child) const noexcept {
      const std::size_t bytes = self.bytes_of_subtree(child, call.bytes());
      const std::byte* const values = self.read_subtree(mem, child, epoch, call.bytes());
      self.write(mem, self.data_.region(me, epoch) + num_gathered, values, bytes);
      num_gathered += bytes;
    }
    void all_arrived() const noexcept {
      if (self.num_crews_ != 0) {
        self.fold_all(mem, epoch, call, mem.data_to_write(self.data_.result(0), call.result_bytes));
      } else {
        self.fold_all(mem, epoch, call, call.out);
        pass_down();
      }
    }
    void release_came() const noexcept {
      self.read(mem, call.out, self.data_.result(self.nodes_[me].parent), call.result_bytes);
      pass_down();
    }

   private:
    void pass_down() const noexcept {
      if (self.nodes_[me].num_children != 0)
        self.write(mem, self.data_.result(me), call.out, call.result_bytes);
    }
  };

  // How many participants a subtree has, its root included.
  static std::uint32_t subtree_size(const hierbar_plan_node* nodes, const std::uint32_t* children,
                                    std::uint32_t root) noexcept {
    std::uint32_t size = 1;
    for (std::uint32_t i = 0; i < nodes[root].num_children; ++i)
      size += subtree_size(nodes, children, children[nodes[root].first_child + i]);
    return size;
  }

  // The values of a subtree lie one behind the other: first those of its root, then the subtrees of
  // the root's children, in ascending order. Returns where they end.
  static const std::byte* find_values(const hierbar_plan_node* nodes, const std::uint32_t* children,
                                      std::uint32_t root, const std::byte* at, std::size_t bytes,
                                      const void** inputs) noexcept {
    inputs[root] = at;
    at += bytes;
    for (std::uint32_t i = 0; i < nodes[root].num_children; ++i) {
      at = find_values(nodes, children, children[nodes[root].first_child + i], at, bytes, inputs);
    }
    return at;
  }

  // The values of the participant's subtree, as its region has them.
  const std::byte* read_subtree(Mem& mem, std::uint32_t root, Epoch epoch,
                                std::size_t bytes) const noexcept {
    return mem.data_to_read(data_.region(root, epoch), bytes_of_subtree(root, bytes));
  }
  std::size_t bytes_of_subtree(std::uint32_t root, std::size_t bytes) const noexcept {
    return nodes_[root].num_children == 0 ? bytes : subtree_size(nodes_, children_, root) * bytes;
  }

  template <class Fold>
  void fold_all(Mem& mem, Epoch epoch, const Call<Fold>& call, std::byte* out) const noexcept {
    with_fold_inputs(num_participants_, [&](const void** inputs) {
      for (std::uint32_t i = 0; i < num_leaders_; ++i) {
        const std::byte* const values = read_subtree(mem, leaders_[i], epoch, call.bytes());
        if (nodes_[leaders_[i]].num_children == 0) {
          inputs[leaders_[i]] = values;
        } else {
          find_values(nodes_, children_, leaders_[i], values, call.bytes(), inputs);
        }
      }
      call.fold(out, inputs, num_participants_, call.count);
    });
  }

  // 3. Split.

  template <class Fold>
  WaitResult allreduce_split(Mem& mem, std::uint32_t me, Epoch epoch,
                             const Call<Fold>& call) const noexcept {
    const std::size_t begin = begin_of_slice(me, call);
    const std::size_t end = begin_of_slice(me + 1, call);
    write_for_others(mem, me, epoch, call.in, begin, end, call.bytes());
    if (this->cross(mem, me, 0).result == WaitResult::kAborted) return WaitResult::kAborted;

    const Epoch second = next_epoch(epoch);
    if (begin != end) {
      std::byte* const slice = mem.data_to_write(data_.region(me, second) + begin, end - begin);
      fold_brought(mem, me, epoch,
                   Call<Fold>{call.in, slice, (end - begin) / call.element_bytes,
                              call.element_bytes, end - begin, call.fold},
                   begin);
    }
    if (this->cross(mem, me, 0).result == WaitResult::kAborted) return WaitResult::kAborted;

    for (std::uint32_t i = 0; i < num_participants_; ++i) {
      const std::size_t from = begin_of_slice(i, call);
      read(mem, call.out + from, data_.region(i, second) + from,
           begin_of_slice(i + 1, call) - from);
    }
    return WaitResult::kReleased;
  }

  template <class Fold>
  std::size_t begin_of_slice(std::uint32_t i, const Call<Fold>& call) const noexcept {
    return call.count * i / num_participants_ * call.element_bytes;
  }

  // What a participant brings, but for what is for itself, from `begin` to `end`.
  void write_for_others(Mem& mem, std::uint32_t me, Epoch epoch, const std::byte* in,
                        std::size_t begin, std::size_t end, std::size_t bytes) const noexcept {
    std::byte* const region = data_.region(me, epoch);
    write(mem, region, in, begin);
    write(mem, region + end, in + end, bytes - end);
  }

  // Folds what all have brought in the call, from byte `at` of each on.
  template <class Fold>
  void fold_brought(Mem& mem, std::uint32_t me, Epoch epoch, const Call<Fold>& call,
                    std::size_t at) const noexcept {
    with_fold_inputs(num_participants_, [&](const void** inputs) {
      for (std::uint32_t i = 0; i < num_participants_; ++i)
        inputs[i] = mem.data_to_read(data_.region(i, epoch) + at, call.bytes());
      inputs[me] = call.in + at;
      call.fold(call.out, inputs, num_participants_, call.count);
    });
  }

  // 4. Alltoall and reduce_scatter.

  WaitResult alltoall_by_packets(Mem& mem, std::uint32_t me, const std::byte* in, std::byte* out,
                                 std::size_t bytes) const noexcept {
    const std::uint32_t peer = 1 - me;
    const auto take = [&](void*, const void* const* inputs, std::uint32_t, std::size_t) noexcept {
      copy_bytes(out + peer * bytes, static_cast<const std::byte*>(inputs[peer]), bytes);
      if (in != out) copy_bytes(out + me * bytes, in + me * bytes, bytes);
    };
    return cross_by_packets(
        mem, me, Call<decltype(take)>{in + peer * bytes, nullptr, 1, bytes, bytes, take});
  }

  [[gnu::noinline]] WaitResult alltoall_by_regions(Mem& mem, std::uint32_t me, const std::byte* in,
                                                   std::byte* out,
                                                   std::size_t bytes) const noexcept {
    const Epoch epoch = next(mem, me);
    write(mem, data_.region(me, epoch), in, bytes * num_participants_);
    if (this->cross(mem, me, 0).result == WaitResult::kAborted) return WaitResult::kAborted;
    for (std::uint32_t i = 0; i < num_participants_; ++i)
      read(mem, out + i * bytes, data_.region(i, epoch) + me * bytes, bytes);
    return WaitResult::kReleased;
  }

  // `out` may lie where other participants' parts are in `in`, which are sent by then.
  template <class Fold>
  WaitResult reduce_scatter_by_packets(Mem& mem, std::uint32_t me,
                                       const Call<Fold>& call) const noexcept {
    const std::uint32_t peer = 1 - me;
    const auto fold_own = [&](void*, const void* const* inputs, std::uint32_t,
                              std::size_t) noexcept {
      const void* parts[2];
      parts[me] = call.in + me * call.bytes();
      parts[peer] = inputs[peer];
      call.fold(call.out, parts, 2, call.count);
    };
    return cross_by_packets(
        mem, me,
        Call<decltype(fold_own)>{call.in + peer * call.bytes(), nullptr, call.count,
                                 call.element_bytes, call.bytes(), fold_own});
  }

  template <class Fold>
  [[gnu::noinline]] WaitResult reduce_scatter_by_regions(Mem& mem, std::uint32_t me,
                                                         const Call<Fold>& call) const noexcept {
    const Epoch epoch = next(mem, me);
    const std::size_t begin = me * call.bytes();
    write_for_others(mem, me, epoch, call.in, begin, begin + call.bytes(),
                     num_participants_ * call.bytes());
    if (this->cross(mem, me, 0).result == WaitResult::kAborted) return WaitResult::kAborted;
    fold_brought(mem, me, epoch, call, begin);
    return WaitResult::kReleased;
  }

  // 5. Data.

  static void write(Mem& mem, std::byte* shared, const std::byte* from,
                    std::size_t bytes) noexcept {
    // (D1)
    copy_bytes(mem.data_to_write(shared, bytes), from, bytes);
  }
  static void read(Mem& mem, std::byte* to, const std::byte* shared, std::size_t bytes) noexcept {
    // (D3)
    copy_bytes(to, mem.data_to_read(shared, bytes), bytes);
  }

  CollectiveMemory<Word> data_;
};

}  // namespace hierbar
