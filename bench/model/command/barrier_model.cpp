// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// barrier_model: barriers on simulated machines. `--help` prints its manual.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bench/common/host.hpp"
#include "bench/model/command/commands.hpp"

namespace hierbar::bench::model {

void add_machine_options(CLI::App& command, CommonOptions& options, const char* default_machine) {
  options.machine = default_machine;
  std::string names;
  for (const std::string& name : machine_names()) names += (names.empty() ? "" : ", ") + name;
  CLI::Option* machine = command
                             .add_option("--machine", options.machine,
                                         "The simulated machine: " + names +
                                             ",\nor the path of a machine file (.json)")
                             ->type_name("NAME|FILE")
                             ->capture_default_str();
  CLI::Option* topology = command
                              .add_option("--topology", options.topology,
                                          "Another machine, as hwloc's XML file or synthetic "
                                          "description; costs that nobody has\n"
                                          "measured there are those of kunpeng920")
                              ->type_name("XML|DESCRIPTION")
                              ->excludes(machine);
  command
      .add_option("--c2c", options.c2c,
                  "Its latencies: a matrix in CSV, row i and column j = ns one way between cpus i "
                  "and j; one\ntriangle is enough")
      ->type_name("FILE")
      ->needs(topology);
}

void add_mapping_option(CLI::App& command, CommonOptions& options) {
  command.add_option("--map", options.mapping, "Where the participants run: core, numa, package")
      ->type_name("HOW")
      ->capture_default_str();
}

void add_run_options(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--seed", options.seed,
                  "Of the random numbers of a run, the costs' small variations: equal seeds give "
                  "equal figures")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--json", options.json_path,
                  "Write everything to FILE; `-`, or nothing: to stdout in place of the tables")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("FILE");
}

void refuse_short_n(CLI::App& command, const char* instead) {
  command
      .add_option_function<std::vector<std::string>>(
          "-n",
          [instead](const std::vector<std::string>&) {
            throw CLI::ValidationError("-n", std::string("is called ") + instead);
          })
      ->expected(0, 1)
      ->trigger_on_parse()
      ->group("");  // not in the help
}

ModelMachine chosen_machine(const CommonOptions& options) {
  if (options.topology.empty()) {
    Result<ModelMachine> machine = load_model_machine(options.machine);
    if (!machine) throw Refusal("--machine: " + machine.error());
    return *std::move(machine);
  }
  Result<ModelMachine> machine = describe_model_machine(options.topology, options.c2c);
  if (!machine) throw Refusal("--topology: " + machine.error());
  return *std::move(machine);
}

nlohmann::ordered_json start_report(const char* format, const ModelMachine& machine,
                                    const CommonOptions& options) {
  return {{"format", format},
          {"revision", kRevision},
          {"machine", machine.title},
          {"provenance", machine.provenance},
          {"map", options.mapping},
          {"seed", options.seed},
          {"rows", nlohmann::ordered_json::array()}};
}

Mapping chosen_mapping(const CommonOptions& options) {
  const Result<Mapping> mapping = parse_mapping(options.mapping);
  if (!mapping || *mapping == Mapping::kNone) {
    throw Refusal("--map: '" + options.mapping +
                  "': no mapping of bound participants; allowed: core, numa, package");
  }
  return *mapping;
}

}  // namespace hierbar::bench::model

namespace {

constexpr const char* kDescription =
    "Barriers on simulated machines: the production code of every algorithm runs on simulated "
    "cores,\n"
    "which contend for cache lines under a coherence protocol.\n";

constexpr const char* kFooter =
    "The costs of cache lines (latencies, queues, invalidations, contention) come from a machine "
    "file: an ensemble of\n"
    "parameter sets, because the published measurements do not determine all of them. Every run is "
    "checked for deadlock\n"
    "and for leaving a barrier before all have entered it.\n"
    "\n"
    "Exit status:\n"
    "  0  done (with --check: every target met)\n"
    "  1  with --check: a target missed\n"
    "  2  wrong arguments, or a machine that cannot be simulated\n"
    "\n"
    "`barrier_model COMMAND --help` explains a command.\n";

}  // namespace

int main(int argc, char** argv) {
  using namespace hierbar::bench::model;
  int status = 0;
  try {
    CLI::App app{kDescription, "barrier_model"};
    app.footer(kFooter);
    app.require_subcommand(1);
    add_table_command(app, status);
    add_compare_command(app);
    add_scale_command(app, status);
    add_hybrid_command(app, status);
    add_region_command(app, status);
    add_decode_command(app);
    add_design_command(app);
    add_calibrate_command(app);
    add_host_command(app, status);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : kUsage;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "barrier_model: {}\n", error.what());
    return kUsage;
  }
  return status;
}
