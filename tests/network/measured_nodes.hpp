// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "network/network_profile.hpp"

namespace hierbar::network::test {

// What a cluster of nodes with 2 packages of 4 cores might cost: L3s of 5 GB/s, 3 GB/s
// between packages and an adapter of 12.5 MB/s, each shared fairly; all quartiles `spread` apart.
inline MeasuredNetwork measured_nodes(const std::string& machine, double spread = 0.02) {
  const auto fair = [spread](double start_us, double bytes_per_us) {
    ContentionTable table;
    for (std::uint64_t size = 1024; size <= (16U << 20); size *= 4) {
      for (std::uint32_t cf = 1; cf <= 4; ++cf) {
        const double time = (start_us + cf * static_cast<double>(size) / bytes_per_us) / 2;
        table.put(size, cf, {time * (1 - spread), time, time * (1 + spread)});
      }
    }
    return table;
  };
  Contention contention{machine, "", {}};
  contention.tables[ChannelKind::kL3] = fair(1, 5000);
  contention.tables[ChannelKind::kPackage] = fair(2, 3000);
  contention.tables[ChannelKind::kNetwork] = fair(100, 12.5);
  return {.mpi_library = "MPICH 4",
          .transport = "",
          .num_nodes = 8,
          .classes = {{"all", 1, {80, 80, 80}, {10, 10, 10}, {10, 10, 10}, {1, 1, 1}, {0, 0, 0}}},
          .notes = {},
          .contention = contention};
}

}  // namespace hierbar::network::test
