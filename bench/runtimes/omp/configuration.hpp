// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/runtimes/configuration.hpp"
#include "bench/runtimes/omp/options.hpp"

namespace hierbar::bench::omp {

enum class Runtime : std::uint8_t { kOurLibomp, kStockLibomp, kSystemLibomp, kLibgomp };

// The OMPT tool that is loaded.
enum class Tool : std::uint8_t { kNone, kNoop, kFull, kSampled };

// hier with a tool. --tools measures these and hier.
inline constexpr std::string_view kNoopTool = "hier-noop-tool";
inline constexpr std::string_view kFullTool = "hier-tool";
inline constexpr std::string_view kSampledTool = "hier-tool-sampled";

struct KnownConfiguration {
  std::string_view name;
  Family family;
  Runtime runtime;
  std::string_view pattern;  // of libomp's own barriers; "" for its default
  bool by_default;
  std::string_view explains;
  Tool tool = Tool::kNone;
};

inline constexpr std::array<KnownConfiguration, 15> kConfigurations{{
    {"hier", Family::kHier, Runtime::kOurLibomp, "", true,
     "this project: its libomp, KMP_BARRIER=hier"},
    {"hyper", Family::kStock, Runtime::kOurLibomp, "hyper", true,
     "the same libomp, KMP_BARRIER unset: LLVM's default pattern"},
    {"linear", Family::kStock, Runtime::kOurLibomp, "linear", true, "the same, pattern linear"},
    {"tree", Family::kStock, Runtime::kOurLibomp, "tree", true, "the same, pattern tree"},
    {"dist", Family::kStock, Runtime::kOurLibomp, "dist", true, "the same, pattern dist"},
    {"hierarchical", Family::kStock, Runtime::kOurLibomp, "hierarchical", true,
     "the same, LLVM's own pattern hierarchical"},
    {"stock-build", Family::kStock, Runtime::kStockLibomp, "", true,
     "the same version unpatched, default pattern"},
    {"system-libomp", Family::kStock, Runtime::kSystemLibomp, "", true,
     "the distribution's libomp, default pattern"},
    {"libgomp", Family::kGnu, Runtime::kLibgomp, "", true, "the distribution's libgomp"},
    {"hier-gcc", Family::kOther, Runtime::kOurLibomp, "", false,
     "as hier, the program built by GCC (through libgomp.so.1)"},
    {"hyper-turnaround", Family::kOther, Runtime::kOurLibomp, "hyper", false,
     "as hyper, never sleeping or yielding"},
    {"libgomp-active", Family::kOther, Runtime::kLibgomp, "", false,
     "as libgomp, OMP_WAIT_POLICY=active"},
    {kNoopTool, Family::kOther, Runtime::kOurLibomp, "", false,
     "as hier, with an OMPT tool that does nothing", Tool::kNoop},
    {kFullTool, Family::kOther, Runtime::kOurLibomp, "", false, "as hier, with libhierbar_ompt.so",
     Tool::kFull},
    {kSampledTool, Family::kOther, Runtime::kOurLibomp, "", false, "the same, HIERBAR_SAMPLE=64",
     Tool::kSampled},
}};

struct OmpConfiguration : Configuration {
  // The file that must be loaded. Empty: any file whose name starts with expected_name.
  std::filesystem::path expected_library;
  std::string expected_name;
  // What OMP_DISPLAY_ENV=verbose must show; empty for libgomp.
  std::vector<std::string> expected_settings;

  // Found out by a first run.
  std::string compiler;  // that built the measured program
  int openmp = 0;        // _OPENMP of that compiler
};

// The configurations that `options` name, in the order of kConfigurations. They are not yet
// identified.
[[nodiscard]] std::vector<OmpConfiguration> make_configurations(const OmpBenchOptions& options);

// Runs the measured program once, to see which library it loads.
void identify(OmpConfiguration& configuration);

// The variables of a process of `configuration` with a team of num_threads.
[[nodiscard]] Variables variables_for(const OmpConfiguration& configuration, int num_threads,
                                      bool bound);

}  // namespace hierbar::bench::omp
