// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// omp_barrier_bench: OpenMP constructs under different runtimes, side by side. `--help` is its manual.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/host.hpp"
#include "omp/configuration.hpp"
#include "omp/options.hpp"
#include "omp/report.hpp"
#include "omp/session.hpp"
#include "omp/targets.hpp"

namespace {

using namespace hierbar::bench;

constexpr int kUsage = 2;

// Where --json goes; opened before anything is measured, so that minutes are not measured in vain.
class JsonOutput {
 public:
  explicit JsonOutput(const std::string& path) : path_(path) {
    if (!path_.empty() && path_ != "-") file_.open(path_);
    if (!file_) fail("open");
  }

  void write(const nlohmann::json& report) {
    if (path_.empty()) return;
    std::ostream& stream = path_ == "-" ? std::cout : file_;
    if (!(stream << report.dump(1) << '\n' << std::flush)) fail("write");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error(fmt::format("cannot {} --json {}: {}", what, path_, std::strerror(errno)));
  }

  std::string path_;
  std::ofstream file_;
};

bool all_pass(const std::vector<Verdict>& verdicts) {
  return !verdicts.empty() &&
         std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) { return verdict.outcome == Outcome::kPass; });
}

int run(const Options& options) {
  // 1. What there is to measure.
  const Host host = describe_host();
  std::vector<Configuration> configurations = make_configurations(options);
  const bool tables = options.json_path != "-";
  if (tables) fmt::print("{}", header_text(options, host, configurations));
  std::fflush(stdout);
  if (options.list) return 0;
  if (std::none_of(configurations.begin(), configurations.end(), [](const auto& c) { return c.unavailable.empty(); })) {
    fmt::print(stderr, "omp_barrier_bench: none of the configurations can be measured; --list says why\n");
    return kUsage;
  }

  // 2. Measure and judge.
  JsonOutput json(options.json_path);
  const Results results = measure(options, host, std::move(configurations));
  std::vector<Verdict> verdicts;
  if (options.check) verdicts = judge(results, options, static_cast<int>(host.cpus.size()));

  // 3. Report.
  if (tables) {
    if (!options.brief) fmt::print("{}", groups_text(results, options));
    fmt::print("{}", overview_text(results, options));
    if (options.check) fmt::print("\n{}", verdicts_text(verdicts));
  }
  json.write(json_report(results, options, host, verdicts));
  return options.check && !all_pass(verdicts) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const auto status = parse_options(argc, argv, options)) return *status;
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "omp_barrier_bench: {}\n", error.what());
    return kUsage;
  }
}
