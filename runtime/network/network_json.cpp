// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/network_profile.hpp"

#ifdef HIERBAR_WITHOUT_JSON

namespace hierbar::network {

Result<NetworkProfile> parse_network_profile(const std::string&) {
  return Error{"this was built without nlohmann_json"};
}

Result<std::string> with_network(const std::string&, const MeasuredNetwork&) {
  return Error{"this was built without nlohmann_json"};
}

}  // namespace hierbar::network

#else

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "../include/hierbar/hierbar.h"
#include "network/contention/traffic.hpp"
#include "network/network_json.hpp"
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
  return value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 &&
         value.get<std::uint64_t>() <= most;
}

bool is_time(const json& value) {
  return value.is_number() && value.get<double>() > 0 && value.get<double>() <= kMostParameter_us;
}

bool put_cell(ContentionTable& table, const json& cell) {
  if (!cell.is_array() || cell.size() != 5 || !is_count(cell[0], kMostTrafficBytes) ||
      !is_count(cell[1], kMostPairs))
    return false;
  if (!std::all_of(cell.begin() + 2, cell.end(), is_time)) return false;
  const Quartiles time{cell[2].get<double>(), cell[3].get<double>(), cell[4].get<double>()};
  if (time.lower > time.median || time.median > time.upper) return false;
  table.put(cell[0].get<std::uint64_t>(), cell[1].get<std::uint32_t>(), time);
  return true;
}

Result<ContentionTable> read_table(const json& cells) {
  if (!cells.is_array() || cells.empty() || cells.size() > kMostCells)
    return Error{"cells: 1 to 4096"};
  ContentionTable table;
  for (const json& cell : cells) {
    if (!put_cell(table, cell))
      return Error{"cells: [bytes, pairs, q1, median, q3] with 0 < q1 <= median <= q3 <= 1e9"};
  }
  return table;
}

// A text of at most kMostText characters; empty if the member is not there.
std::optional<std::string> short_text_in(const json& entry, const char* name) {
  const auto member = entry.find(name);
  if (member == entry.end()) return "";
  if (!member->is_string() || member->get_ref<const std::string&>().size() > kMostText)
    return std::nullopt;
  return member->get<std::string>();
}

}  // namespace

Result<Contention> read_contention(const json& entry) {
  if (!entry.is_object()) return Error{"is not an object"};
  const std::optional<std::string> machine = short_text_in(entry, "machine");
  const std::optional<std::string> single_copy = short_text_in(entry, "single_copy");
  if (!machine || machine->empty() || !single_copy)
    return Error{"needs machine, and single_copy: at most 1024 characters"};
  Contention contention{*machine, *single_copy, {}};
  const auto tables = entry.find("tables");
  if (tables == entry.end() || !tables->is_array() || tables->empty()) return Error{"needs tables"};
  for (const json& one : *tables) {
    const std::optional<ChannelKind> kind =
        one.is_object() ? kind_of(one.value("channel", json())) : std::nullopt;
    if (!kind)
      return Error{"needs in each table a channel: l3, numa, across-numa, package or network"};
    Result<ContentionTable> table = read_table(one.value("cells", json()));
    if (!table)
      return Error{std::string("needs in the table of ") + channel_name(*kind) + " " +
                   table.error()};
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
  return {{"machine", contention.machine},
          {"single_copy", contention.single_copy},
          {"tables", std::move(tables)}};
}

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMostNetworks = 256;
constexpr std::size_t kMostClasses = 64;
constexpr std::size_t kMostNotes = 64;

struct Member {
  const char* name;
  Quartiles PairClass::* value;
};
constexpr std::array<Member, 5> kMembers{{{"L_us", &PairClass::latency_us},
                                          {"o_s_us", &PairClass::send_overhead_us},
                                          {"o_r_us", &PairClass::receive_overhead_us},
                                          {"g_us", &PairClass::gap_us},
                                          {"G_us_per_byte", &PairClass::gap_per_byte_us}}};

template <class Json>
std::string text_in(const Json& object, const char* name) {
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->template get<std::string>() : "";
}

// A number from 1 to `most`; 0 if the member is anything else.
template <class Json>
std::uint32_t count_in(const Json& object, const char* name, std::uint32_t most) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_number_unsigned()) return 0;
  const auto number = member->template get<std::uint64_t>();
  return number <= most ? static_cast<std::uint32_t>(number) : 0;
}

// -1 if the member is no number in the range of parameters.
double number_in(const json& object, const char* name) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_number()) return -1;
  const auto number = member->get<double>();
  return number >= 0 && number <= kMostParameter_us ? number : -1;
}

Result<Quartiles> read_quartiles(const json& object, const char* name) {
  const auto member = object.find(name);
  const std::string needs = "needs " + std::string(name) + ": q1 <= median <= q3, each 0 to 1e9";
  if (member == object.end() || !member->is_object()) return Error{needs};
  const Quartiles quartiles{number_in(*member, "q1"), number_in(*member, "median"),
                            number_in(*member, "q3")};
  if (!(quartiles.lower >= 0 && quartiles.lower <= quartiles.median &&
        quartiles.median <= quartiles.upper))
    return Error{needs};
  return quartiles;
}

Result<PairClass> read_class(const json& entry) {
  if (!entry.is_object()) return Error{"is not an object"};
  PairClass read;
  read.name = text_in(entry, "name");
  read.num_pairs = count_in(entry, "pairs", 1U << 31);
  if (read.name.empty() || read.name.size() > kMostText)
    return Error{"needs name: 1 to 1024 characters"};
  if (read.num_pairs == 0) return Error{"needs pairs: a number above 0"};
  for (const Member& member : kMembers) {
    const Result<Quartiles> quartiles = read_quartiles(entry, member.name);
    if (!quartiles) return Error{quartiles.error()};
    read.*member.value = *quartiles;
  }
  return read;
}

