// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/trusted_variable.hpp"
#include "cli/option/machine_option.hpp"
#include "report/files.hpp"
#include "report/format/html.hpp"
#include "report/format/lstopo.hpp"
#include "report/format/perfetto.hpp"
#include "report/merge.hpp"
#include "topology/export/lstopo_xml.hpp"

namespace hierbar {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  bool json = false;
  bool csv = false;
  std::string html;  // empty: none
  std::string perfetto;
  std::string lstopo;
  std::string description;  // of the machine
};

// Reads and parses a file that was written with HIERBAR_REPORT=`format`.
template <class Parse>
auto read_file(const std::string& file, const char* format, Parse parse) try {
  std::ifstream stream(file);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (!stream) throw std::runtime_error("cannot be read");
  return parse(text);
} catch (const std::runtime_error& error) {
  std::cerr << "hierbar report: " << file << ": " << error.what()
            << "; it must be a file written with HIERBAR_REPORT=" << format << "\n";
  throw CLI::RuntimeError(kExitBadInput);
}

report::Report read_report(const std::string& file) {
  return read_file(file, "json", report::parse_report);
}

void write_perfetto(const ReportOptions& options) {
  report::Timeline timeline;
  for (const std::string& file : options.files)
    merge_timeline(timeline, read_file(file, "perfetto", report::parse_perfetto));
  if (!report::write_file(options.perfetto, to_perfetto(timeline)))
    throw CLI::RuntimeError(kExitBadInput);
}

// Takes each report by itself. Threads with the same number in two processes run on different cpus.
void write_lstopo(const CLI::App& command, const ReportOptions& options) {
  std::vector<MeasuredCpus> measured;
  for (const std::string& file : options.files) {
    for (const report::HeatSpot& spot : find_heat(read_report(file)))
      measured.push_back({spot.cpus, spot.what, spot.sum_ns, spot.count});
  }
  const char* variable = trusted_variable("HIERBAR_TOPOLOGY");
  const std::string other = variable == nullptr ? "" : variable;
  const std::string problem = write_heat_xml(
      options.lstopo, command.count("--topology") > 0 ? options.description : other, measured);
  if (!problem.empty())
    refuse("--lstopo", options.lstopo, problem,
           "a file that can be written, and a machine as for --topology");
}

void show(const CLI::App& command, const ReportOptions& options) {
  if (!options.lstopo.empty()) return write_lstopo(command, options);
  if (!options.perfetto.empty()) return write_perfetto(options);
  report::Report report = read_report(options.files.front());
  if (options.files.size() > 1) {
    report::Merger merger(report);
    for (std::size_t i = 1; i < options.files.size(); ++i)
      merger.add(read_report(options.files[i]));
    report::sort_sites(report);
  }
  if (!options.html.empty()) {
    if (!report::write_file(options.html, report::to_html(report)))
      throw CLI::RuntimeError(kExitBadInput);
    if (!options.json && !options.csv) return;
  }
  std::cout << (options.json  ? report::to_json(report)
                : options.csv ? report::to_csv(report)
                              : report::to_text(report));
}

constexpr const char* kFooter =
    "Barriers at the same place, of the same kind and team size become one row; threads are added "
    "by their numbers. Values\n"
    "that cannot be added, such as the clock, come from the first file; resolution and stamp cost "
    "are the worst of all.\n"
    "\n"
    "The page that --html writes shows for each site imbalance and sync, the levels of the "
    "barrier's tree, histograms, and\n"
    "who arrives last in each process, with tables. Any browser can open it, and it loads no other "
    "files.\n"
    "\n"
    "Traces of one host have one clock; traces of several hosts are aligned by the hosts' times of "
    "day. The result is kept\n"
    "below 50 MB: if necessary, each thread's oldest barriers are left out and counted.\n"
    "\n"
    "Examples:\n"
    "  HIERBAR_REPORT=json HIERBAR_OUTPUT=run-%r OMP_TOOL_LIBRARIES=libhierbar_ompt.so mpiexec -n "
    "4 ./program\n"
    "  hierbar report run-*.json\n"
    "  hierbar report run-*.json --html run.html\n"
    "  hierbar report run-*.trace.json --perfetto run.json\n"
    "  hierbar report run-*.json --lstopo run.xml; lstopo --input run.xml run.svg\n";

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "report", "Merge the reports that libhierbar_ompt.so wrote for several processes");
  auto options = std::make_shared<ReportOptions>();
  command
      ->add_option(
          "FILE", options->files,
          "Reports in JSON (HIERBAR_REPORT=json); for --perfetto, traces (HIERBAR_REPORT=perfetto)")
      ->required();
  CLI::Option* json =
      command->add_flag("--json", options->json, "Print JSON, which can be merged again");
  CLI::Option* csv =
      command->add_flag("--csv", options->csv, "Print CSV: a line for each histogram")
          ->excludes(json);
  CLI::Option* html =
      command
          ->add_option("--html", options->html,
                       "Write a self-contained page with charts to this file, and print no text")
          ->type_name("FILE");
  CLI::Option* lstopo = command->add_option(
      "--lstopo", options->lstopo,
      "Write the machine to this file, coloured by the time of barriers in each part, for 'lstopo "
      "--input FILE', and print\n"
      "nothing. The machine is this one; use --topology if the reports come from another");
  lstopo->type_name("FILE")->excludes(json)->excludes(csv)->excludes(html);
  command
      ->add_option("--perfetto", options->perfetto,
                   "Write the traces of several processes to this file, on one time line, for "
                   "https://ui.perfetto.dev, and print nothing")
      ->type_name("FILE")
      ->excludes(json)
      ->excludes(csv)
      ->excludes(html)
      ->excludes(lstopo);
  add_machine_option(*command, options->description);
  command->footer(kFooter);
  command->callback([command, options] { show(*command, *options); });
}

}  // namespace hierbar
