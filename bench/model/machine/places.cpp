// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/places.hpp"

#include <map>
#include <string>

#include "plan/domains.hpp"
#include "plan/locality.hpp"

namespace hierbar::bench::model {
namespace {

// The outermost unit strictly inside the domain that contains `core`, if several cores share it.
// Else the core.
int cluster_of(const Machine& machine, int core, int domain) {
  int cluster = core;
  for (int unit = core; unit >= 0 && unit != domain; unit = machine.units[unit].parent) cluster = unit;
  return is_shared_by_cores(machine.units[cluster]) ? cluster : core;
}

int enclosing(const Machine& machine, int unit, Level level) {
  while (unit > 0 && !machine.units[unit].has(level)) unit = machine.units[unit].parent;
  return unit;
}

}  // namespace

Result<Places> Places::make(const Machine& machine, const std::vector<CpuSet>& bindings) {
  const Level level = domain_level(machine, std::nullopt);
  std::map<int, std::uint32_t> domains;
  std::map<int, std::uint32_t> packages;
  Places result;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const int core = bindings[i].empty() ? -1 : machine.smallest_unit_containing(bindings[i]);
    if (core < 0 || is_shared_by_cores(machine.units[core])) {
      return Error{"participant " + std::to_string(i) + " is not bound to one core"};
    }
    const int domain = enclosing(machine, core, level);
    const int package = enclosing(machine, core, Level::kPackage);
    const auto package_number = packages.try_emplace(package, static_cast<std::uint32_t>(packages.size())).first->second;
    const auto [position, is_new] = domains.try_emplace(domain, static_cast<std::uint32_t>(domains.size()));
    if (is_new) result.package_of_domain_.push_back(package_number);
    result.places_.push_back(Place{static_cast<std::uint32_t>(core),
                                   static_cast<std::uint32_t>(cluster_of(machine, core, domain)), position->second,
                                   package_number});
  }
  return result;
}

}  // namespace hierbar::bench::model
