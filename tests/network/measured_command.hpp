// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "tests/cli/run_hierbar.hpp"
#include "tests/network/measured_nodes.hpp"
#include "tests/support/temporary_directory.hpp"

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
