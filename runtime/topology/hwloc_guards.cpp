// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/hwloc_guards.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/text.hpp"

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
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return defines(entry, name); });
  });
}

MaskedEnvironment::MaskedEnvironment(std::string_view prefix) {
  hide([&](const char* entry) { return std::strncmp(entry, prefix.data(), prefix.size()) == 0; });
}

MaskedEnvironment::~MaskedEnvironment() {
  // By value and not by position: the host may have set other variables, which moves the array.
  std::size_t next = 0;
  for (char** entry = environ; next < hidden_.size() && entry != nullptr && *entry != nullptr;
       ++entry) {
    if (*entry == stand_in)
      std::atomic_ref<char*>(*entry).store(hidden_[next++], std::memory_order_release);
  }
}

namespace {

bool is_caught = false;

// Advice for who develops hwloc or the program that wrote the file.
constexpr std::string_view kForDevelopers[] = {
    "The error occur",         "the input XML was generated",   "Please check that your input",
    "Set HWLOC_DEBUG_CHECK",   "The following FAQ entry",       "What should I do",
    "Otherwise please report", "along with the files generated"};

std::string_view without_stars(std::string_view line) {
  const std::size_t first = line.find_first_not_of("* ");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

bool is_line_of_stars(std::string_view line) { return line.starts_with("***"); }

bool is_for_developers(std::string_view line) {
  return std::any_of(std::begin(kForDevelopers), std::end(kForDevelopers),
                     [line](std::string_view start) { return line.starts_with(start); });
}

}  // namespace

void catch_hwloc_complaints() { is_caught = true; }

std::vector<std::string> sum_up_complaints(const std::string& text, const std::string& what) {
  std::vector<std::string> complaints;
  std::string block;
  const auto end_block = [&] {
    if (!block.empty())
      complaints.push_back(what + (block.starts_with("hwloc") ? ": " : ": hwloc: ") + block);
    block.clear();
  };
  bool is_in_block = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (is_line_of_stars(line)) {
      is_in_block = !is_in_block;
      end_block();
      continue;
    }
    const std::string_view words = without_stars(line);
    if (!words.empty() && !is_for_developers(words))
      block += (block.empty() ? "" : " ") + std::string(words);
    if (!is_in_block) end_block();
  }
  end_block();
  return complaints;
}

HwlocComplaints::HwlocComplaints() {
  if (!is_caught) return;
  file_ = memfd_create("hwloc's complaints", MFD_CLOEXEC);
  stderr_ = file_ < 0 ? -1 : dup(STDERR_FILENO);
  if (stderr_ < 0) return;
  std::fflush(stderr);
  dup2(file_, STDERR_FILENO);
}

void HwlocComplaints::give_back() {
  if (stderr_ >= 0) {
    std::fflush(stderr);
    dup2(stderr_, STDERR_FILENO);
    close(stderr_);
  }
  if (file_ >= 0) close(file_);
  stderr_ = file_ = -1;
}

std::vector<std::string> HwlocComplaints::take(const std::string& what) {
  std::string text;
  if (stderr_ >= 0) {
    std::fflush(stderr);
    std::array<char, 4096> buffer;
    for (ssize_t size; (size = pread(file_, buffer.data(), buffer.size(),
                                     static_cast<off_t>(text.size()))) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }
  give_back();
  return sum_up_complaints(text, what);
}

}  // namespace hierbar
