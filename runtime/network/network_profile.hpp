// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quartiles.hpp"
#include "base/result.hpp"
#include "base/variables.hpp"
#include "network/contention/contention_table.hpp"
#include "network/parameters.hpp"

namespace hierbar::network {

// What was measured of networks, from which meetings between nodes are chosen. A file holds several
// networks. Each is of one MPI library, one choice of its transport, one number of nodes and one
// version of hierbar. Those of other versions are not read. Members that are not known here are not
// read either, and are kept when a network is added.
//
//   HIERBAR_NETWORK   off, or the path of a file. If it is not set: network.json in
//                     $XDG_CONFIG_HOME/hierbar or ~/.config/hierbar, if it exists
inline constexpr const char* kNetworkVariable = "HIERBAR_NETWORK";
inline constexpr const char* kNetworkFormat = "hierbar-network-1";

// A larger file is refused without being parsed. One network has some 2 KiB, and
// 60 KiB with the costs of shared channels.
inline constexpr std::size_t kMaxNetworkBytes = 2 << 20;
inline constexpr std::uint32_t kMaxNodes = 1U << 20;

// Pairs of nodes that are equally far from each other.
struct PairClass {
  std::string name;             // "same switch"
  std::uint32_t num_pairs = 0;  // that were measured
  // Of all measurements of all these pairs.
  Quartiles latency_us, send_overhead_us, receive_overhead_us, gap_us, gap_per_byte_us;
  Parameters median() const;
  friend bool operator==(const PairClass&, const PairClass&) = default;
};

struct MeasuredNetwork {
  std::string mpi_library;  // the first line of the library's version
  std::string transport;    // transport_of() the measurement
  std::uint32_t num_nodes = 0;
  std::vector<PairClass> classes;  // at least one
  std::vector<std::string> notes;  // for people: what was clamped
  // What shared channels cost; nothing if it was not measured.
  std::optional<Contention> contention = {};

  // The costs of the slowest class: no barrier ends before its slowest pair.
  Parameters slowest() const;
  bool is_for(const std::string& library, const std::string& transport_used) const {
    return mpi_library == library && transport == transport_used;
  }
};

struct NetworkProfile {
  std::string path;
  std::vector<MeasuredNetwork> networks;

  // The one of this library and transport whose number of nodes is the nearest by ratio; null if
  // there is none.
  const MeasuredNetwork* find(const std::string& library, const std::string& transport,
                              std::uint32_t num_nodes) const;
};

// What the environment asks the MPI library to use between nodes: those of OMPI_MCA_pml,
// OMPI_MCA_btl, UCX_TLS, FI_PROVIDER and MPIR_CVAR_CH4_NETMOD that are set, as
// "OMPI_MCA_btl=tcp,self UCX_TLS=tcp". Empty: the library chooses.
std::string transport_of(const Environment& environment);

// Errors: the text is no file of networks, or what is wrong in it.
Result<NetworkProfile> parse_network_profile(const std::string& text);
// The text of a file to which a network is added. It takes the place of one with the same library,
// transport, number of nodes and version, and keeps that one's further members. `old_text` is empty
// if there is no file. Errors: it is not empty and no file of networks; it would grow too large.
Result<std::string> with_network(const std::string& old_text, const MeasuredNetwork& network);

// Reads a file. Errors: it cannot be read, is not a regular file or is too large; those of
// parse_network_profile().
Result<NetworkProfile> load_network_profile(const std::string& path);

// Where programs look if HIERBAR_NETWORK is not set; empty if there is no home directory.
std::string default_network_path(const Environment& environment);

// The profile that the environment asks for; an empty one if there is none. If it cannot be used,
// that is reported in `problems`.
NetworkProfile read_network_profile(const Environment& environment,
                                    std::vector<std::string>& problems);

}  // namespace hierbar::network
