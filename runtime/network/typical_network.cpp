// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/typical_network.hpp"

//
// The published figures. A number that nobody has published says so.
// docs/reference/typical-networks.md has the same figures for readers.

#include <algorithm>

#include "base/text.hpp"

namespace hierbar::network {
namespace {

constexpr const char* kClouds =
    "Converged Computing, performance study of HPC in clouds, "
    "github.com/converged-computing/performance-study, 2024 "
    "(doi 10.5281/zenodo.13738495)";
constexpr const char* kTukey =
    "P. Carns, example output of Netgauge for the simulator CODES, github.com/codes-org/codes, "
    "tests/conf/ng-mpi-tukey.dat, 2013";
constexpr const char* kTaurus =
    "C. Heinrich, calibrations for SimGrid, github.com/Ezibenroc/platform-calibration, "
    "data/taurus_26_07_2016, 2016 and 2017; the adapters: "
    "github.com/grid5000/reference-repository, taurus-1.json";
constexpr const char* kAssumption = "assumption";

constexpr const char* kRate =
    "the shortest time per message; neither side can be busy for longer, so it is an upper bound "
    "of both overheads";
constexpr const char* kRest = "the 8-byte latency without both overheads; so it is a lower bound";

TypicalNetwork infiniband_hdr() {
  return {.name = "infiniband-hdr",
          .description =
              "InfiniBand of 200 Gb/s, Open MPI with UCX; Azure HB120-96rs_v3, 84 runs between two "
              "nodes",
          .parameters = {1.085, 0.2475, 0.2475, 0.2475, 1 / 24672.0},
          .messages = {{8, 1.58, 8 / 32.31},
                       {1024, 2.6, 1024 / 3338.4},
                       {4096, 3.49, 4096 / 9113.2},
                       {16384, 5.305, 16384 / 18983.6},
                       {65536, 8.98, 65536 / 23341.2},
                       {262144, 17.2, 262144 / 24350.2},
                       {1048576, 49.405, 1048576 / 24611.2},
                       {4194304, 176.86, 4194304 / 24671.9}},
          .origins = {
              {"o_s, o_r", "osu_bw, 8 bytes, median: 32.31 MB/s, which is a message in 0.2475 us",
               kClouds, kRate},
              {"L", "osu_latency, 8 bytes: 1.58 us (quartiles 1.57 and 1.59)", kClouds, kRest},
              {"g", "the same 0.2475 us", kClouds, "the time from one message to the next"},
              {"G", "osu_bw, 4 MiB: 24672 MB/s", kClouds, "1 / 24672 us for a byte"},
              {"t(m, cf)", "medians of osu_latency and osu_bw at 8 sizes", kClouds,
               "the bounds of an exchange"}}};
}

TypicalNetwork infiniband_16g() {
  return {
      .name = "infiniband-16g",
      .description =
          "InfiniBand on which 16 Gb/s were reached, MVAPICH; Tukey, Argonne National Laboratory",
      .parameters = {3.15, 1.1495, 1.0742, 1.0777, 0.0005},
      .messages = {{8, 5.374, 1.097},
                   {1024, 8.057, 1.272},
                   {4096, 11.395, 2.497},
                   {16384, 24.439, 20.418},
                   {65536, 47.826, 44.97},
                   {262144, 145.9, 142.76},
                   {1048576, 538.04, 534.35},
                   {4194304, 2105.9, 2098.5}},
      .origins = {{"o_s, o_r", "Netgauge, 8 bytes: o_s 1.149528 us, o_r 1.074179 us", kTukey,
                   "as published"},
                  {"L", "Netgauge, 8 bytes: a round trip of 10.747203 us", kTukey,
                   "half of it without both overheads"},
                  {"g", "Netgauge, 8 bytes: g 1.077706 us", kTukey, "as published"},
                  {"G", "Netgauge, 512 KiB to 4 MiB: G 0.000497 to 0.000498 us", kTukey, "rounded"},
                  {"t(m, cf)", "round trips of 1 and of 10 messages at 8 sizes", kTukey,
                   "latency: half a round trip; stream: a ninth of what 9 further messages add; "
                   "then the bounds of an exchange"}}};
}

TypicalNetwork ethernet_10g() {
  constexpr double kByte_us = 0.00149;
  return {
      .name = "ethernet-10g-tcp",
      .description =
          "Ethernet of 10 Gb/s with TCP, Open MPI; Grid'5000's cluster taurus, Intel X520 adapters",
      .parameters = {15.86, 3.8, 3.52, 3.8, kByte_us},
      .messages = {{8, 23.18, 3.8},
                   {1024, 39.9, 3.8},
                   {4096, 60.5, 4096 * kByte_us},
                   {16384, 74.1, 16384 * kByte_us},
                   {65536, 143.7, 65536 * kByte_us},
                   {262144, 468, 262144 * kByte_us},
                   {1048576, 1625, 1048576 * kByte_us}},
      .origins = {
          {"o_s", "MPI_Send of small messages: 3.799 us + 0.00011 us for a byte", kTaurus,
           "at 8 bytes"},
          {"o_r", "MPI_Recv of small messages that have come: 3.518 us + 0.0003 us for a byte",
           kTaurus, "at 8 bytes"},
          {"L", "a round trip of small messages: 46.09 us + 0.033 us for a byte", kTaurus,
           "half of it at 8 bytes, without both overheads"},
          {"g", "no stream of messages was published", kAssumption,
           "the larger overhead: no process sends faster"},
          {"G", "a round trip of large messages: 124.7 us + 0.00298 us for a byte", kTaurus,
           "half of what a byte adds"},
          {"t(m, cf)", "regressions of round trips over five ranges of sizes", kTaurus,
           "half a round trip; stream: g, or the bytes by G; then the bounds of an exchange"}}};
}

TypicalNetwork ethernet_cloud() {
  return {
      .name = "ethernet-cloud-tcp",
      .description =
          "a cloud's Ethernet with TCP, Open MPI; Google c2d-standard-112, not placed together, 29 "
          "runs between two nodes",
      .parameters = {24.81, 3.43, 3.43, 3.43, 1 / 2003.0},
      .messages = {{64, 34.8, 64 / 18.66},
                   {1024, 36.89, 1024 / 246.4},
                   {4096, 47.64, 4096 / 705.6},
                   {16384, 72.83, 16384 / 1442.9},
                   {65536, 268.6, 65536 / 1659.5},
                   {262144, 315.1, 262144 / 1384.6},
                   {1048576, 868.4, 1048576 / 977.3},
                   {4194304, 3693.6, 4194304 / 926.6}},
      .origins = {
          {"o_s, o_r",
           "osu_bw, 64 bytes, median: 18.66 MB/s, which is a message in 3.43 us (8 bytes: 13 us)",
           kClouds, kRate},
          {"L", "osu_latency, 8 bytes: 31.67 us (quartiles 31.38 and 31.91)", kClouds, kRest},
          {"g", "the same 3.43 us", kClouds, "the time from one message to the next"},
          {"G", "osu_bw at its best, 128 KiB: 2003 MB/s", kClouds, "1 / 2003 us for a byte"},
          {"t(m, cf)", "medians of osu_latency and osu_bw at 8 sizes", kClouds,
           "the bounds of an exchange"},
          {"link", "its rate is not in the source", kAssumption,
           "several pairs get no more than one got"}}};
}

}  // namespace

const std::vector<TypicalNetwork>& typical_networks() {
  static const std::vector<TypicalNetwork> all{infiniband_hdr(), infiniband_16g(), ethernet_10g(),
                                               ethernet_cloud()};
  return all;
}

const std::vector<PublishedMessage>& messages_inside_a_node() {
  static const std::vector<PublishedMessage> messages{
      {8, 0.63, 0.11},           {1024, 1.21, 0.69},       {4096, 2.7, 2.18},
      {16384, 4, 3.48},          {65536, 8.33, 7.81},      {262144, 35.74, 35.22},
      {1048576, 139.44, 138.92}, {4194304, 572.76, 572.24}};
  return messages;
}

const Origin& origin_inside_a_node() {
  static const Origin origin{
      "t(m, cf) inside a node",
      "osu_latency between two cores of a NUMA node of a Xeon E5-2699 v3, Open MPI 3.0.1",
      "DensenLiu, github.com/open-mpi/ompi, issue 5490, 2018",
      "stream: the latency without that of an empty message, as if copies wait for each other; "
      "then the bounds of an exchange"};
  return origin;
}

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
  return std::min(letters_apart(wrong, name),
                  letters_apart(wrong, name.substr(0, wrong.size())) + 1);
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
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const TypicalNetwork& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string typical_names() {
  std::string names;
  for (const TypicalNetwork& one : typical_networks())
    names += (names.empty() ? "" : ", ") + std::string(one.name);
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
