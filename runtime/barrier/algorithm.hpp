// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/algorithm_names.hpp"
#include "barrier/barrier.hpp"
#include "barrier/baselines/dissemination.hpp"
#include "barrier/baselines/flat.hpp"
#include "barrier/baselines/topo.hpp"
#include "barrier/baselines/trees.hpp"

// Every barrier algorithm of the project by name, with one interface: the engine, and the classic
// algorithms with which it is compared. Those only cross: they have no split phases and no payload
// bits (docs/design/engine.md#d0016).
namespace hierbar {

// Calls visitor(BarrierType<B>{}), where B is the algorithm's class for Mem, and returns its
// result.
template <class B>
struct BarrierType {
  using type = B;
};

template <class Mem, class Visitor>
decltype(auto) visit_algorithm(Algorithm algorithm, Visitor&& visitor) {
  switch (algorithm) {
#define HIERBAR_ALGORITHM(enumerator, name, ...) \
  case Algorithm::enumerator:                    \
    return visitor(BarrierType<__VA_ARGS__>{});
    HIERBAR_ALGORITHMS(HIERBAR_ALGORITHM)
#undef HIERBAR_ALGORITHM
  }
  return visitor(BarrierType<Barrier<Mem>>{});
}

// The size of the memory that a barrier of this algorithm needs. The memory is zero before the
// first use and aligned to plan.line_bytes.
template <class Mem>
std::size_t barrier_size_bytes(Algorithm algorithm, const hierbar_plan& plan) noexcept {
  return visit_algorithm<Mem>(algorithm,
                              [&](auto type) { return decltype(type)::type::size_bytes(plan); });
}

// One whole episode of a barrier of any algorithm.
template <class Mem>
[[nodiscard]] WaitResult cross(const Barrier<Mem>& barrier, Mem& mem, std::uint32_t me) noexcept {
  return barrier.cross(mem, me, 0).result;
}
template <class B, class Mem>
[[nodiscard]] WaitResult cross(const B& baseline, Mem& mem, std::uint32_t me) noexcept {
  return baseline.cross(mem, me);
}

// The same by name, over `memory`, which holds barrier_size_bytes(). All participants use it with
// the same algorithm and equal plans.
//   hier    any plan
//   topo    any plan; it is the paper's algorithm only with a plan that build_group_plan() has made
//           from the paper's groups
//   others  any plan; they take from it only the number of participants and the slots
// Thread safety and progress: as Barrier.
template <class Mem>
[[nodiscard]] WaitResult cross(Algorithm algorithm, const hierbar_plan& plan, void* memory,
                               Mem& mem, std::uint32_t me) noexcept {
  return visit_algorithm<Mem>(algorithm, [&](auto type) {
    return cross(typename decltype(type)::type(plan, memory), mem, me);
  });
}

}  // namespace hierbar
