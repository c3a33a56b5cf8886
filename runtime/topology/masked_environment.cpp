// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/masked_environment.hpp"

#include <unistd.h>

#include <atomic>
#include <cstring>

namespace hierbar {
namespace {

// What stands in for a hidden entry: a variable that nobody asks for.
char stand_in[] = "HIERBAR_MASKED=";

bool defines(const char* entry, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

}  // namespace

MaskedEnvironment::MaskedEnvironment(std::span<const char* const> names) {
  hidden_.reserve(names.size());
  for (const char* name : names) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      if (!defines(*entry, name)) continue;
      hidden_.push_back(*entry);
      std::atomic_ref<char*>(*entry).store(stand_in, std::memory_order_release);
      break;
    }
  }
}

MaskedEnvironment::~MaskedEnvironment() {
  // By value, not by position: the host may have set other variables meanwhile, which moves the array.
  std::size_t next = 0;
  for (char** entry = environ; next < hidden_.size() && entry != nullptr && *entry != nullptr; ++entry) {
    if (*entry == stand_in) std::atomic_ref<char*>(*entry).store(hidden_[next++], std::memory_order_release);
  }
}

}  // namespace hierbar
