// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/launch.hpp"

#include <cinttypes>
#include <cstdio>

namespace hierbar {
namespace {

std::string join_cpus(const CpuSet& cpus, char separator) {
  std::string text;
  for (const std::uint32_t cpu : cpus) text += (text.empty() ? "" : std::string(1, separator)) + std::to_string(cpu);
  return text;
}

std::string hexadecimal(const CpuSet& cpus) {
  std::string text = "0x";
  for (std::size_t i = cpus.words().size(); i-- > 0;) {
    char digits[17];
    std::snprintf(digits, sizeof digits, i + 1 == cpus.words().size() ? "%" PRIx64 : "%016" PRIx64, cpus.words()[i]);
    text += digits;
  }
  return text;
}

template <class Write>
std::string list(const std::string& option, const std::vector<CpuSet>& shares, Write write) {
  std::string text = option;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) text += (rank == 0 ? "" : ",") + write(shares[rank]);
  return text;
}

}  // namespace

std::string hydra_option(const std::vector<CpuSet>& shares) {
  return list("-bind-to user:", shares, [](const CpuSet& share) { return join_cpus(share, '+'); });
}

std::string slurm_option(const std::vector<CpuSet>& shares) { return list("--cpu-bind=mask_cpu:", shares, hexadecimal); }

std::string omp_places(const Machine& machine, const CpuSet& share) {
  std::string text;
  for (const Unit& unit : machine.units) {
    const CpuSet cpus = unit.cpus & share;
    if (!unit.children.empty() || cpus.empty()) continue;
    text += (text.empty() ? "{" : ",{") + join_cpus(cpus, ',') + "}";
  }
  return text;
}

}  // namespace hierbar
