// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "bench/model/machine/machine_file.hpp"
#include "plan/locality.hpp"

namespace hierbar::bench::model {

// The exit code of barrier_model for bad options and bad input.
inline constexpr int kUsage = 2;

// Ends the command with one message and exit code kUsage.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Options that several commands have.
struct CommonOptions {
  std::string machine;
  std::string topology;
  std::string c2c;
  std::string mapping = "core";
  std::uint64_t seed = 1;
  std::string json_path;  // empty: none; "-": stdout, and then no tables
};
void add_machine_options(CLI::App& command, CommonOptions& options, const char* default_machine);
void add_mapping_option(CLI::App& command, CommonOptions& options);
void add_run_options(CLI::App& command, CommonOptions& options);

// -n is an error that names the option that the command has. In all programs of the project -n is
// the ranks of a job (docs/words.md).
void refuse_short_n(CLI::App& command, const char* instead);

// These throw Refusal.
ModelMachine chosen_machine(const CommonOptions& options);
Mapping chosen_mapping(const CommonOptions& options);
// What begins every JSON file but the table's. The rows are still to come.
nlohmann::ordered_json start_report(const char* format, const ModelMachine& machine,
                                    const CommonOptions& options);
template <typename T>
T require(Result<T> result) {
  if (!result) throw Refusal(result.error());
  return *std::move(result);
}

// Each function adds its subcommand. `status` becomes the program's exit code.
void add_table_command(CLI::App& app, int& status);
void add_compare_command(CLI::App& app);
void add_scale_command(CLI::App& app, int& status);
void add_hybrid_command(CLI::App& app, int& status);
void add_region_command(CLI::App& app, int& status);
void add_decode_command(CLI::App& app);
void add_design_command(CLI::App& app);
void add_calibrate_command(CLI::App& app);
void add_host_command(CLI::App& app, int& status);

}  // namespace hierbar::bench::model
