// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <string>
#include <utility>

// A machine that no synthetic description can say, as hwloc XML written by hand.
namespace hierbar {

// An object of hwloc's XML.
class XmlObject {
 public:
  XmlObject(const std::string& type, const std::string& cpus, const std::string& attributes = "") {
    text_ = "<object type=\"" + type + "\" cpuset=\"" + cpus + "\" complete_cpuset=\"" + cpus + "\" gp_index=\"" +
            std::to_string(next_index_++) + "\" nodeset=\"0x1\" complete_nodeset=\"0x3\" " + attributes + ">";
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
                     "depth=\"" + std::to_string(depth) + "\" cache_size=\"" + std::to_string(size) + "\" cache_linesize=\"" +
                         std::to_string(line) + "\" cache_associativity=\"0\" cache_type=\"0\"");
  };
  const XmlObject node = XmlObject("NUMANode", "0xff", R"(os_index="0" local_memory="1024")");
  XmlObject l3 =
      cache("L3Cache", "0xff", 3, 3 << 20, 128)
          .with(cache("MemCache", "0xff", 1, 1 << 20, 0).with(node))
          .with(cluster("0x0f").with(core("0x03", 0, 1)).with(cache("L2Cache", "0x0c", 2, 1 << 20, 64).with(core("0x0c", 2, 3))))
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
