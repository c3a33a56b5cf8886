// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "bench/model/machine/parameters.hpp"
#include "topology/machine.hpp"

namespace hierbar::bench::model {

// The place of a participant. Two participants have the same number if they share the unit.
struct Place {
  std::uint32_t core;
  // The largest unit inside the domain that several cores share. If there is none, the core's
  // number.
  std::uint32_t cluster;
  std::uint32_t domain;
  std::uint32_t package;
};

// The places of all participants. Domains and packages are numbered from 0.
class Places {
 public:
  // Errors: a participant is not bound to a single core.
  static Result<Places> make(const Machine& machine, const std::vector<CpuSet>& bindings);

  std::uint32_t count() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t num_domains() const { return static_cast<std::uint32_t>(package_of_domain_.size()); }
  const Place& operator[](std::uint32_t participant) const { return places_[participant]; }
  std::uint32_t package_of(std::uint32_t domain) const { return package_of_domain_[domain]; }

  Distance between(std::uint32_t a, std::uint32_t b) const {
    const Place& left = places_[a];
    const Place& right = places_[b];
    if (left.core == right.core) return Distance::kCore;
    if (left.cluster == right.cluster) return Distance::kCluster;
    if (left.domain == right.domain) return Distance::kDomain;
    return left.package == right.package ? Distance::kPackage : Distance::kMachine;
  }
  Distance between_domains(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return Distance::kDomain;
    return package_of_domain_[a] == package_of_domain_[b] ? Distance::kPackage : Distance::kMachine;
  }

 private:
  std::vector<Place> places_;
  std::vector<std::uint32_t> package_of_domain_;
};

}  // namespace hierbar::bench::model
