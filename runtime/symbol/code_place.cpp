// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symbol/code_place.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "base/text.hpp"
#include "symbol/debug_info.hpp"
#include "symbol/function_name.hpp"

namespace hierbar {
namespace {

std::mutex mutex;  // of all below
int num_keepers = 0;

std::string name_of_loader(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr || info.dli_saddr == nullptr) return "";
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  return symbol_name(info.dli_sname) + format_text("+0x%zx", static_cast<std::size_t>(offset));
}

CodePlace find_place(const void* address) {
  CodePlace place;
  place.object = object_of(address);
  if (place.object.path.empty()) return place;
  place.file_address = reinterpret_cast<std::uintptr_t>(address) - place.object.bias;
  read_debug_info(place);
  // What is at the address now may be another library than the one that is meant.
  if (place.symbol.empty() && place.frames.empty() && loaded_object(address).path == place.object.path)
    place.symbol = name_of_loader(address);
  return place;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

KeptDebugFiles::KeptDebugFiles() {
  const std::lock_guard lock(mutex);
  ++num_keepers;
}

KeptDebugFiles::~KeptDebugFiles() {
  const std::lock_guard lock(mutex);
  if (--num_keepers == 0) close_debug_files();
}

CodePlace place_of(const void* return_address) {
  static auto* const known = new std::map<const void*, CodePlace>;  // kept: reports are written when statics are gone
  const std::lock_guard lock(mutex);
  const auto [position, is_new] = known->try_emplace(return_address);
  if (is_new) position->second = find_place(return_address);
  if (is_new && num_keepers == 0) close_debug_files();
  return position->second;
}

std::string to_string(const CodePlace& place, const void* address) {
  if (address == nullptr) return "(address not told)";
  if (place.object.path.empty()) return format_text("%p", address);
  if (place.frames.empty()) {
    if (place.symbol.empty()) return place.object.name + format_text("+0x%zx", static_cast<std::size_t>(place.file_address));
    return place.symbol + " (" + place.object.name + ")";
  }
  std::string text;
  for (const CodeFrame& frame : place.frames) {
    text += (text.empty() ? "" : " in ") + (frame.function.empty() ? place.object.name : short_name(frame.function));
    if (!frame.file.empty()) text += " (" + base_name(frame.file) + format_text(":%u)", frame.line);
  }
  return text;
}

}  // namespace hierbar
