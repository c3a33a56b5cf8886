// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/targets.hpp"

namespace hierbar::bench::mpi {
namespace {

constexpr double kOverMpichPair = 0.20;
constexpr double kOverMpichOversubscribed = 1.0 / 500;  // MPICH's ranks wait for their time slices

// Of two ranks on two cpus, over Open MPI. Peers take two line transfers where an exchange takes one; between the regimes the
// more lenient one.
constexpr double kOverOpenMpiNear = 0.45;
constexpr double kOverOpenMpiFar = 0.60;

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

std::vector<Verdict> judge(const Measurements& measurements) {
  std::vector<Verdict> verdicts;
  Judge judge(verdicts);
  for (const Group& group : measurements.groups) {
    if (group.quantity == "late") continue;
    if (group.oversubscribed) {
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
