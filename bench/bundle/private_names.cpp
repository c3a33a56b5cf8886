// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/bundle/private_names.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace hierbar::bench::bundle {
namespace {

constexpr std::string_view kCleared = "...";
// What ends a path in a message.
constexpr std::string_view kBetweenPaths = " \t\r\n\"'`()[]{}<>,;:=";

// Characters of names of hosts and users.
bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

bool is_word_at(std::string_view text, std::size_t at, std::size_t size) {
  return (at == 0 || !is_of_name(text[at - 1])) &&
         (at + size == text.size() || !is_of_name(text[at + size]));
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  std::size_t at = text.find(word, from);
  while (at != std::string_view::npos && !is_word_at(text, at, word.size()))
    at = text.find(word, at + 1);
  return at;
}

std::string without_paths(std::string_view text) {
  std::string cleared;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kBetweenPaths, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    cleared += word.find('/') == std::string_view::npos ? word : kCleared;
    if (end < text.size()) cleared += text[end];
    begin = end + 1;
  }
  return cleared;
}

// The name of this user in /etc/passwd; empty if it has none. getpwuid() would load modules of the
// machine's C library.
std::string user_of_passwd() {
  std::ifstream file("/etc/passwd");
  const std::string id = ":" + std::to_string(getuid()) + ":";
  for (std::string line; std::getline(file, line);) {
    const std::size_t name_end = line.find(':');
    const std::size_t id_begin =
        name_end == std::string::npos ? name_end : line.find(':', name_end + 1);
    if (id_begin != std::string::npos && line.compare(id_begin, id.size(), id) == 0)
      return line.substr(0, name_end);
  }
  return "";
}

}  // namespace

PrivateNames::PrivateNames(std::vector<std::string> names) : names_(std::move(names)) {
  std::erase_if(names_, [](const std::string& name) { return name.empty(); });
}

PrivateNames PrivateNames::of_process() {
  std::vector<std::string> names{user_of_passwd()};
  for (const char* const variable : {"USER", "LOGNAME", "SUDO_USER", "HOSTNAME"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr) names.emplace_back(value);
  }
  utsname host{};
  if (uname(&host) == 0) {
    const std::string name = host.nodename;
    names.push_back(name);
    names.push_back(name.substr(0, name.find('.')));
  }
  return PrivateNames(std::move(names));
}

std::string PrivateNames::clear(std::string_view text) const {
  std::string cleared = without_paths(text);
  for (const std::string& name : names_) {
    std::size_t at = find_word(cleared, name, 0);
    while (at != std::string::npos) {
      cleared.replace(at, name.size(), kCleared);
      at = find_word(cleared, name, at + kCleared.size());
    }
  }
  return cleared;
}

std::vector<std::string> PrivateNames::found_in(std::string_view text) const {
  std::vector<std::string> found;
  for (const std::string& name : names_) {
    const bool is_new = std::find(found.begin(), found.end(), name) == found.end();
    if (is_new && find_word(text, name, 0) != std::string_view::npos) found.push_back(name);
  }
  return found;
}

std::string public_path(const std::filesystem::path& path, const std::filesystem::path& bundle) {
  const std::filesystem::path below = path.lexically_relative(bundle);
  if (!below.empty() && *below.begin() != "..") return below.string();
  const std::string name = path.filename().string();
  return name.find(".so") == std::string::npos ? std::string(kCleared) : name;
}

}  // namespace hierbar::bench::bundle
