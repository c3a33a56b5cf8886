// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/typical/typical_network.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace hierbar::network {
namespace {

// Beyond the largest cf a table goes on in proportion, and an exchange grows with each pair. So two
// columns say all.
constexpr std::uint32_t kColumns[] = {1, 64};

ContentionTable table_of(const std::vector<PublishedMessage>& messages) {
  ContentionTable table;
  for (const PublishedMessage& message : messages) {
    for (const std::uint32_t cf : kColumns) {
      const double exchange_us = message.latency_us + (cf - 1) * message.stream_us;
      table.put(message.num_bytes, cf, {exchange_us / 2, 0.75 * exchange_us, exchange_us});
    }
  }
  return table;
}

// A beginning such as "infiniband" is like all names that begin so.
std::size_t unlikeness(const std::string& wrong, const std::string& name) {
  return std::min(letters_apart(wrong, name), letters_apart(wrong, name.substr(0, wrong.size())) + 1);
}

}  // namespace

Contention TypicalNetwork::contention() const {
  Contention contention;
  contention.machine = std::string("typical ") + name;
  contention.tables[ChannelKind::kNetwork] = table_of(messages);
  // The farthest kind inside a node stands in for all nearer ones.
  contention.tables[ChannelKind::kPackage] = table_of(messages_inside_a_node());
  return contention;
}

const TypicalNetwork* find_typical_network(const std::string& name) {
  const auto& all = typical_networks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const TypicalNetwork& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string typical_names() {
  std::string names;
  for (const TypicalNetwork& one : typical_networks()) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

std::string nearest_typical_names(const std::string& wrong) {
  constexpr std::size_t kMostLetters = 256;  // the cost is the product of both lengths
  if (wrong.empty() || wrong.size() > kMostLetters) return "";
  std::size_t least = std::max<std::size_t>(1, wrong.size() / 3) + 1;
  std::string names;
  for (const TypicalNetwork& one : typical_networks()) {
    const std::size_t here = unlikeness(wrong, one.name);
    if (here > least) continue;
    if (here < least) names.clear();
    least = here;
    names += (names.empty() ? "'" : " or '") + std::string(one.name) + "'";
  }
  return names;
}

}  // namespace hierbar::network
