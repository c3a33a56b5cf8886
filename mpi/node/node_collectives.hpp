// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "barrier/collectives.hpp"
#include "barrier/one_way.hpp"
#include "mpi/node/node_barrier.hpp"

namespace hierbar::mpi {

// Where the memory of collectives is in the segment, in units.
struct DataPlace {
  std::uint32_t first_unit;
  std::uint32_t num_units;  // 0: there is none
};

// The collectives with data among a communicator's ranks, which are all on one node, as one of the
// ranks uses them. They have memory of their own in the segment. All else is the communicator's
// barrier's: its plan, where its ranks sleep, and the count of ranks that still use it.
//
// 1. claim()  Participant 0 claims the memory, and tells the others which unit is the first.
// 2. clear()  Each rank allocates and clears its own parts.
// 3. Before the first collective all ranks agree that 2 has succeeded in each of them. If not,
//    participant 0 gives the memory back.
// 4. release()  Whoever is the last to detach from the barrier gives the memory back. A rank may
//    free the communicator while others still copy their results.
//
// `DataEngine` is Collectives or OneWay of runtime/barrier.
template <class DataEngine>
class NodeData {
 public:
  using Engine = DataEngine;
  using Place = DataPlace;

  static constexpr std::size_t kMostBytes = Engine::kMostBytes;
  static constexpr std::uint32_t kMostRanks = Engine::kMostParticipants;
  // In the segment, for each rank: its slot and its lines, which may be on a page of their own.
  static constexpr std::size_t kBytesOfRank = Engine::kSlotBytes + kPageBytes;

  static std::uint32_t num_units(const hierbar_plan& plan) noexcept {
    return NodeSegment::units_for(Engine::size_bytes(plan));
  }

  // Returns a place without units if the segment is full.
  static Place claim(const NodeBarrier& node) noexcept {
    const auto page_bytes = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
    const std::uint32_t units = num_units(node.plan());
    const auto first = node.block().segment().units().claim(
        units, BarrierBlock::alignment(node.plan(), page_bytes));
    return first ? Place{*first, units} : Place{};
  }

  // `node` must outlive the object.
  NodeData(const NodeBarrier& node, const Place& place) noexcept
      : node_(node),
        place_(place),
        engine_(node.plan(), memory(), node.fencing()),
        lines_(memory(), node.plan().line_bytes) {}
  NodeData(const NodeData&) = delete;
  NodeData& operator=(const NodeData&) = delete;

  // Returns false if no memory is left.
  bool clear() const noexcept {
    for (const MemoryPart& part : Engine::parts_of(node_.plan(), node_.me())) {
      if (!node_.block().segment().clear(place_.first_unit, part.offset, part.bytes)) return false;
    }
    return true;
  }

  void release() const noexcept {
    node_.block().segment().units().release(place_.first_unit, place_.num_units);
  }

  // Whether a participant has entered the collective in which this rank is.
  bool has_entered(std::uint32_t participant) const noexcept {
    return mpi::has_entered(node_.plan(), lines_, participant, node_.me());
  }

 protected:
  // Calls operation(engine, mem, me), which is one collective.
  template <class Operation>
  auto run(const Waiting& waiting, const WaitDuties& duties,
           const Operation& operation) const noexcept {
    RankHost host(node_.block(), node_.me(), waiting, duties);
    RankMem mem(host);
    return operation(engine_, mem, node_.me());
  }

  const NodeBarrier& node_;

 private:
  void* memory() const noexcept { return node_.block().segment().unit(place_.first_unit); }

  Place place_;
  Engine engine_;

 protected:
  BarrierMemory<RankMem::Word> lines_;
};

// Those in which all ranks wait for all.
class NodeCollectives : public NodeData<Collectives<RankMem>> {
 public:
  using NodeData::NodeData;

  // `in` may be `out`. Requires count * element_bytes <= kMostBytes.
  template <class Fold>
  WaitResult allreduce(const Waiting& waiting, const WaitDuties& duties, const void* in, void* out,
                       std::size_t count, std::size_t element_bytes,
                       const Fold& fold) const noexcept {
    return run(waiting, duties, [&](const Engine& engine, RankMem& mem, std::uint32_t me) {
      return engine.allreduce(mem, me, in, out, count, element_bytes, fold);
    });
  }

