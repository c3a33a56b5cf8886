// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/contention_table.hpp"

#include <algorithm>
#include <iterator>

namespace hierbar::network {
namespace {

Quartiles scaled(const Quartiles& value, double factor) {
  return {value.lower * factor, value.median * factor, value.upper * factor};
}

Quartiles between(const Quartiles& a, const Quartiles& b, double part) {
  const auto mix = [part](double x, double y) { return x + (y - x) * part; };
  return {mix(a.lower, b.lower), mix(a.median, b.median), mix(a.upper, b.upper)};
}

// The value at x of a curve that is known at the keys of `points`; see time_us(). `value_of` makes
// Quartiles of a point.
template <class Points, class ValueOf>
Quartiles interpolate(const Points& points, double x, ValueOf value_of) {
  const auto above = std::find_if(points.begin(), points.end(), [x](const auto& point) {
    return static_cast<double>(point.first) >= x;
  });
  if (above == points.end()) {
    const auto last = std::prev(points.end());
    return scaled(value_of(last->second), x / static_cast<double>(last->first));
  }
  if (above == points.begin()) return value_of(above->second);
  const auto below = std::prev(above);
  const auto first = static_cast<double>(below->first);
  return between(value_of(below->second), value_of(above->second),
                 (x - first) / (static_cast<double>(above->first) - first));
}

}  // namespace

const char* channel_name(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::kL3:
      return "l3";
    case ChannelKind::kNuma:
      return "numa";
    case ChannelKind::kAcrossNuma:
      return "across-numa";
    case ChannelKind::kPackage:
      return "package";
    case ChannelKind::kNetwork:
      break;
  }
  return "network";
}

Quartiles ContentionTable::time_us(double num_bytes, double cf) const {
  return interpolate(cells_, num_bytes, [cf](const auto& row) {
    return interpolate(row, cf, [](const Quartiles& cell) { return cell; });
  });
}

double ContentionTable::slowdown(std::uint64_t num_bytes, std::uint32_t cf) const {
  const auto row = cells_.find(num_bytes);
  if (row == cells_.end()) return 0;
  const auto alone = row->second.find(1);
  const auto cell = row->second.find(cf);
  if (alone == row->second.end() || cell == row->second.end() || alone->second.median <= 0)
    return 0;
  return cell->second.median / alone->second.median;
}

const ContentionTable* Contention::table_for(ChannelKind kind) const {
  const auto usable = [this](ChannelKind one) {
    const auto found = tables.find(one);
    return found == tables.end() || found->second.empty() ? nullptr : &found->second;
  };
  if (kind == ChannelKind::kNetwork) return usable(kind);
  const auto own = std::find(kChannelKinds.begin(), kChannelKinds.end(), kind);
  const auto network = std::find(kChannelKinds.begin(), kChannelKinds.end(), ChannelKind::kNetwork);
  for (auto at = own; at != network; ++at) {
    if (const ContentionTable* table = usable(*at)) return table;
  }
  for (auto at = own; at != kChannelKinds.begin();) {
    if (const ContentionTable* table = usable(*--at)) return table;
  }
  return nullptr;
}

}  // namespace hierbar::network
