// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "bench/runtimes/mpi/bench.hpp"

namespace hierbar::bench::mpi {
namespace {

// The targets of docs/design/testing.md#d0194.
struct CollectiveLimit {
  std::string_view quantity;
  std::optional<double> over_barrier;  // ours, in the same processes
  double over_peers;                   // each of them
};

constexpr std::array<CollectiveLimit, 12> kOfAPair{{
    {"allreduce:8", 1.15, 0.35},
    {"allreduce:64", 1.7, 0.45},
    {"allreduce:512", 3.2, 0.6},
    {"allreduce:4096", std::nullopt, kNoSlower},
    {"bcast:8", std::nullopt, kNoSlower},
    {"bcast:64", std::nullopt, 0.7},
    {"bcast:512", std::nullopt, 0.9},
    {"bcast:4096", std::nullopt, kNoSlower},
    {"reduce:8", std::nullopt, 0.7},
    {"reduce:64", std::nullopt, 0.7},
    {"reduce:512", std::nullopt, 0.5},
    {"reduce:4096", std::nullopt, 0.8},
}};
constexpr std::array<CollectiveLimit, 2> kOversubscribed{{
    {"allreduce:8", 1.1, 0.6},
    {"allreduce:4096", std::nullopt, 0.6},
}};

CollectiveLimit limit_of(const Group& group) {
  const auto find_in = [&group](const auto& limits) {
    const auto found = std::find_if(
        limits.begin(), limits.end(),
        [&group](const CollectiveLimit& limit) { return limit.quantity == group.quantity; });
    return found == limits.end() ? CollectiveLimit{group.quantity, std::nullopt, kNoSlower}
                                 : *found;
  };
  if (group.oversubscribed) return find_in(kOversubscribed);
  if (group.num_participants == 2) return find_in(kOfAPair);
  return {group.quantity, std::nullopt, kNoSlower};
}

}  // namespace

Group add_own_barrier(Group group, const Group& barriers) {
  const Series* ours = find_series(barriers, "hier");
  if (ours == nullptr || group.quantity == kBarrierQuantity) return group;
  group.series.push_back({kOwnBarrier, Family::kOther, ours->failure, ours->samples});
  return group;
}

// mpi_barrier_bench judges barriers.
std::vector<Verdict> judge(const Measurements& measurements, const CollectiveBenchOptions&, int) {
  std::vector<Verdict> verdicts;
  Judge judge(verdicts);
  const Group* barriers = nullptr;
  for (const Group& group : measurements.groups) {
    if (group.quantity == kBarrierQuantity) {
      barriers = &group;
      continue;
    }
    const CollectiveLimit limit = limit_of(group);
    if (limit.over_barrier && barriers != nullptr) {
      const Group with_barrier = add_own_barrier(group, *barriers);
      judge.ratio(with_barrier, "MPI_Barrier", find_series(with_barrier, kOwnBarrier),
                  *limit.over_barrier);
    }
    judge.ratio(group, "MPICH's own", best_of(group, Family::kMpich), limit.over_peers);
    judge.ratio(group, "best Open MPI", best_of(group, Family::kOpenMpi), limit.over_peers);
  }
  return verdicts;
}

}  // namespace hierbar::bench::mpi
