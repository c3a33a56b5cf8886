// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/record/ompt_tool.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "report/report_entry.h"

namespace hierbar::mpi {
namespace {

// The tool, found by its file name. Its symbols cannot be found directly, because runtimes load
// their tools with local binding.
struct Library {
  void* handle = dlopen(HIERBAR_OMPT_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
  Library() = default;
  ~Library() {
    if (handle != nullptr) dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

}  // namespace

bool is_ompt_tool_loaded() { return Library().handle != nullptr; }

std::string read_ompt_tool(bool take) {
  const Library library;
  if (library.handle == nullptr) return "";
  const auto entry =
      reinterpret_cast<hierbar_ompt_report_entry>(dlsym(library.handle, HIERBAR_OMPT_REPORT_ENTRY));
  if (entry == nullptr) return "";
  const std::unique_ptr<char, decltype(&std::free)> report(entry(take ? 1 : 0), &std::free);
  return report == nullptr ? "" : report.get();
}

}  // namespace hierbar::mpi
