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

// How many cpus a synthetic description asks for at least. That is the product of its counts: each
// level has one ("l3:4", or "4"). Attributes in parentheses and memory in brackets do not count.
// hwloc itself would build a machine of any size.
unsigned long described_cpus(const std::string& description) {
  unsigned long product = 1;
  int nesting = 0;
  for (std::size_t i = 0; i < description.size() && product <= kMaxDescribedCpus; ++i) {
    const char c = description[i];
    if (c == '(' || c == '[') ++nesting;
    if (c == ')' || c == ']') --nesting;
    const bool starts_count = i == 0 || description[i - 1] == ':' || description[i - 1] == ' ';
    if (nesting != 0 || !starts_count || c < '0' || c > '9') continue;
    const unsigned long count = std::strtoul(description.c_str() + i, nullptr, 10);
    product = count > kMaxDescribedCpus ? count : product * count;
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
  if (described_cpus(description) <= kMaxDescribedCpus) return "";
  return "'" + description + "' has more than " + std::to_string(kMaxDescribedCpus) + " cpus";
}

}  // namespace hierbar
