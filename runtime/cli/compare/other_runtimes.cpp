// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/compare/other_runtimes.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/variables.hpp"
#include "cli/program/run_settings.hpp"
#include "elf/elf_file.hpp"
#include "elf/predict_loads.hpp"

namespace hierbar {
namespace {

namespace fs = std::filesystem;

struct KnownRuntime {
  const char* name;
  LibraryKind kind;
  std::vector<std::string> files;  // in the order of search
};

const std::vector<KnownRuntime>& known_runtimes() {
  static const std::vector<KnownRuntime> kKnown = {
      {"libgomp", LibraryKind::kGccOpenMp, {"libgomp.so.1"}},
      {"libomp", LibraryKind::kLlvmOpenMp, {"libomp.so.5", "libomp.so"}},
      {"libiomp5", LibraryKind::kIntelOpenMp, {"libiomp5.so"}}};
  return kKnown;
}

// The one of the newest LLVM in Debian's directories.
std::string newest_llvm_runtime() {
  std::pair<int, std::string> newest{0, ""};
  for (int version = 1; version < 100; ++version) {
    const std::string file = "/usr/lib/llvm-" + std::to_string(version) + "/lib/libomp.so.5";
    std::error_code unreadable;
    if (fs::exists(file, unreadable)) newest = {version, file};
  }
  return newest.second;
}

// All places, the first one first.
std::vector<std::string> places_of(const KnownRuntime& runtime) {
  std::vector<std::string> places;
  const bool is_llvms = runtime.kind == LibraryKind::kLlvmOpenMp;
  if (is_llvms) places.push_back(find_libraries().stock_runtime);
  const auto cache = read_loader_cache();
  for (const std::string& file : runtime.files) {
    std::istringstream directories(value_of(own_environment(), "LD_LIBRARY_PATH"));
    for (std::string one; std::getline(directories, one, ':');) {
      if (!one.empty()) places.push_back((fs::path(one) / file).string());
    }
    places.push_back(cache(file));
  }
  if (is_llvms) places.push_back(newest_llvm_runtime());
  return places;
}

bool is_file(const std::string& path) {
  std::error_code unreadable;
  return !path.empty() && fs::is_regular_file(path, unreadable);
}

// The file that a user's path means.
std::string file_at(const std::string& path, const KnownRuntime& runtime) {
  if (is_file(path)) return fs::absolute(path).string();
  for (const std::string& name : runtime.files) {
    if (const fs::path file = fs::absolute(path) / name; is_file(file.string()))
      return file.string();
  }
  return "";
}

Way way_as_it_is(const Program& program) { return {.name = kPlainWay, .command = program}; }

Way way_with_hierbar(const WaysRequest& request) {
  const RunSettings settings = choose_run_settings(
      request.program, request.mpi, {}, find_libraries(), read_machine_facts(), own_environment());
  Way way{.name = kHierbarWay, .command = settings.command, .is_ours = true};
  for (const RunSettings::Variable& variable : settings.variables)
    way.variables.emplace_back(variable.name, variable.value);
  return way;
}

// The functions of a runtime that comes first are used, also by a program that loads another one.
Way way_with(const OtherRuntime& runtime, const Program& program) {
  const std::string before = value_of(own_environment(), "LD_PRELOAD");
  const std::string value = runtime.path + (before.empty() ? "" : ":" + before);
  return {.name = runtime.name, .command = program, .variables = {{"LD_PRELOAD", value}}};
}

}  // namespace

Result<OtherRuntime> find_other_runtime(const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const auto& all = known_runtimes();
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const KnownRuntime& one) { return name == one.name; });
  if (known == all.end()) return Error{"there is no runtime '" + name + "'"};
  if (equals != std::string::npos) {
    const std::string path = word.substr(equals + 1);
    const std::string file = file_at(path, *known);
    if (file.empty()) return Error{"there is no " + known->files.back() + " at '" + path + "'"};
    const LibraryKind kind = library_kind(file);
    if (kind != known->kind) return Error{file + " is " + library_name(kind)};
    return OtherRuntime{name, file};
  }
  std::string another;  // under the name, but not it: Debian's libiomp5.so is LLVM's libomp
  for (const std::string& place : places_of(*known)) {
    if (!is_file(place)) continue;
    const LibraryKind kind = library_kind(place);
    if (kind == known->kind) return OtherRuntime{name, place};
    if (another.empty()) another = "; " + place + " is " + library_name(kind);
  }
  return Error{"there is no " + name + " in LD_LIBRARY_PATH, nor among the loader's libraries" +
               another};
}

std::string objection_to(const OtherRuntime& runtime, const ProgramFacts& facts) {
  if (facts.is_static || !facts.static_runtime.empty())
    return "the program has its runtime linked in, so no other one can take its place";
  const LibraryKind kind = library_kind(runtime.path);
  for (const ProcessLoads& process : facts.processes) {
    const auto first =
        std::find_if(process.libraries.begin(), process.libraries.end(),
                     [](const FoundLibrary& library) { return is_openmp(library.kind); });
    if (first == process.libraries.end()) continue;
    std::error_code unresolved;
    if (fs::equivalent(first->path, runtime.path, unresolved))
      return "the program as it is runs on it: " + first->path;
    if (kind == LibraryKind::kGccOpenMp && first->kind != LibraryKind::kGccOpenMp)
      return std::string("the program is built for ") + library_name(first->kind) +
             ", which libgomp cannot replace";
  }
  return "";
}

std::vector<Way> make_ways(const WaysRequest& request) {
  std::vector<std::uint32_t> sizes = request.team_sizes;
  if (sizes.empty()) sizes.push_back(0);
  std::vector<Way> ways;
  for (const std::uint32_t size : sizes) {
    const std::size_t base = ways.size();
    ways.push_back(way_as_it_is(request.program));
    ways.push_back(way_with_hierbar(request));
    for (const OtherRuntime& runtime : request.others)
      ways.push_back(way_with(runtime, request.program));
    for (std::size_t i = base; i < ways.size(); ++i) {
      ways[i].base = base;
      ways[i].team_size = size;
      if (size > 0) ways[i].variables.emplace_back("OMP_NUM_THREADS", std::to_string(size));
    }
  }
  return ways;
}

}  // namespace hierbar
