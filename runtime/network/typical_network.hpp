// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/contention/contention_table.hpp"
#include "network/parameters.hpp"

namespace hierbar::network {

// Networks of which others have published measurements, for users who have measured none. They are
// not the user's network: whatever is said from them is marked as typical.

// Where a number is from.
struct Origin {
  const char* number;      // "L": which one
  const char* published;   // what the source says, or what is assumed
  const char* source;      // who, where, in which year; "assumption" if nobody has published it
  const char* derivation;  // how the number follows
};

// A message of this size between two ranks that do nothing else.
struct PublishedMessage {
  std::uint64_t num_bytes = 0;
  double latency_us = 0;  // one way: half a round trip
  double stream_us = 0;   // from one message to the next, many being under way
};

struct TypicalNetwork {
  const char* name;         // as --network takes it
  const char* description;  // which machines were measured
  Parameters parameters;
  std::vector<PublishedMessage> messages;  // by size
  std::vector<Origin> origins;

  // t(m, cf) between nodes, and inside a node. Nobody has published these, so the quartiles are the
  // bounds of what an exchange by cf pairs can take:
  //   lower  both directions at the same time: E = latency(m) + (cf - 1) stream(m)
  //   upper  one direction after the other: 2 E
  // t is half of an exchange. The median is the middle of the two.
  Contention contention() const;
};

const std::vector<TypicalNetwork>& typical_networks();

// Null if there is none of this name.
const TypicalNetwork* find_typical_network(const std::string& name);

// "infiniband-hdr, infiniband-16g, ...": all names.
std::string typical_names();
// The names that are the most like a wrong one, as "'a' or 'b'"; empty if none is like it.
std::string nearest_typical_names(const std::string& wrong);

// Messages inside a node of a typical network, and where they are from.
const std::vector<PublishedMessage>& messages_inside_a_node();
const Origin& origin_inside_a_node();

}  // namespace hierbar::network
