// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace hierbar::test {

// A topology as a test parameter.
struct KnownTopology {
  std::string name;         // for the test's name
  std::string description;  // what load_described_machine() takes
  bool recorded = false;    // an XML file of the recorded ones, which may be absent
};

// The file of a machine of recorded_machines.txt, named without its folder.
inline std::string recorded_topology(const std::string& name) {
  return HIERBAR_TOPOLOGIES "/" + name + ".xml";
}

inline std::string why_absent(const std::string& path) {
  if (access(path.c_str(), R_OK) == 0) return "";
  return "no recorded topology " + path + "; tests/topology/fetch_topologies.sh makes it";
}

// Ends the test with a note when the recorded topology is not there.
#define HIERBAR_NEED_RECORDED(path)                                                    \
  if (const std::string reason = ::hierbar::test::why_absent(path); !reason.empty()) { \
    GTEST_SKIP() << reason;                                                            \
  }                                                                                    \
  static_assert(true, "for the semicolon")

inline constexpr const char* kKunpeng = "pack:2 die:2 [numa] l3:1 group:8 l2:4 core:1 pu:1";
inline constexpr const char* kTurin = "pack:2 [numa] l3:16 l2:8 core:1 pu:2";
inline constexpr const char* kAltra = "pack:1 [numa] l3:1 l2:64 core:1 pu:1";
inline constexpr const char* kA64fx = "pack:1 group:4 [numa] l2:1 core:12 pu:1";
inline constexpr const char* kMilanNps4 = "pack:2 group:4 [numa] l3:2 l2:8 core:1 pu:2";
inline constexpr const char* k2048Cpus = "pack:4 [numa] l3:8 l2:64 core:1 pu:1";

// The names in recorded_machines.txt, without folders. A machine whose file is absent is skipped by
// its tests; a list without names is an error.
inline std::vector<std::string> recorded_names() {
  std::ifstream list(HIERBAR_RECORDED_MACHINES);
  std::vector<std::string> names;
  for (std::string line; std::getline(list, line);) {
    const std::size_t slash = line.find('/');
    if (line.starts_with('#') || slash == std::string::npos) continue;
    names.push_back(line.substr(slash + 1, line.find(' ', slash) - slash - 1));
  }
  if (names.empty()) throw std::runtime_error(HIERBAR_RECORDED_MACHINES " names no machine");
  return names;
}

inline std::vector<KnownTopology> known_topologies() {
  std::vector<KnownTopology> topologies = {
      {"Kunpeng", kKunpeng},
      {"Turin", kTurin},
      {"Altra", kAltra},
      {"A64FX", kA64fx},
      {"MilanNps4", kMilanNps4},
      {"Cpus2048", k2048Cpus},
      {"OneCpu", "pu:1"},
      {"CpusOnly", "pu:3"},
      {"OneCoreTwoThreads", "core:1 pu:2"},
      {"TwoKindsOfMemory", "pack:2 [numa] [numa] core:3 pu:2"},
      {"MemoryOfTheMachineAndOfPackages", "[numa] pack:2 [numa] core:3 pu:2"},
      {"MemoryOfOneThread", "pack:2 core:2 pu:2 [numa]"},
      {"SubNuma", "pack:2 l3:1 group:2 [numa] core:5 pu:2"},
      {"InterleavedNumbers", "pack:2 [numa] core:2 pu:2(indexes=0,4,2,6,1,5,3,7)"},
      {"NestedGroups", "pack:1 l3:2 group:2 group:2 core:2 pu:1"},
  };
  for (const std::string& machine : recorded_names()) {
    std::string name = machine;
    std::erase_if(name, [](unsigned char character) { return std::isalnum(character) == 0; });
    topologies.push_back({name, recorded_topology(machine), true});
  }
  return topologies;
}

}  // namespace hierbar::test
