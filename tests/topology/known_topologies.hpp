// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

namespace hierbar::test {

// A topology as a test parameter.
struct KnownTopology {
  std::string name;         // for the test's name
  std::string description;  // what load_described_machine() takes
  bool recorded = false;    // an XML file of the recorded ones, which may be absent
};

inline std::string recorded_topology(const std::string& file) { return std::string(HIERBAR_TOPOLOGIES_DIR "/") + file; }

inline std::string why_absent(const std::string& path) {
  return access(path.c_str(), R_OK) == 0 ? "" : "no recorded topology " + path + "; set HIERBAR_TOPOLOGIES_DIR";
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
  for (const char* file : {"coral-lassen", "eas-tioga", "epyc-corona-p2", "fake-cpuless-numa", "hybrid-6p8e", "kunpeng920-2x64",
                           "memory-side-caches-80", "opteron-32-cgroup2-6allowed", "xeon-16-offline-cpus"}) {
    std::string name = file;
    std::erase(name, '-');
    topologies.push_back({name, recorded_topology(std::string(file) + ".xml"), true});
  }
  return topologies;
}

}  // namespace hierbar::test
