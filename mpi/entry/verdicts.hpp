// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/entry/collectives.hpp"
#include "mpi/library/family.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/reduction/reduction.hpp"
#include "mpi/reduction/type_layout.hpp"

namespace hierbar::mpi {

// Who serves a collective call with data, for collectives.cpp:
//
// 1. verdict_on()        by arguments that are alike in all ranks
// 2. has_good_buffers()  by this rank's own: if not, they are wrong
// 3. fits()              by the communicator, alike in all ranks
// 4. suits()             by this rank's own arguments, for which its number has to be known

// What follows from arguments that are alike in all ranks; false: the library serves the call.
using FoldVerdict = const Reduction*;
struct BytesVerdict {
  TypeLayout layout;
  std::size_t bytes = 0;
  explicit operator bool() const noexcept { return bytes != 0; }
};

inline FoldVerdict verdict_on_fold(const Pmpi& pmpi, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                   std::size_t most_bytes) {
  const Reduction* const reduction = find_reduction(pmpi, type, op);
  return reduction != nullptr && is_small(count, reduction->element_bytes, most_bytes) ? reduction
                                                                                       : nullptr;
}
inline FoldVerdict verdict_on(const Pmpi& pmpi, const AllreduceCall& call) {
  return verdict_on_fold(pmpi, call.count, call.type, call.op, NodeCollectives::kMostBytes);
}
// There are two ranks at least, so what a rank gets is at most half of what it brings (fits()).
inline FoldVerdict verdict_on(const Pmpi& pmpi, const ReduceScatterBlockCall& call) {
  return verdict_on_fold(pmpi, call.count, call.type, call.op, NodeCollectives::kMostBytes / 2);
}
// In a rank whose call names none, which is between two groups (MPI_ROOT, MPI_PROC_NULL), nothing
// but the communicator may mean anything. All families have negative numbers for these.
inline bool names_rank(int root) noexcept { return root >= 0; }

inline FoldVerdict verdict_on(const Pmpi& pmpi, const ReduceCall& call) {
  if (!names_rank(call.root)) return nullptr;
  return verdict_on_fold(pmpi, call.count, call.type, call.op, NodeOneWay::kMostBytes);
}
inline BytesVerdict verdict_on_bytes(MPI_Count count, const TypeLayout& layout,
                                     std::size_t most_bytes) {
  return is_small(count, layout.element_bytes, most_bytes)
             ? BytesVerdict{layout, static_cast<std::size_t>(count) * layout.element_bytes}
             : BytesVerdict{};
}
inline BytesVerdict verdict_on(const Pmpi& pmpi, const BcastCall& call) {
  if (!names_rank(call.root)) return {};
  return verdict_on_bytes(call.count, find_layout(pmpi, call.type), NodeOneWay::kMostBytes);
}

// The bytes of one rank's part, which MPI makes equal for what is brought and for what comes. So a
// rank whose own two descriptions differ is wrong. A part is at most half of the limit, because
// there are two ranks at least. Whether all parts are small enough together is another question
// (fits()).
struct ExchangeVerdict {
  BytesVerdict in;
  BytesVerdict out;
  explicit operator bool() const noexcept { return in && out; }
  bool is_dense() const noexcept { return in.layout.is_dense && out.layout.is_dense; }
};
inline ExchangeVerdict verdict_on(const Pmpi& pmpi, const ExchangeCall& call) {
  constexpr std::size_t kMost = NodeCollectives::kMostBytes / 2;
  const auto of = [&](const TypedData& data) {
    return verdict_on_bytes(data.count, find_layout(pmpi, data.type), kMost);
  };
  const BytesVerdict out = of(call.out);
  return {call.is_in_place() ? out : of(call.in), out};
}

// The bytes of one rank's part, which MPI makes equal for what a rank brings and for what the root
// has of it. A rank's own part means something in all ranks but in a root whose part is in place,
// and there `all` does.
template <std::derived_from<RootedCall> Call>
BytesVerdict verdict_on(const Pmpi& pmpi, const Call& call) {
  if (!names_rank(call.root)) return {};
  const TypedData& part = call.is_in_place() ? call.all() : call.own();
  return verdict_on_bytes(part.count, find_layout(pmpi, part.type), NodeOneWay::kMostBytes / 2);
}

// By this rank's own arguments. If not, they are wrong, and the others wait as they would without
// the shim.
inline bool has_good_buffers(const AllreduceCall& call, FoldVerdict) noexcept {
  const void* const in = call.in;
  return in != nullptr && call.out != nullptr && call.out != MPI_IN_PLACE &&
         (in != call.out || (call.count == 1 && kTakesOneElementTwice));
}
inline bool has_good_buffers(const ReduceScatterBlockCall& call, FoldVerdict) noexcept {
  return call.in != nullptr && call.out != nullptr && call.out != MPI_IN_PLACE &&
         (call.in != call.out || kTakesOneBufferTwice);
}
// Of a datatype with addresses in it MPI_BOTTOM is the buffer, which is null.
inline bool is_buffer(const void* address, const BytesVerdict& verdict) noexcept {
  return address != nullptr || !verdict.layout.is_dense;
}
inline bool has_good_buffers(const BcastCall& call, const BytesVerdict& verdict) noexcept {
  return is_buffer(call.data, verdict);
}
inline bool has_good_buffers(const ExchangeCall& call, const ExchangeVerdict& verdict) noexcept {
  return verdict.in.bytes == verdict.out.bytes && call.out.address != MPI_IN_PLACE &&
         is_buffer(call.in.address, verdict.in) && is_buffer(call.out.address, verdict.out);
}
template <std::derived_from<RootedCall> Call>
bool has_good_buffers(const Call& call, const BytesVerdict& verdict) noexcept {
  return call.is_in_place() || is_buffer(call.own().address, verdict);
}
inline bool has_good_buffers(const ReduceCall& call, FoldVerdict) noexcept {
  return call.in != nullptr;
}

// The same for what only a communicator of the engine's tells. It is on one node, so its ranks are
// the participants.
inline bool is_rank(int root, const NodeBarrier& node) noexcept {
  return names_rank(root) && static_cast<std::uint32_t>(root) < node.plan().num_participants;
}
inline bool is_root(int root, const NodeBarrier& node) noexcept {
  return static_cast<std::uint32_t>(root) == node.me();
}
// Where this rank's part of all is, of which each has so many bytes, if they lie as they travel.
inline std::byte* own_part(void* all, std::size_t bytes, const NodeBarrier& node) noexcept {
  return static_cast<std::byte*>(all) + node.me() * bytes;
}
inline bool suits(const Pmpi&, const FoldCall&, FoldVerdict, const NodeBarrier&) noexcept {
  return true;
}
inline bool suits(const Pmpi&, const BcastCall& call, const BytesVerdict&,
                  const NodeBarrier& node) noexcept {
  return is_rank(call.root, node);
}
inline bool suits(const Pmpi&, const ReduceCall& call, FoldVerdict,
                  const NodeBarrier& node) noexcept {
  if (!is_rank(call.root, node)) return false;
  if (!is_root(call.root, node)) return call.in != MPI_IN_PLACE;
  return call.out != nullptr && call.out != MPI_IN_PLACE && call.in != call.out;
}

// What is brought must not lie where the call puts it, unless it says so. It takes the rank's
// number to tell: only in rank 0 the own part begins where all parts do.
inline bool suits(const Pmpi&, const AllgatherCall& call, const ExchangeVerdict& verdict,
                  const NodeBarrier& node) noexcept {
  return kTakesOwnPart || call.in.address != own_part(call.out.address, verdict.out.bytes, node) ||
         !verdict.is_dense();
}
inline bool suits(const Pmpi&, const AlltoallCall& call, const ExchangeVerdict& verdict,
                  const NodeBarrier&) noexcept {
  return call.in.address != call.out.address || !verdict.is_dense();
}

// What the root has of all, which means nothing in the others. Its own part must not lie there
// without MPI_IN_PLACE.
template <std::derived_from<RootedCall> Call>
bool suits(const Pmpi& pmpi, const Call& call, const BytesVerdict& verdict,
           const NodeBarrier& node) {
  if (!is_rank(call.root, node)) return false;
  if (!is_root(call.root, node)) return !call.is_in_place();
  const TypedData& all = call.all();
  const BytesVerdict of_root =
      verdict_on_bytes(all.count, find_layout(pmpi, all.type), verdict.bytes);
  if (of_root.bytes != verdict.bytes || all.address == MPI_IN_PLACE ||
      !is_buffer(all.address, of_root))
    return false;
  return kTakesOwnPart || !verdict.layout.is_dense || !of_root.layout.is_dense ||
         call.own().address != own_part(all.address, verdict.bytes, node);
}

// Whether the call is small enough on such a communicator, which all of its ranks find alike.
template <class Call, class Verdict>
bool fits(const Call&, const Verdict&, const NodeBarrier&) noexcept {
  return true;
}
inline bool fits(const ReduceScatterBlockCall& call, FoldVerdict reduction,
                 const NodeBarrier& node) noexcept {
  return is_small(call.count, reduction->element_bytes,
                  NodeCollectives::kMostBytes / node.plan().num_participants);
}
template <std::derived_from<ExchangeCall> Call>
bool fits(const Call&, const ExchangeVerdict& verdict, const NodeBarrier& node) noexcept {
  return verdict.out.bytes * node.plan().num_participants <= NodeCollectives::kMostBytes;
}

template <std::derived_from<RootedCall> Call>
bool fits(const Call&, const BytesVerdict& verdict, const NodeBarrier& node) noexcept {
  return verdict.bytes * node.plan().num_participants <= NodeOneWay::kMostBytes;
}

// Which part of the engine serves the call.
inline DataPart<NodeCollectives>& part_for(const FoldCall&, CommState& state) noexcept {
  return state.collectives;
}
inline DataPart<NodeCollectives>& part_for(const ExchangeCall&, CommState& state) noexcept {
  return state.collectives;
}
inline DataPart<NodeOneWay>& part_for(const BcastCall&, CommState& state) noexcept {
  return state.one_way;
}
inline DataPart<NodeOneWay>& part_for(const ReduceCall&, CommState& state) noexcept {
  return state.one_way;
}
inline DataPart<NodeOneWay>& part_for(const RootedCall&, CommState& state) noexcept {
  return state.one_way;
}

}  // namespace hierbar::mpi
