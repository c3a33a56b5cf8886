// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/description.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "topology/load.hpp"
#include "topology/xml_check.hpp"

namespace hierbar {
namespace {

// Why a file of that name cannot be read, or is not regular, or is too large; empty if it is fine.
std::string reading_problem(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || access(path.c_str(), R_OK) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "not a regular file";
  return static_cast<unsigned long>(status.st_size) <= kMaxTopologyBytes
             ? ""
             : "larger than " + std::to_string(kMaxTopologyBytes >> 20) + " MiB";
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What follows the first such character of the text; empty if there is none.
const char* after(const char* text, char character) {
  const char* found = std::strchr(text, character);
  return found == nullptr ? "" : found + 1;
}

// How many cpus hwloc would make of a synthetic description: the product of its counts, of which
// each level has one ("l3:4", or "4"). hwloc builds a machine of any size. So this goes through the
// text as hwloc does, odd forms included: "core(:9", "core:+9" and "core:0x9" are nine cores. It
// ends where hwloc refuses the text.
unsigned long described_cpus(const char* rest) {
  unsigned long product = 1;
  if (*rest == '(') rest = after(rest, ')');  // attributes of the machine
  while (product <= kMaxDescribedCpus) {
    rest += std::strspn(rest, " \n");
    if (*rest == '\0') break;
    if (*rest == '[') {  // memory
      rest = after(rest, ']');
      continue;
    }
    if (*rest < '0' || *rest > '9') rest = after(rest, ':');
    char* end = nullptr;
    const unsigned long count = std::strtoul(rest, &end, 0);
    if (end == rest) break;
    product = count > kMaxDescribedCpus ? count : product * count;
    rest = *end == '(' ? after(end, ')') : end;
  }
  return product;
}

}  // namespace

bool is_file_name(const std::string& text) {
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") || text.ends_with(".xml") ||
         access(text.c_str(), F_OK) == 0;
}

std::string description_problem(const std::string& description) {
  if (is_file_name(description)) {
    if (const std::string problem = reading_problem(description); !problem.empty()) {
      return "cannot read '" + description + "': " + problem;
    }
    const std::string problem = xml_problem(read_text(description));
    return problem.empty() ? "" : "'" + description + "' is no XML file that hwloc can read: " + problem;
  }
  if (described_cpus(description.c_str()) <= kMaxDescribedCpus) return "";
  return "'" + description + "' has more than " + std::to_string(kMaxDescribedCpus) + " cpus";
}

}  // namespace hierbar