Result<MeasuredNetwork> read_network(const json& entry) {
  if (!entry.is_object()) return Error{" is not an object"};
  MeasuredNetwork network{.mpi_library = text_in(entry, "mpi"),
                          .transport = text_in(entry, "transport"),
                          .num_nodes = count_in(entry, "nodes", kMaxNodes),
                          .classes = {},
                          .notes = {},
                          .contention = {}};
  if (network.mpi_library.empty() || network.mpi_library.size() > kMostText ||
      network.transport.size() > kMostText) {
    return Error{" needs mpi: the library's name, and transport, of at most 1024 characters"};
  }
  if (network.num_nodes < 2) return Error{" needs nodes: 2 to " + std::to_string(kMaxNodes)};
  const json classes = entry.value("classes", json());
  if (!classes.is_array() || classes.empty() || classes.size() > kMostClasses) {
    return Error{" needs classes: 1 to " + std::to_string(kMostClasses)};
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Result<PairClass> one = read_class(classes[i]);
    if (!one) return Error{".classes[" + std::to_string(i) + "] " + one.error()};
    network.classes.push_back(*std::move(one));
  }
  const json notes = entry.value("notes", json::array());
  if (!notes.is_array() || notes.size() > kMostNotes)
    return Error{" has notes that are not a short array"};
  for (const json& note : notes) {
    if (!note.is_string() || note.get_ref<const std::string&>().size() > kMostText)
      return Error{" has a note that is not a short text"};
    network.notes.push_back(note.get<std::string>());
  }
  if (const auto member = entry.find("contention"); member != entry.end()) {
    Result<Contention> contention = read_contention(*member);
    if (!contention) return Error{".contention " + contention.error()};
    network.contention = *std::move(contention);
  }
  return network;
}

ordered_json to_json(const MeasuredNetwork& network) {
  ordered_json classes = ordered_json::array();
  for (const PairClass& one : network.classes) {
    ordered_json entry{{"name", one.name}, {"pairs", one.num_pairs}};
    for (const Member& member : kMembers) {
      const Quartiles& quartiles = one.*member.value;
      entry[member.name] = {
          {"q1", quartiles.lower}, {"median", quartiles.median}, {"q3", quartiles.upper}};
    }
    classes.push_back(std::move(entry));
  }
  ordered_json entry{{"hierbar", HIERBAR_VERSION_STRING}, {"mpi", network.mpi_library},
                     {"transport", network.transport},    {"nodes", network.num_nodes},
                     {"classes", std::move(classes)},     {"notes", network.notes}};
  if (network.contention) entry["contention"] = contention_json(*network.contention);
  return entry;
}

// Whether an entry is of this version of hierbar. One without a version is.
bool is_of_this_version(const json& entry) {
  return !entry.is_object() || !entry.contains("hierbar") ||
         text_in(entry, "hierbar") == HIERBAR_VERSION_STRING;
}

// The root of a file, with its networks in an array.
template <class Json>
Result<Json> parse_root(const std::string& text) {
  Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object()) return Error{"it is not JSON, or cut off"};
  if (const std::string format = text_in(root, "format"); format != kNetworkFormat) {
    return Error{"its format is '" + format.substr(0, 64) + "' and not '" + kNetworkFormat + "'"};
  }
  const auto networks = root.find("networks");
  if (networks == root.end() || !networks->is_array() || networks->size() > kMostNetworks) {
    return Error{"its 'networks' are not an array of at most " + std::to_string(kMostNetworks)};
  }
  return root;
}

}  // namespace

Result<NetworkProfile> parse_network_profile(const std::string& text) {
  const Result<json> root = parse_root<json>(text);
  if (!root) return Error{root.error()};
  const json& networks = (*root)["networks"];
  NetworkProfile profile;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    if (!is_of_this_version(networks[i])) continue;
    Result<MeasuredNetwork> network = read_network(networks[i]);
    if (!network) return Error{"'networks'[" + std::to_string(i) + "]" + network.error()};
    profile.networks.push_back(*std::move(network));
  }
  return profile;
}

Result<std::string> with_network(const std::string& old_text, const MeasuredNetwork& network) {
  ordered_json root{{"format", kNetworkFormat}, {"networks", ordered_json::array()}};
  if (!old_text.empty()) {
    Result<ordered_json> old = parse_root<ordered_json>(old_text);
    if (!old) return Error{old.error()};
    root = *std::move(old);
  }
  ordered_json entry = to_json(network);
  ordered_json kept = ordered_json::array();
  for (ordered_json& other : root["networks"]) {
    const bool is_same = is_of_this_version(other) && other.is_object() &&
                         text_in(other, "mpi") == network.mpi_library &&
                         text_in(other, "transport") == network.transport &&
                         count_in(other, "nodes", kMaxNodes) == network.num_nodes;
    if (!is_same) {
      kept.push_back(std::move(other));
      continue;
    }
    for (const auto& [name, value] : other.items()) {
      if (!entry.contains(name)) entry[name] = value;
    }
  }
  if (kept.size() == kMostNetworks)
    return Error{"it has " + std::to_string(kMostNetworks) + " networks, which is all it can hold"};
  // The last one was measured last.
  kept.push_back(std::move(entry));
  root["networks"] = std::move(kept);
  // Texts of an MPI library or of the environment may not be UTF-8.
  std::string text = root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
  if (text.size() > kMaxNetworkBytes)
    return Error{"it would have more than " + std::to_string(kMaxNetworkBytes >> 10) + " KiB"};
  return text;
}

}  // namespace hierbar::network

#endif
