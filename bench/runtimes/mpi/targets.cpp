// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/mpi/bench.hpp"

namespace hierbar::bench::mpi {
namespace {

constexpr double kOverMpichPair = 0.20;
// MPICH's ranks wait for their time slices.
constexpr double kOverMpichOversubscribed = 1.0 / 500;

// For two ranks on two cpus: limits over Open MPI. The peers take two line transfers where an
// exchange takes one. Between the near and the far regime the limit for far applies.
constexpr double kOverOpenMpiNear = 0.45;
constexpr double kOverOpenMpiFar = 0.60;

// For the first barrier on a new communicator, in which all its ranks agree on the set-up.
constexpr double kOverAllreduceNs = 1e6;

// The allreduce is measured in the processes of hier.
void judge_first(Judge& judge, const Measurements& measurements, Group first) {
  for (const Group& group : measurements.groups) {
    const Series* reduction = find_series(group, "hier");
    if (group.quantity != "allreduce" || group.num_participants != first.num_participants ||
        reduction == nullptr)
      continue;
    first.series.push_back({"allreduce", Family::kOther, reduction->failure, reduction->samples});
  }
  judge.distance(first, "MPI_Allreduce", find_series(first, "allreduce"), kOverAllreduceNs);
}

void judge_peers(Judge& judge, const Group& group, double mpich_limit, double openmpi_limit) {
  judge.ratio(group, "MPICH's own", best_of(group, Family::kMpich), mpich_limit);
  judge.ratio(group, "best Open MPI", best_of(group, Family::kOpenMpi), openmpi_limit);
}

void judge_pair_period(Judge& judge, const Group& group) {
  const bool near = group.one_way_ns && classify_regime(*group.one_way_ns) == Regime::kNear;
  judge.exchange_floor(group);
  judge_peers(judge, group, kOverMpichPair, near ? kOverOpenMpiNear : kOverOpenMpiFar);
}

}  // namespace

std::vector<Verdict> judge(const Measurements& measurements, const MpiBenchOptions&, int) {
  std::vector<Verdict> verdicts;
  Judge judge(verdicts);
  for (const Group& group : measurements.groups) {
    const bool is_of_set_up = group.quantity == "first" || group.quantity == "init";
    if (group.quantity == "late" || group.quantity == "cold" || group.quantity == "allreduce")
      continue;
    // Such a cost is a wait for the scheduler.
    if (is_of_set_up && group.oversubscribed) continue;
    if (group.quantity == "first") {
      judge_first(judge, measurements, group);
    } else if (group.quantity == "init") {
      judge.ratio(group, "MPICH's own", best_of(group, Family::kMpich), kNoSlower);
    } else if (group.quantity == "elsewhere") {
      // The call before is that of the MPI library, so other libraries' ranks come from another
      // call.
      judge.ratio(group, "MPICH's own", best_of(group, Family::kMpich), kNoSlower);
    } else if (group.oversubscribed) {
      judge_peers(judge, group, kOverMpichOversubscribed, kNoSlower);
    } else if (group.quantity == "period" && group.num_participants == 2) {
      judge_pair_period(judge, group);
    } else {
      judge_peers(judge, group, kNoSlower, kNoSlower);
    }
  }
  return verdicts;
}

}  // namespace hierbar::bench::mpi
