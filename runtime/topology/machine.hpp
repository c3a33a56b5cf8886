// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// A level of the machine that people name. One set of cpus may carry several labels (on Kunpeng 920 an L3 is a NUMA node).
enum class Level : std::uint8_t { kCore, kL2, kCluster, kL3, kDie, kNuma, kPackage, kMachine };
inline constexpr int kNumLevels = 8;

// Limits of what is taken for a machine, whoever describes it. Linux stops at 8192 cpus; coherence lines of 256 bytes are the
// largest that are known, and a page must hold one.
inline constexpr std::uint32_t kMaxMachineCpus = 1U << 13;
inline constexpr std::uint32_t kMaxLineBytes = 4096;

// One set of cpus that share something. Units are the *distinct nested* cpusets of the machine, so a level that adds nothing
// (one L3 per package) is a second label on the same unit and never a unit of its own.
struct Unit {
  CpuSet cpus;               // every present cpu below, by operating-system number
  std::uint32_t labels = 0;  // bit (1 << Level)
  int parent = -1;           // index into Machine::units; -1 for the machine itself
  std::vector<int> children;
  int depth = 0;  // 0 for the machine

  bool has(Level level) const { return (labels >> static_cast<int>(level)) & 1U; }
};

// What the machine is: plain data, no hwloc behind it. units[0] is the whole machine; parents come before their children, and the
// units stand in the order in which one meets them walking the tree, so that neighbours are next to each other. The leaves are
// the cores: every present cpu is in exactly one of them.
struct Machine {
  std::vector<Unit> units;
  CpuSet present;                     // online cpus
  CpuSet allowed;                     // those this process may use
  std::uint32_t line_bytes = 64;      // largest coherence line of any cache level; 64 if unknown
  std::uint32_t l3_bytes = 0;         // 0 if unknown
  std::string name;                   // for people: cpu model, or the XML file / synthetic string
  std::uint64_t load_ns = 0;          // what loading cost
  std::vector<std::string> warnings;  // what did not go as asked, one line each; whoever loads the machine shows them

  // Index of the smallest unit that contains all of `cpus`; 0 (the machine) when they share nothing smaller.
  // -1 when `cpus` is empty or holds no cpu of this machine.
  int smallest_unit_containing(const CpuSet& cpus) const;

  // For every core that has a cpu in `among`, its first such cpu. Counting the members that a unit holds counts its cores.
  CpuSet one_cpu_per_core(const CpuSet& among) const;
};

const char* level_name(Level level);  // "core", "l2", "cluster", "l3", "die", "numa", "package", "machine"

}  // namespace hierbar
