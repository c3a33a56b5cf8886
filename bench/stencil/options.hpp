// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hierbar::bench::stencil {

struct StencilOptions {
  int num_ranks = 2;
  int num_threads = 2;  // for each rank
  long rows = 512;
  long columns = 512;
  int num_sweeps = 200;
  int num_samples = 3;  // for each launch
  int num_repetitions = 5;
  double timeout_s = 60;
  std::string bind_to = "core";
  std::string places = "cores";
  std::string barrier;  // of all threads of all ranks: "hybrid" or "phases"; empty: ranks exchange messages
  std::vector<std::string> launch_options;
  std::string json_path;  // empty: none; "-": stdout, and then no table
  std::filesystem::path lib_dir;
  std::filesystem::path libexec_dir;
  std::filesystem::path shim;      // with `barrier`; empty: there is none
  std::filesystem::path launcher;  // empty: there is none
};

// Returns nothing if the program goes on with `options`. Otherwise returns the exit status; the
// message has been printed.
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv, StencilOptions& options);

}  // namespace hierbar::bench::stencil
