// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/quartiles.hpp"

namespace hierbar::network {

// The kinds of channels that messages share, from the nearest on. P3 has three of them: memory
// controller (kNuma), processor interconnect (kPackage) and network adapter (kNetwork).
enum class ChannelKind : std::uint8_t {
  kL3,          // between ranks that share an L3 cache
  kNuma,        // inside a NUMA node, between L3 caches
  kAcrossNuma,  // between NUMA nodes of a package
  kPackage,     // between packages
  kNetwork,     // between nodes, through a node's adapter
};
inline constexpr std::array kChannelKinds{ChannelKind::kL3, ChannelKind::kNuma,
                                          ChannelKind::kAcrossNuma, ChannelKind::kPackage,
                                          ChannelKind::kNetwork};
const char* channel_name(ChannelKind kind);  // "l3", "numa", "across-numa", "package", "network"

// Whether a message loads one direction of the channel only. Memory and caches have none.
constexpr bool has_directions(ChannelKind kind) {
  return kind != ChannelKind::kL3 && kind != ChannelKind::kNuma;
}

// P3's table of one kind of channel: t(m, cf) in microseconds, where cf pairs of ranks exchange m
// bytes at the same time over one channel. t is half of the time of an exchange, in which each rank
// sends m bytes and receives as many.
class ContentionTable {
 public:
  void put(std::uint64_t num_bytes, std::uint32_t cf, const Quartiles& time_us) {
    cells_[num_bytes][cf] = time_us;
  }
  bool empty() const { return cells_.empty(); }
  const std::map<std::uint64_t, std::map<std::uint32_t, Quartiles>>& cells() const {
    return cells_;
  }

  // t(m, cf), interpolated along both axes:
  //   - between two sizes, and between two cf, on a straight line;
  //   - above the largest of either in proportion, below the smallest size as that size, since a
  //     short message costs its start-up, and below the smallest cf as that.
  // Requires a table that is not empty, and cf > 0.
  Quartiles time_us(double num_bytes, double cf) const;

  // t(m, cf) / t(m, 1) of a cell, of the medians; 0 if one of them is not there. Below 1 is a
  // measurement like any other: P3 has 0.3 on Gigabit Ethernet.
  double slowdown(std::uint64_t num_bytes, std::uint32_t cf) const;
  // Whether the cell is marked as in P3: more than cf times slower, so that one after the other
  // would be faster than all at once.
  bool is_collapse(std::uint64_t num_bytes, std::uint32_t cf) const {
    return slowdown(num_bytes, cf) > cf;
  }

  friend bool operator==(const ContentionTable&, const ContentionTable&) = default;

 private:
  std::map<std::uint64_t, std::map<std::uint32_t, Quartiles>> cells_;
};

// All tables of one kind of machine, and how they were measured.
struct Contention {
  std::string machine;      // Machine::name, with the number of cores: "EPYC 9354, 64 cores"
  std::string single_copy;  // the mechanism inside a node: "cma", "xpmem"; empty if not known
  std::map<ChannelKind, ContentionTable> tables;

  // The table for a kind; if that was not measured, the next farther one inside the node, and then
  // the next nearer one. Null if there is none. The network has no substitute.
  const ContentionTable* table_for(ChannelKind kind) const;
  friend bool operator==(const Contention&, const Contention&) = default;
};

}  // namespace hierbar::network
