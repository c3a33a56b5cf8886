// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/omp/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace hierbar::bench::omp {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kIdentifyTimeout{10000};
constexpr const char* kOmptTool = "libhierbar_ompt.so";
constexpr std::array<std::string_view, 3> kBarrierKinds{"PLAIN", "FORKJOIN", "REDUCTION"};

bool was_asked_for(const KnownConfiguration& known, const OmpBenchOptions& options) {
  const auto& asked = options.configurations;
  return is_one_of(asked, "all") || is_one_of(asked, known.name) ||
         (known.by_default && (asked.empty() || is_one_of(asked, "default")));
}

// The settings that all configurations get.
Variables common_variables(const OmpBenchOptions& options, Runtime runtime) {
  Variables variables;
  if (options.passive) variables["OMP_WAIT_POLICY"] = "passive";
  if (runtime != Runtime::kLibgomp) {
    if (!options.blocktime.empty()) variables["KMP_BLOCKTIME"] = options.blocktime;
  } else if (options.blocktime == "0" || options.blocktime == "infinite") {
    variables["GOMP_SPINCOUNT"] = options.blocktime;
  }
  return variables;
}

void set_patterns(OmpConfiguration& configuration, std::string_view pattern) {
  for (const std::string_view kind : kBarrierKinds) {
    const std::string name = fmt::format("KMP_{}_BARRIER_PATTERN", kind);
    const std::string value = fmt::format("{0},{0}", pattern);
    // The default pattern is measured without the variable.
    if (pattern != "hyper") configuration.variables[name] = value;
    configuration.expected_settings.push_back(fmt::format("{}='{}'", name, value));
  }
}

fs::path directory_of(const std::string& file) {
  return file.empty() ? fs::path() : fs::absolute(file).parent_path();
}

// Sets the tool, and expects that it is used. Its report goes to stderr, which is read and thrown
// away.
void choose_tool(OmpConfiguration& configuration, Tool tool, const OmpBenchOptions& options) {
  if (tool == Tool::kNone) return;
  const fs::path beside_libomp = options.lib_dir / kOmptTool;  // when installed: one directory up
  const fs::path ours =
      fs::exists(beside_libomp) ? beside_libomp : options.lib_dir / ".." / kOmptTool;
  const fs::path file = tool == Tool::kNoop ? options.libexec_dir / "libnoop_tool.so" : ours;
  configuration.variables["OMP_TOOL_LIBRARIES"] = fs::absolute(file);
  for (const char* const name : {"HIERBAR_OUTPUT", "HIERBAR_OMPT_CHAIN"})
    configuration.variables[name] = "";
  configuration.variables["HIERBAR_REPORT"] = "text";
  configuration.variables["HIERBAR_SAMPLE"] = tool == Tool::kSampled ? "64" : "1";
  configuration.expected_settings.emplace_back("Tool was started and is using the OMPT interface");
  if (!fs::exists(file))
    configuration.unavailable = fmt::format("{} does not exist", file.string());
}

// Chooses the library and the program. They must fit: a program built by GCC asks for libgomp.so.1,
// and one built by Clang for libomp's soname.
void choose_files(OmpConfiguration& configuration, const KnownConfiguration& known,
                  const OmpBenchOptions& options) {
  const bool have_clang_worker = fs::exists(options.libexec_dir / "omp_barrier_worker_clang");
  const bool wants_gcc =
      known.runtime == Runtime::kLibgomp || known.name == "hier-gcc" || !have_clang_worker;
  configuration.worker =
      options.libexec_dir / (wants_gcc ? "omp_barrier_worker_gcc" : "omp_barrier_worker_clang");
  fs::path directory;
  switch (known.runtime) {
    case Runtime::kOurLibomp:
      directory = fs::absolute(options.lib_dir);
      break;
    case Runtime::kStockLibomp:
      directory = fs::absolute(options.stock_dir);
      break;
    case Runtime::kSystemLibomp:
      directory = directory_of(options.peer_libomp);
      break;
    case Runtime::kLibgomp:
      directory = directory_of(options.peer_libgomp);
      break;
  }
  if (!directory.empty()) configuration.variables["LD_LIBRARY_PATH"] = directory;
  configuration.expected_name = known.runtime == Runtime::kLibgomp ? "libgomp" : "libomp";

  if (!fs::exists(configuration.worker)) {
    configuration.unavailable = fmt::format("{} has not been built", configuration.worker.string());
  } else if (known.runtime == Runtime::kOurLibomp || known.runtime == Runtime::kStockLibomp) {
    configuration.expected_library = directory / "libomp.so";
    if (!fs::exists(configuration.expected_library)) {
      configuration.unavailable =
          fmt::format("{} does not exist", configuration.expected_library.string());
    }
  }
}

