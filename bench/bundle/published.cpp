// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/bundle/published.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/statistics.hpp"

namespace hierbar::bench::bundle {
namespace {

using Members = std::initializer_list<const char*>;

// These members, as they are: numbers, words of this project's programs, and arrays of them.
ordered_json chosen(const json& from, Members members) {
  ordered_json result;
  if (!from.is_object()) return result;
  for (const char* const member : members)
    result[member] = from.contains(member) ? ordered_json(from[member]) : ordered_json();
  return result;
}

// Clears members that are texts from elsewhere.
void clear(ordered_json& from, const PrivateNames& names, Members members) {
  for (const char* const member : members) {
    if (from.contains(member) && from[member].is_string())
      from[member] = names.clear(from[member].get<std::string>());
  }
}

ordered_json host_of(const json& host) {
  ordered_json result = chosen(host, {"cpu", "topology", "governor", "virtual", "allowed_cpus"});
  if (!host.is_object()) return result;
  result["kernel"] = kernel_version(host.value("kernel", ""));
  return result;
}

// Only settings of runtimes. A loader's paths are not among them.
ordered_json environment_of(const json& variables, const PrivateNames& names) {
  ordered_json result = ordered_json::object();
  for (const auto& [name, value] : variables.items()) {
    const bool is_setting = name.starts_with("KMP_") || name.starts_with("OMP_") ||
                            name.starts_with("GOMP_") || name.starts_with("HIERBAR_");
    if (is_setting && value.is_string()) result[name] = names.clear(value.get<std::string>());
  }
  return result;
}

ordered_json configuration_of(const json& one, const PrivateNames& names,
                              const std::filesystem::path& bundle) {
  ordered_json result =
      chosen(one, {"name", "explains", "version", "compiler", "openmp", "unavailable"});
  clear(result, names, {"version", "compiler", "unavailable"});
  result["library"] = public_path(one.value("library", ""), bundle);
  result["environment"] = environment_of(one.value("environment", json::object()), names);
  return result;
}

// The median of each repetition.
ordered_json samples_of(const json& samples) {
  ordered_json result = ordered_json::array();
  for (const json& one : samples) {
    ordered_json sample{{"repetition", one.at("repetition")}, {"ns", ordered_json::array()}};
    if (const auto middle = median(one.at("ns").get<std::vector<double>>()))
      sample["ns"].push_back(*middle);
    result.push_back(std::move(sample));
  }
  return result;
}

ordered_json group_of(const json& group, const PrivateNames& names) {
  ordered_json result = chosen(group, {"construct", "threads", "bound", "oversubscribed",
                                       "one_way_ns", "regime", "settled", "disturbed", "blocks"});
  result["series"] = ordered_json::array();
  for (const json& one : group.at("series")) {
    ordered_json series = chosen(
        one, {"name", "kind", "failure", "summary", "ideal", "sync_share", "ratio_to_reference"});
    clear(series, names, {"failure"});
    series["samples"] = samples_of(one.at("samples"));
    result["series"].push_back(std::move(series));
  }
  return result;
}

}  // namespace

ordered_json published_openmp(const json& report, const PrivateNames& names,
                              const std::filesystem::path& bundle) {
  if (!report.is_object()) return {};
  ordered_json result = chosen(report, {"format"});
  result["host"] = host_of(report.at("host"));
  result["build"] = chosen(report.at("build"), {"compiler", "revision", "program_flags"});
  result["settings"] =
      chosen(report.at("settings"), {"repetitions", "budget_ms", "delay_ns", "operations", "seed",
                                     "graph_work_ns", "reference", "passive", "blocktime"});
  result["run"] =
      chosen(report.at("run"),
             {"seconds", "repetitions", "one_way_ns", "regime_changes", "repeated_blocks",
              "waited_s", "stopped_by", "cpu_share_of_others", "cpu_share_stolen"});
  result["configurations"] = result["groups"] = ordered_json::array();
  for (const json& one : report.at("configurations"))
    result["configurations"].push_back(configuration_of(one, names, bundle));
  for (const json& group : report.at("groups")) result["groups"].push_back(group_of(group, names));
  return result;
}

ordered_json published_topology(const json& topology, const PrivateNames& names) {
  if (!topology.is_object()) return {};
  ordered_json result =
      chosen(topology, {"name", "num_cores", "num_cpus", "present", "allowed", "line_bytes",
                        "l3_bytes", "active_levels", "warnings", "units"});
  for (ordered_json& warning : result["warnings"])
    warning = names.clear(warning.get<std::string>());
  for (ordered_json& unit : result["units"])
    unit = chosen(json(unit), {"labels", "active", "cpus", "parent", "depth"});
  return result;
}

ordered_json published_latencies(const json& profile) {
  if (!profile.is_object()) return {};
  ordered_json result = chosen(profile, {"pause_ns"});
  result["classes"] = ordered_json::array();
  for (const json& one : profile.at("latencies")) {
    ordered_json pairs = ordered_json::array();
    for (const json& pair : one.at("pairs"))
      pairs.push_back(chosen(pair, {"cpus", "store_ns", "paused_ns", "cas_ns"}));
    result["classes"].push_back({{"class", one.at("class")}, {"pairs", std::move(pairs)}});
  }
  return result;
}

std::string kernel_version(const std::string& release) {
  const std::size_t begin = std::min(release.find_first_of("0123456789"), release.size());
  const std::size_t end = std::min(release.find_first_not_of("0123456789.", begin), release.size());
  return release.substr(begin, end - begin);
}

}  // namespace hierbar::bench::bundle
