// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/format/lstopo.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "report/heat.hpp"
#include "service/lstopo_service.h"

namespace hierbar::report {
namespace {

void refuse(const std::string& name, const std::string& reason) {
  std::fprintf(stderr, "hierbar: cannot write the report %s: %s\n", name.c_str(), reason.c_str());
}

// libhierbar.so beside this library, else the one that the loader finds. It is never unloaded.
void* open_library() {
  constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&open_library), &own) != 0 && own.dli_fname != nullptr) {
    std::error_code problem;
    const std::filesystem::path path = std::filesystem::canonical(own.dli_fname, problem).parent_path() / "libhierbar.so";
    if (void* library = problem ? nullptr : dlopen(path.c_str(), kMode); library != nullptr) return library;
  }
  return dlopen("libhierbar.so.0", kMode);
}

}  // namespace

bool write_lstopo(const std::string& name, const Report& report) {
  void* library = open_library();
  const auto write =
      library == nullptr ? nullptr : reinterpret_cast<decltype(&hierbar_write_heat)>(dlsym(library, "hierbar_write_heat"));
  if (write == nullptr) {
    const char* problem = dlerror();
    refuse(name, std::string("it needs libhierbar.so beside this library: ") + (problem == nullptr ? "not found" : problem));
    return false;
  }
  const std::vector<HeatSpot> spots = find_heat(report);
  std::vector<hierbar_measured> measured;
  for (const HeatSpot& spot : spots) {
    const auto words = spot.cpus.words();
    measured.push_back({{words.data(), static_cast<std::uint32_t>(words.size())}, spot.what.c_str(), spot.sum_ns, spot.count});
  }
  const auto report_refusal = [](void* context, const char* line) { refuse(*static_cast<const std::string*>(context), line); };
  std::string context = name;
  return write(name.c_str(), measured.data(), static_cast<std::uint32_t>(measured.size()), report_refusal, &context) == 0;
}

}  // namespace hierbar::report
