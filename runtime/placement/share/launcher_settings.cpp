// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/launcher_settings.hpp"

#include <algorithm>
#include <functional>

#include "placement/share/launcher_options.hpp"

namespace hierbar {
namespace {

std::string join(const std::vector<CpuSet>& shares, const char* separator,
                 const std::function<std::string(const CpuSet&)>& write) {
  std::string text;
  for (const CpuSet& share : shares) text += (text.empty() ? "" : separator) + write(share);
  return text;
}

std::string with_commas(const CpuSet& share) { return join_cpus(share, ','); }

// Their number of threads; 0 if it differs.
std::uint32_t common_threads(const NodePlacement& node) {
  const auto differs = [&](std::uint32_t threads) { return threads != node.threads.front(); };
  return std::any_of(node.threads.begin(), node.threads.end(), differs) ? 0 : node.threads.front();
}

Error different_threads(const char* option) {
  return Error{std::string("ranks have different numbers of threads, and ") + option + " is one number for all"};
}

}  // namespace

Result<std::string> slurm_map_cpu(const NodePlacement& node) {
  for (std::size_t rank = 0; rank < node.shares.size(); ++rank) {
    if (node.shares[rank].count() == 1) continue;
    return Error{"rank " + std::to_string(rank) + " has cpus " + node.shares[rank].to_string() +
                 ", and map_cpu gives a rank one; srun takes several as masks"};
  }
  return "--cpu-bind=map_cpu:" + join(node.shares, ",", with_commas);
}

Result<std::string> slurm_policy(const NodePlacement& node, const std::string& policy) {
  const std::uint32_t threads = common_threads(node);
  if (threads == 0) return different_threads("--cpus-per-task");
  return "--cpus-per-task=" + std::to_string(threads) + " --cpu-bind=" + policy;
}

std::string intel_pin_domain(const NodePlacement& node) {
  return "I_MPI_PIN_DOMAIN=[" + join(node.shares, ",", [](const CpuSet& share) { return hexadecimal(share).substr(2); }) + "]";
}

std::string mvapich_mapping(const NodePlacement& node) {
  return "MV2_ENABLE_AFFINITY=1 MV2_CPU_MAPPING=" + join(node.shares, ":", with_commas);
}

Result<std::string> openmpi_map_by(const NodePlacement& node) {
  const std::uint32_t threads = common_threads(node);
  if (threads == 0) return different_threads("PE");
  const std::string elements = ":PE=" + std::to_string(threads) + " --bind-to core";
  switch (node.pattern) {
    case Pattern::kPacked:
      return "--map-by slot" + elements;
    case Pattern::kAlternating:
    case Pattern::kCores:
      return "--map-by socket" + elements;
    case Pattern::kSockets:
      return std::string("--map-by socket --bind-to socket");
    default:
      return Error{std::string("Open MPI has no mapping like '") + pattern_name(node.pattern) + "'; a rankfile has"};
  }
}

std::vector<std::string> taskset_words(const NodePlacement& node) {
  std::vector<std::string> words;
  for (const CpuSet& share : node.shares) words.push_back("taskset -c " + with_commas(share));
  return words;
}

std::string pals_option(const NodePlacement& node) { return "--cpu-bind list:" + join(node.shares, ":", with_commas); }

}  // namespace hierbar
