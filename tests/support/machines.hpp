// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar::test {

struct LevelArity {
  Level level;
  int arity;  // 1: a second label on the unit above
};

// Machines without hwloc, for tests of everything behind the topology.
class MachineBuilder {
 public:
  MachineBuilder() {
    machine_.units.resize(1);
    label(0, Level::kMachine);
  }

  // Adds a unit below another one, whose subtree must be complete before the next unit beside it is
  // begun; returns its index. It gets its cpus from the cores below it.
  int add_unit(int parent, Level level) {
    const int index = static_cast<int>(machine_.units.size());
    machine_.units.emplace_back();
    machine_.units[index].parent = parent;
    machine_.units[index].depth = machine_.units[parent].depth + 1;
    machine_.units[parent].children.push_back(index);
    label(index, level);
    return index;
  }

  int add_core(int parent, int num_threads) {
    const int core = add_unit(parent, Level::kCore);
    add_cpus(core, num_threads);
    return core;
  }

  // Gives a core cpus of the next numbers.
  void add_cpus(int core, int num_threads) {
    for (int i = 0; i < num_threads; ++i, ++next_cpu_) {
      for (int unit = core; unit >= 0; unit = machine_.units[unit].parent)
        machine_.units[unit].cpus.set(next_cpu_);
      machine_.present.set(next_cpu_);
      machine_.allowed.set(next_cpu_);
    }
  }

  void label(int unit, Level level) { machine_.units[unit].labels |= label_bit(level); }

  Machine build(std::string name) {
    machine_.name = std::move(name);
    return machine_;
  }

 private:
  Machine machine_;
  std::uint32_t next_cpu_ = 0;
};

namespace internal {

inline void add_levels(MachineBuilder& builder, int unit, const std::vector<LevelArity>& levels,
                       std::size_t next, int threads) {
  for (; next < levels.size() && levels[next].arity == 1; ++next) {
    builder.label(unit, levels[next].level);
    if (levels[next].level == Level::kCore) builder.add_cpus(unit, threads);
  }
  if (next == levels.size()) return;
  for (int i = 0; i < levels[next].arity; ++i) {
    const bool is_core = levels[next].level == Level::kCore;
    const int child =
        is_core ? builder.add_core(unit, threads) : builder.add_unit(unit, levels[next].level);
    add_levels(builder, child, levels, next + 1, threads);
  }
}

}  // namespace internal

// A regular machine: levels from the top down, one of them kCore. Below it only labels may follow.
inline Machine make_machine(std::string name, const std::vector<LevelArity>& levels,
                            int threads_per_core = 1) {
  MachineBuilder builder;
  internal::add_levels(builder, 0, levels, 0, threads_per_core);
  return builder.build(std::move(name));
}

// The machine of the paper: 2 packages of 2 NUMA nodes of 32 cores, in clusters of 4; an L3 is a
// NUMA node.
inline Machine make_kunpeng() {
  Machine machine = make_machine("2 x Kunpeng 920", {{Level::kPackage, 2},
                                                     {Level::kNuma, 2},
                                                     {Level::kL3, 1},
                                                     {Level::kCluster, 8},
                                                     {Level::kCore, 4},
                                                     {Level::kL2, 1}});
  machine.line_bytes = 128;
  return machine;
}

// 6 cores with two threads and 8 small cores in clusters of 4 that share an L2, below one L3.
inline Machine make_hybrid() {
  MachineBuilder builder;
  builder.label(0, Level::kPackage);
  builder.label(0, Level::kNuma);
  builder.label(0, Level::kL3);
  for (int i = 0; i < 6; ++i) builder.label(builder.add_core(0, 2), Level::kL2);
  for (int i = 0; i < 2; ++i) {
    const int cluster = builder.add_unit(0, Level::kL2);
    for (int core = 0; core < 4; ++core) builder.add_core(cluster, 1);
  }
  return builder.build("hybrid 6+8");
}

// 12 cores with two threads below an L3, and beside it in the same package two small cores without
// one.
inline Machine make_partial_l3() {
  MachineBuilder builder;
  builder.label(0, Level::kPackage);
  const int l3 = builder.add_unit(0, Level::kL3);
  for (int i = 0; i < 12; ++i) builder.add_core(l3, 2);
  const int cluster = builder.add_unit(0, Level::kL2);
  for (int i = 0; i < 2; ++i) builder.add_core(cluster, 1);
  return builder.build("small cores outside the L3");
}

}  // namespace hierbar::test

// A machine that no synthetic description can say, as hwloc XML written by hand.

namespace hierbar {

// An object of hwloc's XML.
class XmlObject {
 public:
  XmlObject(const std::string& type, const std::string& cpus, const std::string& attributes = "") {
    text_ = "<object type=\"" + type + "\" cpuset=\"" + cpus + "\" complete_cpuset=\"" + cpus +
            "\" gp_index=\"" + std::to_string(next_index_++) +
            "\" nodeset=\"0x1\" complete_nodeset=\"0x3\" " + attributes + ">";
  }
  XmlObject&& with(const XmlObject& child) && {
    text_ += child.text();
    return std::move(*this);
  }
  std::string text() const { return text_ + "</object>"; }

 private:
  static inline int next_index_ = 1;
  std::string text_;
};

inline XmlObject core(const std::string& cpus, int first, int second) {
  const auto pu = [](int cpu) {
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%x", 1U << cpu);
    return XmlObject("PU", mask, "os_index=\"" + std::to_string(cpu) + "\"");
  };
  return XmlObject("Core", cpus).with(pu(first)).with(pu(second));
}

// Four cores with two threads in two clusters below an L3 with lines of 128 bytes; NUMA node 0
// behind a memory-side cache and node 1 without cpus; cpu 8 is offline, cpus 6 and 7 are not
// allowed.
inline std::string awkward_machine() {
  const auto cluster = [](const std::string& cpus) {
    return XmlObject("Group", cpus, R"(subtype="Cluster" kind="101" subkind="0")");
  };
  const auto cache = [](const char* type, const std::string& cpus, int depth, int size, int line) {
    return XmlObject(type, cpus,
                     "depth=\"" + std::to_string(depth) + "\" cache_size=\"" +
                         std::to_string(size) + "\" cache_linesize=\"" + std::to_string(line) +
                         "\" cache_associativity=\"0\" cache_type=\"0\"");
  };
  const XmlObject node = XmlObject("NUMANode", "0xff", R"(os_index="0" local_memory="1024")");
  XmlObject l3 =
      cache("L3Cache", "0xff", 3, 3 << 20, 128)
          .with(cache("MemCache", "0xff", 1, 1 << 20, 0).with(node))
          .with(cluster("0x0f")
                    .with(core("0x03", 0, 1))
                    .with(cache("L2Cache", "0x0c", 2, 1 << 20, 64).with(core("0x0c", 2, 3))))
          .with(cluster("0xf0").with(core("0x30", 4, 5)).with(core("0xc0", 6, 7)));
  // The line breaks matter: without its libxml plugin hwloc reads XML line by line, as it writes
  // it.
  return "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n"
         R"(<object type="Machine" os_index="0" cpuset="0xff" complete_cpuset="0x1ff" )"
         R"(allowed_cpuset="0x3f" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1000">)"
         R"(<object type="NUMANode" os_index="1" cpuset="0x0" complete_cpuset="0x0" nodeset="0x2" complete_nodeset="0x2" )"
         R"(gp_index="1001" local_memory="1024"></object>)" +
         XmlObject("Package", "0xff").with(l3).text() + "</object></topology>";
}

}  // namespace hierbar
