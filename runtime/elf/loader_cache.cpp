// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <map>
#include <memory>
#include <sstream>

#include "base/command_output.hpp"
#include "elf/predict_loads.hpp"

namespace hierbar {
namespace {

#if defined(__x86_64__)
constexpr const char* kOwnKind = "(libc6,x86-64)";
#elif defined(__aarch64__)
constexpr const char* kOwnKind = "(libc6,AArch64)";
#else
constexpr const char* kOwnKind = "(libc6)";
#endif

}  // namespace

std::function<std::string(const std::string& name)> read_loader_cache() {
  auto files = std::make_shared<std::map<std::string, std::string>>();
  // Lines such as "libgomp.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libgomp.so.1". Of several
  // lines for a name the loader takes the first. The command is in no user's PATH on Debian.
  std::istringstream lines(command_output("PATH=\"$PATH:/sbin:/usr/sbin\" exec ldconfig -p 2>/dev/null"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t kind = line.find(kOwnKind);
    const std::size_t arrow = line.find(" => ");
    const std::size_t begin = line.find_first_not_of(" \t");
    if (kind == std::string::npos || arrow == std::string::npos || kind <= begin + 1) continue;
    files->emplace(line.substr(begin, kind - 1 - begin), line.substr(arrow + 4));
  }
  return [files](const std::string& name) {
    const auto found = files->find(name);
    return found == files->end() ? "" : found->second;
  };
}

}  // namespace hierbar
