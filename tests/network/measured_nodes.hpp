// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "network/network_profile.hpp"
#include "tests/cli/run_hierbar.hpp"
#include "tests/support/surroundings.hpp"

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

namespace hierbar::test {

// For commands that predict: a small node, and a network of such nodes that was measured.
class MeasuredCommand : public testing::Test {
 protected:
  const std::string kShape = "pack:2 l3:1 core:4 pu:1";
  const std::string kIdentity = kShape + ", 8 cores";

  explicit MeasuredCommand(std::string command) : command_(std::move(command)) {
    write("network.json", *network::with_network("", network::test::measured_nodes(kIdentity)));
  }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
    return directory_ / name;
  }
  CommandResult run(const std::string& arguments, const std::string& program = "") {
    return run_hierbar(command_ + " " + arguments + " --topology '" + kShape + "'" + program,
                       "HIERBAR_NETWORK=" + std::string(directory_ / "network.json"));
  }
  // What the command says when it refuses them.
  std::string refused(const std::string& arguments, const std::string& program = "") {
    const CommandResult result = run(arguments, program);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.output, testing::IsEmpty()) << arguments;
    return result.errors;
  }

  TemporaryDirectory directory_;

 private:
  std::string command_;
};

}  // namespace hierbar::test