OmpConfiguration make_configuration(const KnownConfiguration& known,
                                    const OmpBenchOptions& options) {
  OmpConfiguration configuration;
  configuration.name = known.name;
  configuration.explains = known.explains;
  configuration.family = known.family;
  configuration.variables = common_variables(options, known.runtime);
  if (known.family == Family::kHier || known.name == "hier-gcc" || known.tool != Tool::kNone) {
    configuration.variables["KMP_BARRIER"] = "hier";
    configuration.expected_settings.emplace_back("KMP_BARRIER='hier'");
  }
  if (known.name == "hyper-turnaround") {
    configuration.variables["KMP_LIBRARY"] = "turnaround";
    configuration.variables["KMP_BLOCKTIME"] = "infinite";
  }
  if (known.name == "libgomp-active") {
    configuration.variables["OMP_WAIT_POLICY"] = "active";
    configuration.variables.erase("GOMP_SPINCOUNT");  // it would override the policy
  }
  if (!known.pattern.empty()) set_patterns(configuration, known.pattern);
  choose_files(configuration, known, options);
  choose_tool(configuration, known.tool, options);
  return configuration;
}

// The package that owns a file. Empty if that is not known.
std::string package_of(const std::string& file) {
  const fs::path program = "/usr/bin/dpkg-query";
  if (!fs::exists(program)) return "";
  const ChildResult owner = run_child({program, "--search", file}, {}, kIdentifyTimeout);
  if (!owner.failure.empty()) return "";
  const std::string package = owner.output.substr(0, owner.output.find(": "));
  const ChildResult version =
      run_child({program, "--show", "-f", "${Package} ${Version}", package}, {}, kIdentifyTimeout);
  return version.failure.empty() ? version.output : "";
}

// The rest of the line that starts with `label`. libomp prints such lines under KMP_VERSION=1.
std::string line_after(const std::string& text, const std::string& label) {
  const std::size_t start = text.find(label);
  if (start == std::string::npos) return "";
  const std::size_t value = start + label.size();
  return text.substr(value, text.find('\n', value) - value);
}

std::string describe_version(const OmpConfiguration& configuration, const std::string& output) {
  std::string version = package_of(configuration.library);
  if (version.empty() && !configuration.expected_library.empty())
    version = HIERBAR_BENCH_LLVM_VERSION;
  const std::string own = line_after(output, "LLVM OMP version: ");
  const std::string compiler = line_after(output, "LLVM OMP build compiler: ");
  if (!own.empty())
    version += fmt::format("{}says {}, built by {}", version.empty() ? "" : "; ", own, compiler);
  return version.empty() ? "unknown" : version;
}

// Checks that the runtime that answered is the expected one and obeys its settings: a library that
// does not know a setting ignores it, and would be measured under a wrong name. Returns the
// problem; empty if there is none.
std::string mismatch(const OmpConfiguration& configuration, const std::string& output) {
  const fs::path found = configuration.library;
  std::error_code error;
  if (!configuration.expected_library.empty() &&
      !fs::equivalent(found, configuration.expected_library, error)) {
    return fmt::format("the loader took {} in place of {}", found.string(),
                       configuration.expected_library.string());
  }
  if (!found.filename().string().starts_with(configuration.expected_name)) {
    return fmt::format("the loader took {} where {} was meant", found.string(),
                       configuration.expected_name);
  }
  const std::string warning = line_after(output, "OMP: Warning");
  if (!warning.empty()) return fmt::format("{} warns{}", found.string(), warning);
  for (const std::string& setting : configuration.expected_settings) {
    if (output.find(setting) == std::string::npos) {
      return fmt::format(
          "{} does not say {} under OMP_DISPLAY_ENV=verbose OMP_TOOL_VERBOSE_INIT=stderr",
          found.string(), setting);
    }
  }
  return "";
}

}  // namespace

std::vector<OmpConfiguration> make_configurations(const OmpBenchOptions& options) {
  std::vector<OmpConfiguration> configurations;
  for (const KnownConfiguration& known : kConfigurations) {
    if (was_asked_for(known, options)) configurations.push_back(make_configuration(known, options));
  }
  return configurations;
}

void identify(OmpConfiguration& configuration) {
  Variables variables = variables_for(configuration, 2, false);
  variables["OMP_DISPLAY_ENV"] = "verbose";
  variables["OMP_TOOL_VERBOSE_INIT"] = "stderr";
  variables["KMP_VERSION"] = "1";
  const ChildResult result =
      run_child({configuration.worker, "--identify"}, variables, kIdentifyTimeout);
  configuration.unavailable = result.failure;
  if (!configuration.unavailable.empty()) return;
  // A runtime may have written its settings before the answer.
  const std::size_t start = result.output.find("{\"library\"");
  const auto answer = nlohmann::json::parse(
      result.output.substr(std::min(start, result.output.size())), nullptr, false);
  if (answer.is_discarded()) {
    configuration.unavailable = "the program's answer cannot be read";
    return;
  }
  const std::string output = result.output + result.errors;
  configuration.library = answer.value("library", "unknown");
  configuration.compiler = answer.value("compiler", "unknown");
  configuration.openmp = answer.value("openmp", 0);
  configuration.version = describe_version(configuration, output);
  configuration.unavailable = mismatch(configuration, output);
}

Variables variables_for(const OmpConfiguration& configuration, int num_threads, bool bound) {
  Variables variables = configuration.variables;
  variables["OMP_NUM_THREADS"] = std::to_string(num_threads);
  variables["OMP_DYNAMIC"] = "false";
  if (bound) {
    variables["OMP_PLACES"] = "cores";
    variables["OMP_PROC_BIND"] = "close";
  }
  return variables;
}

}  // namespace hierbar::bench::omp
