// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/contention_json.hpp"

#include <algorithm>
#include <optional>

#include "network/contention/traffic.hpp"
#include "network/parameters.hpp"

namespace hierbar::network {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMostCells = 4096;
constexpr std::uint64_t kMostPairs = 65536;

std::optional<ChannelKind> kind_of(const json& name) {
  for (const ChannelKind kind : kChannelKinds) {
    if (name.is_string() && name.get_ref<const std::string&>() == channel_name(kind)) return kind;
  }
  return std::nullopt;
}

bool is_count(const json& value, std::uint64_t most) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 && value.get<std::uint64_t>() <= most;
}

bool is_time(const json& value) {
  return value.is_number() && value.get<double>() > 0 && value.get<double>() <= kMostParameter_us;
}

bool put_cell(ContentionTable& table, const json& cell) {
  if (!cell.is_array() || cell.size() != 5 || !is_count(cell[0], kMostTrafficBytes) || !is_count(cell[1], kMostPairs))
    return false;
  if (!std::all_of(cell.begin() + 2, cell.end(), is_time)) return false;
  const Quartiles time{cell[2].get<double>(), cell[3].get<double>(), cell[4].get<double>()};
  if (time.lower > time.median || time.median > time.upper) return false;
  table.put(cell[0].get<std::uint64_t>(), cell[1].get<std::uint32_t>(), time);
  return true;
}

Result<ContentionTable> read_table(const json& cells) {
  if (!cells.is_array() || cells.empty() || cells.size() > kMostCells) return Error{"cells: 1 to 4096"};
  ContentionTable table;
  for (const json& cell : cells) {
    if (!put_cell(table, cell)) return Error{"cells: [bytes, pairs, q1, median, q3] with 0 < q1 <= median <= q3 <= 1e9"};
  }
  return table;
}

// A text of at most kMostText characters; empty if the member is not there.
std::optional<std::string> short_text_in(const json& entry, const char* name) {
  const auto member = entry.find(name);
  if (member == entry.end()) return "";
  if (!member->is_string() || member->get_ref<const std::string&>().size() > kMostText) return std::nullopt;
  return member->get<std::string>();
}

}  // namespace

Result<Contention> read_contention(const json& entry) {
  if (!entry.is_object()) return Error{"is no object"};
  const std::optional<std::string> machine = short_text_in(entry, "machine");
  const std::optional<std::string> single_copy = short_text_in(entry, "single_copy");
  if (!machine || machine->empty() || !single_copy) return Error{"needs machine, and single_copy: at most 1024 characters"};
  Contention contention{*machine, *single_copy, {}};
  const auto tables = entry.find("tables");
  if (tables == entry.end() || !tables->is_array() || tables->empty()) return Error{"needs tables"};
  for (const json& one : *tables) {
    const std::optional<ChannelKind> kind = one.is_object() ? kind_of(one.value("channel", json())) : std::nullopt;
    if (!kind) return Error{"needs in each table a channel: l3, numa, across-numa, package or network"};
    Result<ContentionTable> table = read_table(one.value("cells", json()));
    if (!table) return Error{std::string("needs in the table of ") + channel_name(*kind) + " " + table.error()};
    contention.tables[*kind] = *std::move(table);
  }
  return contention;
}

ordered_json contention_json(const Contention& contention) {
  ordered_json tables = ordered_json::array();
  for (const auto& [kind, table] : contention.tables) {
    ordered_json cells = ordered_json::array();
    for (const auto& [num_bytes, row] : table.cells()) {
      for (const auto& [cf, time] : row)
        cells.push_back(ordered_json::array({num_bytes, cf, time.lower, time.median, time.upper}));
    }
    tables.push_back({{"channel", channel_name(kind)}, {"cells", std::move(cells)}});
  }
  return {{"machine", contention.machine}, {"single_copy", contention.single_copy}, {"tables", std::move(tables)}};
}

}  // namespace hierbar::network