  // `bytes` of each rank. `in` may be the own place in `out`. Requires bytes * ranks <= kMostBytes.
  WaitResult allgather(const Waiting& waiting, const WaitDuties& duties, const void* in, void* out,
                       std::size_t bytes) const noexcept {
    return run(waiting, duties, [&](const Engine& engine, RankMem& mem, std::uint32_t me) {
      return engine.allgather(mem, me, in, out, bytes);
    });
  }

  // `bytes` of each rank for each rank. `in` may be `out`. Requires bytes * ranks <= kMostBytes.
  WaitResult alltoall(const Waiting& waiting, const WaitDuties& duties, const void* in, void* out,
                      std::size_t bytes) const noexcept {
    return run(waiting, duties, [&](const Engine& engine, RankMem& mem, std::uint32_t me) {
      return engine.alltoall(mem, me, in, out, bytes);
    });
  }

  // `count` elements of each rank for each rank. `in` may be `out`. Requires count * element_bytes
  // * ranks <= kMostBytes.
  template <class Fold>
  WaitResult reduce_scatter(const Waiting& waiting, const WaitDuties& duties, const void* in,
                            void* out, std::size_t count, std::size_t element_bytes,
                            const Fold& fold) const noexcept {
    return run(waiting, duties, [&](const Engine& engine, RankMem& mem, std::uint32_t me) {
      return engine.reduce_scatter(mem, me, in, out, count, element_bytes, fold);
    });
  }

  // Nobody leaves before all have entered.
  static bool has_left(std::uint32_t) noexcept { return false; }
};

// Those in which the data go one way. The root is a participant.
class NodeOneWay : public NodeData<OneWay<RankMem>> {
 public:
  using NodeData::NodeData;

  // Requires bytes <= kMostBytes. `data` is read in the root and written in all others: as many
  // bytes as both the root and the caller have. Returns how many bytes the root brought.
  std::size_t bcast(const Waiting& waiting, const WaitDuties& duties, std::uint32_t root,
                    void* data, std::size_t bytes) const noexcept {
    return run(waiting, duties, [&](const Engine& engine, RankMem& mem, std::uint32_t me) {
      return engine.bcast(mem, me, root, data, bytes).bytes;
    });
  }

  // `out` is used in the root only, and may be `in`. Requires count * element_bytes <= kMostBytes.
  template <class Fold>
  WaitResult reduce(const Waiting& waiting, const WaitDuties& duties, std::uint32_t root,
                    const void* in, void* out, std::size_t count, std::size_t element_bytes,
                    const Fold& fold) const noexcept {
    return run(waiting, duties, [&](const Engine& engine, RankMem& mem, std::uint32_t me) {
      return engine.reduce(mem, me, root, in, out, count, element_bytes, fold);
    });
  }

  // `bytes` of each rank. `out` is used in the root only, where `in` may be the own place in it.
  // Requires bytes <= kMostBytes. Returns how many came: in the root, of a rank that brought
  // another number, else `bytes`.
  std::size_t gather(const Waiting& waiting, const WaitDuties& duties, std::uint32_t root,
                     const void* in, void* out, std::size_t bytes) const noexcept {
    return run(waiting, duties, [&](const Engine& engine, RankMem& mem, std::uint32_t me) {
      return engine.gather(mem, me, root, in, out, bytes).bytes;
    });
  }

  // `bytes` for each rank. `in` is used in the root only, where `out` may be null: its own part
  // stays in `in`. Requires bytes * ranks <= kMostBytes. Returns how many the root brought for this
  // rank.
  std::size_t scatter(const Waiting& waiting, const WaitDuties& duties, std::uint32_t root,
                      const void* in, void* out, std::size_t bytes) const noexcept {
    return run(waiting, duties, [&](const Engine& engine, RankMem& mem, std::uint32_t me) {
      return engine.scatter(mem, me, root, in, out, bytes).bytes;
    });
  }

  // Whether a participant has done its part of the operation in which this rank is.
  // (O5) Relaxed load of (O2)'s word of one_way.hpp: the result is only printed.
  bool has_left(std::uint32_t participant) const noexcept {
    const auto slot_of = [this](std::uint32_t i) { return node_.plan().nodes[i].slot; };
    const WordValue done =
        lines_.group(slot_of(participant)).release.released.load(std::memory_order_relaxed);
    const Epoch own = lines_.own(slot_of(node_.me())).epoch.load(std::memory_order_relaxed);
    return reached(done, own);
  }
};

}  // namespace hierbar::mpi
