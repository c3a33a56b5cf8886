// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "fold/fold.hpp"

namespace hierbar::mpi {

struct Pmpi;

// A collective with data from the program's arguments to the engine's:
//
//   const Reduction* reduction = find_reduction(pmpi, type, op);
//   if (reduction == nullptr || !is_small(count, reduction->element_bytes, limit))
//     return pmpi.Allreduce(...);
//   cross_without_gaps(*reduction, {in, count, out, count}, [&](const void* from, void* to) {
//     return collectives.allreduce(mem, me, from, to, count, reduction->element_bytes, *reduction);
//   });
//
// The verdict uses only what MPI makes equal in all ranks: type, operation and count. A rank that
// decides otherwise than the rest would wait for ever.

// How a pair lies in the program's memory: as a struct of C.
struct PairLayout {
  std::uint8_t value_bytes = 0;
  std::uint8_t index_at = 0;
  std::uint8_t index_bytes = 0;
  std::uint8_t extent = 0;  // from one pair to the next
};

// How to combine the elements of a type by an operation. There is one object for all types of a
// kind and size, which lives as long as the process.
struct Reduction {
  FoldFunction fold = nullptr;
  std::size_t element_bytes = 0;  // beside each other, as `fold` needs them
  PairLayout layout;              // of what the program has; all 0 where that is the same

  bool has_gaps() const noexcept { return layout.extent != 0; }
  void operator()(void* out, const void* const* inputs, std::uint32_t num_inputs,
                  std::size_t count) const noexcept {
    fold(out, inputs, num_inputs, count);
  }
};

// Whether an operation on so many elements stays within a limit. Not where there is nothing to
// combine, or count is an error: the library serves these.
constexpr bool is_small(std::int64_t count, std::size_t element_bytes,
                        std::size_t most_bytes) noexcept {
  // The count alone first: then the product cannot overflow, and no division is needed.
  return count > 0 && static_cast<std::uint64_t>(count) <= most_bytes &&
         static_cast<std::size_t>(count) * element_bytes <= most_bytes;
}

// The look-up in the table of all types and operations. Thread-safe; the first call makes the table
// and allocates memory.
const Reduction* look_up_reduction(const Pmpi& pmpi, MPI_Datatype type, MPI_Op op);

// The bytes of a predefined type whose values lie one behind the other. 0: it is none of these, as
// far as the table knows. Thread-safe, as above.
std::size_t dense_bytes(const Pmpi& pmpi, MPI_Datatype type);

// How the pairs of such a type lie in memory; null: it is no type of pairs. Thread-safe, as above.
const Reduction* look_up_pair(const Pmpi& pmpi, MPI_Datatype type);

// Returns null where the library serves the call, and raises its error if there is one: the type is
// derived, the operation is the program's own, MPI does not allow the one for the other, or
// runtime/fold does not have it (docs/design/mpi-calls.md#d0191). Thread-safe. A thread that asks
// for what it asked for last gets the answer by two compares.
inline const Reduction* find_reduction(const Pmpi& pmpi, MPI_Datatype type, MPI_Op op) {
  struct LastAnswer {
    MPI_Datatype type;
    MPI_Op op;
    const Reduction* reduction;
  };
  // No handle is 0 in any family, so at first this is the answer for what is no handle. It stays
  // valid: what is predefined never changes.
  static constinit thread_local LastAnswer last{};
  // Read once: each access to a thread_local may be a function call.
  LastAnswer& answer = last;
  if (answer.type != type || answer.op != op) [[unlikely]]
    answer = {type, op, look_up_reduction(pmpi, type, op)};
  return answer.reduction;
}

// Pairs without their gaps, and back. Neither touches a gap: the memory may be another object's, as
// behind the last pair.
void remove_gaps(const PairLayout& layout, const void* from, void* to, std::size_t count) noexcept;
void restore_gaps(const PairLayout& layout, const void* from, void* to, std::size_t count) noexcept;

// What an operation on pairs with gaps may have, in bytes without them.
inline constexpr std::size_t kMostPairBytes = 4096;

// What a rank brings to an operation, and what it gets.
struct FoldBuffers {
  const void* in;
  std::size_t in_count;
  void* out;              // may be `in`; null where the rank gets no result
  std::size_t out_count;  // at most in_count
};

template <class Cross>
[[gnu::noinline]] auto cross_packed(const PairLayout& layout, const FoldBuffers& buffers,
                                    const Cross& cross) {
  std::byte pairs[kMostPairBytes];
  remove_gaps(layout, buffers.in, pairs, buffers.in_count);
  const auto result = cross(static_cast<const void*>(pairs), static_cast<void*>(pairs));
  if (buffers.out != nullptr) restore_gaps(layout, pairs, buffers.out, buffers.out_count);
  return result;
}

// Calls cross(from, to), which combines the elements of all ranks: with the two buffers, or with a
// copy where pairs have gaps, in which `from` is `to`. Returns what `cross` returns. Requires
// is_small(in_count, reduction.element_bytes, kMostPairBytes) if there are gaps.
template <class Cross>
auto cross_without_gaps(const Reduction& reduction, const FoldBuffers& buffers,
                        const Cross& cross) {
  if (reduction.has_gaps()) [[unlikely]]
    return cross_packed(reduction.layout, buffers, cross);
  return cross(buffers.in, buffers.out);
}

}  // namespace hierbar::mpi
