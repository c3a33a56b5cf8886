// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/report_command.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/machine_option.hpp"
#include "ompt-tools/report_merge.hpp"

namespace hierbar {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  bool json = false;
  bool csv = false;
};

[[noreturn]] void refuse_file(const std::string& file, const std::string& reason) {
  std::cerr << "hierbar report: " << file << ": " << reason
            << "; must be a file that libhierbar_ompt.so wrote with HIERBAR_REPORT=json\n";
  throw CLI::RuntimeError(kExitBadInput);
}

ompt::Report read_report(const std::string& file) {
  std::ifstream stream(file);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (!stream) refuse_file(file, "cannot be read");
  try {
    return ompt::parse_report(text);
  } catch (const std::runtime_error& error) {
    refuse_file(file, error.what());
  }
}

void show(const ReportOptions& options) {
  ompt::Report report = read_report(options.files.front());
  for (std::size_t i = 1; i < options.files.size(); ++i) ompt::merge_report(report, read_report(options.files[i]));
  std::cout << (options.json ? ompt::to_json(report) : options.csv ? ompt::to_csv(report) : ompt::to_text(report));
}

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "Merge the reports that libhierbar_ompt.so wrote for several processes");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("FILE", options->files, "Reports in JSON (HIERBAR_REPORT=json)")->required();
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON, which can be merged again");
  command->add_flag("--csv", options->csv, "Print CSV: a line for each histogram")->excludes(json);
  command->footer(
      "Barriers at the same place, of the same kind and team size are one; threads are added by their numbers. What\n"
      "cannot be added, such as the clock, is the first file's; resolution and stamp cost are the worst.\n"
      "\n"
      "Examples:\n"
      "  HIERBAR_REPORT=json HIERBAR_OUTPUT=run-%r OMP_TOOL_LIBRARIES=libhierbar_ompt.so mpiexec -n 4 ./program\n"
      "  hierbar report run-*.json\n");
  command->callback([options] { show(*options); });
}

}  // namespace hierbar
