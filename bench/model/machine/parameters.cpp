// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/parameters.hpp"

namespace hierbar::bench::model {

std::span<const ParameterInfo> parameter_infos() {
  static constexpr ParameterInfo kInfos[] = {
      {"latency_core", nullptr, Distance::kCore, 5, 20},
      {"latency_cluster", nullptr, Distance::kCluster, 15, 60},
      {"latency_domain", nullptr, Distance::kDomain, 25, 60},
      {"latency_package", nullptr, Distance::kPackage, 60, 110},
      {"latency_machine", nullptr, Distance::kMachine, 90, 200},
      {"read", &Parameters::read, {}, 0.6, 1.4},
      {"upgrade", &Parameters::upgrade, {}, 0.6, 1.4},
      {"invalidate", &Parameters::invalidate, {}, 0.2, 9},
      {"occupy_local", &Parameters::occupy_local, {}, 1, 30},
      {"occupy_remote", &Parameters::occupy_remote, {}, 1, 60},
      {"rmw", &Parameters::rmw, {}, 1, 30},
      {"contention", &Parameters::contention, {}, 0.5, 8},
      {"outstanding", &Parameters::outstanding, {}, 1, 24},
      {"store_buffer", &Parameters::store_buffer, {}, 1, 24},
      {"issue", &Parameters::issue, {}, 0.5, 12},
      {"notice", &Parameters::notice, {}, 1, 120},
      {"episode", &Parameters::episode, {}, 40, 400},
      {"agent", &Parameters::agent, {}, 0, 12},
      {"link", &Parameters::link, {}, 0, 12},
  };
  return kInfos;
}

}  // namespace hierbar::bench::model
