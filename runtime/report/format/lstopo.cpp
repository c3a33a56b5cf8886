// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/format/lstopo.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/library_beside.hpp"
#include "service/lstopo_service.h"

namespace hierbar::report {
namespace {

class Spots {
 public:
  void add(const CpuSet& cpus, const char* what, const Histogram& times) {
    if (cpus.empty() || times.count() == 0) return;
    HeatSpot& spot = spots_[{cpus, what}];
    spot.cpus = cpus;
    spot.what = what;
    spot.sum_ns += times.sum_ns();
    spot.count += times.count();
  }
  std::vector<HeatSpot> list() const {
    std::vector<HeatSpot> list;
    for (const auto& [key, spot] : spots_) list.push_back(spot);
    return list;
  }

 private:
  std::map<std::pair<CpuSet, std::string>, HeatSpot> spots_;
};

// Empty if the cpus of one of the threads are not known.
CpuSet cpus_of(const SiteReport& site, const std::vector<std::uint32_t>& threads) {
  CpuSet all;
  for (const std::uint32_t thread : threads) {
    const auto found = site.threads.find(thread);
    if (found == site.threads.end()) return {};
    const Result<CpuSet> cpus = CpuSet::parse(found->second.cpus);
    if (!cpus || cpus->empty()) return {};
    all |= *cpus;
  }
  return all;
}

void add_levels(Spots& spots, const SiteReport& site) {
  const LevelTimes& levels = site.levels;
  for (std::size_t i = 0; i < levels.groups.size(); ++i) {
    for (const LevelGroups::Group& group : levels.groups[i].groups) {
      const CpuSet cpus = cpus_of(site, group.threads);
      if (i == 0) spots.add(cpus, "exchange", levels.exchange);
      if (i > 0 && i <= levels.gather.size()) spots.add(cpus, "gather", levels.gather[i - 1]);
      if (i > 0 && i <= levels.release.size()) spots.add(cpus, "release", levels.release[i - 1]);
    }
  }
}

}  // namespace

std::vector<HeatSpot> find_heat(const Report& report) {
  const auto has_levels = [](const SiteReport& site) { return site.levels.outside.count() != 0; };
  const bool by_level = std::any_of(report.sites.begin(), report.sites.end(), has_levels);
  Spots spots;
  for (const SiteReport& site : report.sites) {
    if (by_level) {
      add_levels(spots, site);
      continue;
    }
    // The cpus of some thread are not known.
    if (site.team_size > site.threads.size()) continue;
    std::vector<std::uint32_t> team(site.team_size);
    std::iota(team.begin(), team.end(), 0U);
    spots.add(cpus_of(site, team), "barrier", site.span);
  }
  return spots.list();
}

namespace {

void refuse(const std::string& name, const std::string& reason) {
  std::fprintf(stderr, "hierbar: cannot write the report %s: %s\n", name.c_str(), reason.c_str());
}

const char in_this_file = 0;

}  // namespace

bool write_lstopo(const std::string& name, const Report& report) {
  void* const library =
      open_library_beside(file_with(&in_this_file), "libhierbar.so", "libhierbar.so.0");
  const auto write =
      library == nullptr
          ? nullptr
          : reinterpret_cast<decltype(&hierbar_write_heat)>(dlsym(library, "hierbar_write_heat"));
  if (write == nullptr) {
    const char* problem = dlerror();
    refuse(name, std::string("it needs libhierbar.so beside this library: ") +
                     (problem == nullptr ? "not found" : problem));
    return false;
  }
  const std::vector<HeatSpot> spots = find_heat(report);
  std::vector<hierbar_measured> measured;
  for (const HeatSpot& spot : spots) {
    const auto words = spot.cpus.words();
    measured.push_back({{words.data(), static_cast<std::uint32_t>(words.size())},
                        spot.what.c_str(),
                        spot.sum_ns,
                        spot.count});
  }
  const auto report_refusal = [](void* context, const char* line) {
    refuse(*static_cast<const std::string*>(context), line);
  };
  std::string context = name;
  return write(name.c_str(), measured.data(), static_cast<std::uint32_t>(measured.size()),
               report_refusal, &context) == 0;
}

}  // namespace hierbar::report
