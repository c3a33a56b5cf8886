// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// bundle_results: what run_here.sh of the bench bundle does not leave to a shell. `--help` prints
// its manual.

#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "bench/bundle/machine_facts.hpp"
#include "bench/bundle/private_names.hpp"
#include "bench/bundle/published.hpp"
#include "bench/common/host.hpp"
#include "bench/common/run_options.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "topology/load.hpp"

namespace hierbar::bench::bundle {
namespace {

// The number behind the name is the schema's. It grows when a member changes its meaning or goes;
// bench/common/report/sent_in.py reads it.
constexpr const char* kFormat = "hierbar-bundle-1";

constexpr const char* kDescription =
    "What run_here.sh of the bench bundle needs beside the benchmark: what this machine allows, "
    "and one file of all results, without names of hosts or users, and without paths.\n";

// hwloc knows what the control group allows, and the benchmark also obeys taskset and the like.
Machine machine_here() {
  Result<Machine> machine = load_live_machine();
  if (!machine) throw std::runtime_error(machine.error());
  const Result<CpuSet> own = own_cpus();
  if (own && own->intersects(machine->allowed)) machine->allowed &= *own;
  return *std::move(machine);
}

// Prints the sizes of teams for omp_barrier_bench's --threads, and on stderr what makes the machine
// a worse one. Returns 2 if nothing can be measured.
int plan() {
  const Machine machine = machine_here();
  const Limits limits = limits_of(machine, read_cpu_quota());
  const Host host = describe_host();
  for (const std::string& note : notes_on(limits, load_average(), host.governor))
    fmt::print(stderr, "note: {}\n", note);
  const std::vector<std::uint32_t> sizes = team_sizes(machine, limits);
  if (sizes.empty()) return kUsage;
  fmt::print("{}\n", fmt::join(sizes, ","));
  return 0;
}

struct JoinOptions {
  std::string output;
  std::string directory;  // of the parts
  double load_before = -1;
  bool interrupted = false;
};

// A part that another program wrote; null if it is missing or was cut off.
json part(const JoinOptions& options, const char* name) {
  std::ifstream file(options.directory + "/" + name);
  json found = json::parse(file, nullptr, /*allow_exceptions=*/false);
  return found.is_discarded() ? json() : found;
}

ordered_json or_null(double load) { return load < 0 ? ordered_json() : ordered_json(load); }

ordered_json machine_json(const JoinOptions& options, const PrivateNames& names) {
  const Machine machine = machine_here();
  const Limits limits = limits_of(machine, read_cpu_quota());
  const Host host = describe_host();
  ordered_json result{{"cpu", host.cpu_model},
                      {"virtual", host.hypervisor},
                      {"kernel", kernel_version(host.kernel)},
                      {"governor", host.governor},
                      {"cpus_online", limits.num_online},
                      {"cpus_allowed", limits.num_allowed},
                      {"cores_allowed", limits.num_cores},
                      {"cpu_quota", limits.quota ? ordered_json(*limits.quota) : ordered_json()}};
  result["caches"] = caches_json(static_cast<std::uint32_t>(machine.allowed.first()));
  result["numa"] = numa_json();
  result["topology"] = published_topology(part(options, "topology.json"), names);
  if (!result["topology"].is_null()) result["topology"]["allowed"] = machine.allowed.to_string();
  return result;
}

// Whether all was measured, or what ended it.
const char* ended(const JoinOptions& options, const json& openmp) {
  if (options.interrupted) return "interrupted";
  if (!openmp.is_object()) return "failed";
  return openmp.at("run").value("stopped_by", json()).is_null() ? "complete" : "time";
}

ordered_json document(const JoinOptions& options, const PrivateNames& names) {
  const json openmp = part(options, "openmp.json");
  return {{"format", kFormat},
          {"bundle",
           {{"version", HIERBAR_BUNDLE_VERSION},
            {"revision", kRevision},
            {"processor", HIERBAR_BUNDLE_PROCESSOR},
            {"libc", gnu_get_libc_version()}}},
          {"ended", ended(options, openmp)},
          {"load_average",
           {{"before", or_null(options.load_before)}, {"after", or_null(load_average())}}},
          {"machine", machine_json(options, names)},
          {"latencies", published_latencies(part(options, "latencies.json"))},
          {"openmp", published_openmp(openmp, names, prefix_of_program())}};
}

int join(const JoinOptions& options) {
  const PrivateNames names = PrivateNames::of_process();
  NewFile file(options.output);
  if (!file.problem().empty()) throw std::runtime_error(file.problem());
  const ordered_json results = document(options, names);
  const std::string text = results.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  for (const std::string& name : names.found_in(text)) {
    fmt::print(stderr,
               "note: the file has the word '{}', which is also a name of this host or user\n",
               name);
  }
  if (const std::string problem = file.finish(text); !problem.empty())
    throw std::runtime_error(problem);
  if (!results["openmp"].is_null()) return 0;
  fmt::print(stderr, "bundle_results: no barrier was measured; the file has the machine only\n");
  return 1;
}

void add_commands(CLI::App& app, JoinOptions& options, int& status) {
  app.require_subcommand(1);
  app.add_subcommand("plan", "Print the sizes of teams to measure, and notes on stderr")
      ->callback([&status] { status = plan(); });
  app.add_subcommand("load", "Print the load average of one minute")->callback([] {
    fmt::print("{}\n", load_average());
  });
  CLI::App* command = app.add_subcommand("join", "Write one file of all parts");
  command->add_option("--output", options.output, "The file")->required()->type_name("FILE");
  command
      ->add_option("--parts", options.directory,
                   "Where topology.json, latencies.json and openmp.json are; those that are not "
                   "there are null")
      ->required()
      ->type_name("DIR");
  command->add_option("--load-before", options.load_before, "What `load` printed at the start")
      ->type_name("LOAD");
  command->add_flag("--interrupted", options.interrupted, "The user ended the measurement");
  command->callback([&] { status = join(options); });
}

}  // namespace
}  // namespace hierbar::bench::bundle

int main(int argc, char** argv) {
  using namespace hierbar::bench;
  int status = 0;
  try {
    CLI::App app{bundle::kDescription, "bundle_results"};
    app.footer(
        "Exit status: 0 done; 1 the file has no figures; 2 wrong arguments, or the file cannot be "
        "written; with plan: nothing can be measured here\n");
    bundle::JoinOptions options;
    bundle::add_commands(app, options, status);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : kUsage;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "bundle_results: {}\n", error.what());
    return kUsage;
  }
  return status;
}
