// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/masked_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace hierbar {
namespace {

// Replaces a hidden entry: a variable that nobody asks for.
char stand_in[] = "HIERBAR_MASKED=";

bool defines(const char* entry, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

}  // namespace

// Hides every entry of a name, not only the first: a program may be started with a variable twice.
// The release stores here and in the destructor publish only strings that existed before; their
// readers are getenv() in other threads.
template <class Wanted>
void MaskedEnvironment::hide(const Wanted& wanted) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!wanted(*entry)) continue;
    hidden_.push_back(*entry);
    std::atomic_ref<char*>(*entry).store(stand_in, std::memory_order_release);
  }
}

MaskedEnvironment::MaskedEnvironment(std::span<const char* const> names) {
  hide([&](const char* entry) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return defines(entry, name); });
  });
}

MaskedEnvironment::MaskedEnvironment(std::string_view prefix) {
  hide([&](const char* entry) { return std::strncmp(entry, prefix.data(), prefix.size()) == 0; });
}

MaskedEnvironment::~MaskedEnvironment() {
  // By value and not by position: the host may have set other variables, which moves the array.
  std::size_t next = 0;
  for (char** entry = environ; next < hidden_.size() && entry != nullptr && *entry != nullptr; ++entry) {
    if (*entry == stand_in) std::atomic_ref<char*>(*entry).store(hidden_[next++], std::memory_order_release);
  }
}

}  // namespace hierbar
