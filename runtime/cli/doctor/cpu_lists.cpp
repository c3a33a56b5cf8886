// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/doctor/cpu_lists.hpp"

#include <charconv>
#include <string_view>

#include "placement/decision/predict_team.hpp"

namespace hierbar {
namespace {

constexpr std::uint32_t kMostCpu = 1U << 16;

// A number at the beginning of the text, which is cut off.
bool read_number(std::string_view& text, std::uint32_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || number > kMostCpu) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool cut(std::string_view& text, char mark) {
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(1);
  return true;
}

// "0 3 1-2 4-15:2", with blanks or commas between the parts; braces may group cpus. Empty if it is
// something else.
CpuSet parse_list(std::string_view text) {
  CpuSet cpus;
  while (!text.empty()) {
    if (text.find_first_of(" ,{}") == 0) {
      text.remove_prefix(1);
      continue;
    }
    std::uint32_t first = 0;
    if (!read_number(text, first)) return {};
    std::uint32_t last = first;
    std::uint32_t stride = 1;
    if (cut(text, '-') && !read_number(text, last)) return {};
    if (cut(text, ':') && (!read_number(text, stride) || stride == 0)) return {};
    for (std::uint32_t cpu = first; cpu <= last; cpu += stride) cpus.set(cpu);
  }
  return cpus;
}

}  // namespace

std::vector<CpuList> read_cpu_lists(const Environment& environment) {
  std::vector<CpuList> lists;
  const auto add = [&](const char* name, const std::string& value, const CpuSet& cpus) {
    if (!cpus.empty()) lists.push_back({name, value, cpus});
  };
  if (const std::string value = value_of(environment, "OMP_PLACES"); !value.empty()) {
    CpuSet cpus;
    if (const Result<std::vector<CpuSet>> places = parse_places(value)) {
      for (const CpuSet& place : *places) cpus |= place;
    }
    add("OMP_PLACES", value, cpus);
  }
  if (const std::string value = value_of(environment, "GOMP_CPU_AFFINITY"); !value.empty()) {
    add("GOMP_CPU_AFFINITY", value, parse_list(value));
  }
  constexpr std::string_view kList = "proclist=[";
  if (const std::string value = value_of(environment, "KMP_AFFINITY"); value.find(kList) != std::string::npos) {
    const std::size_t begin = value.find(kList) + kList.size();
    add("KMP_AFFINITY", value, parse_list(std::string_view(value).substr(begin, value.find(']', begin) - begin)));
  }
  return lists;
}

}  // namespace hierbar
