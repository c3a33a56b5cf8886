// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/description.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "base/files.hpp"
#include "topology/load.hpp"

namespace hierbar {
namespace {

using Attributes = std::map<std::string_view, std::string_view>;

// hwloc calls itself once for each level of objects. Real machines have some ten.
constexpr std::size_t kMostNested = 256;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kNames =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

class Checker {
 public:
  explicit Checker(std::string_view xml) : rest_(xml) {}

  std::string run() {
    if (rest_.find('\0') != std::string_view::npos)
      return "it has a byte of value 0, where hwloc takes it to end";
    while (problem_.empty() && skip_past("<")) read_markup();
    if (!problem_.empty()) return problem_;
    if (!open_.empty()) return "element " + std::string(open_.back()) + " does not end";
    return has_cpu_ ? "" : "there is no cpu in it";
  }

 private:
  bool skip_past(std::string_view end) {
    const std::size_t at = rest_.find(end);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
    return at != std::string_view::npos;
  }
  bool accept(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::string_view read_name() {
    const std::string_view name =
        rest_.substr(0, std::min(rest_.find_first_not_of(kNames), rest_.size()));
    rest_.remove_prefix(name.size());
    return name;
  }
  void fail(const std::string& problem) { problem_ = problem; }

  // Reads what follows "<".
  void read_markup() {
    const bool is_skipped = rest_.starts_with("?") || rest_.starts_with("!");
    if (is_skipped) {
      const std::string_view end = rest_.starts_with("?")     ? "?>"
                                   : rest_.starts_with("!--") ? "-->"
                                                              : ">";
      if (!skip_past(end)) fail("its header or a comment does not end");
    } else if (accept("/")) {
      const std::string_view name = read_name();
      if (open_.empty() || open_.back() != name || !accept(">"))
        return fail("element " + std::string(name) + " is not nested");
      open_.pop_back();
    } else {
      read_element();
    }
  }

  void read_element() {
    const std::string_view name = read_name();
    if (name.empty() || open_.size() == kMostNested)
      return fail("there is an element without a name, or too deep inside others");
    if (open_.empty() && name != "topology") return fail("its first element is not topology");
    Attributes attributes;
    if (!read_attributes(attributes))
      return fail("element " + std::string(name) +
                  " has attributes that are not of the form NAME=\"VALUE\"");
    if (name == "object") check_object(attributes);
    if (name == "topology") is_version_2_ = attributes["version"].starts_with('2');
    if (!accept("/")) open_.push_back(name);
    if (!accept(">")) fail("element " + std::string(name) + " does not end");
  }

  // Reads up to the end of the tag.
  bool read_attributes(Attributes& attributes) {
    while (true) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
      if (rest_.starts_with('>') || rest_.starts_with("/>")) return true;
      const std::string_view name = read_name();
      if (name.empty() || !accept("=\"")) return false;
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos || !attributes.emplace(name, rest_.substr(0, end)).second)
        return false;
      rest_.remove_prefix(end + 1);
    }
  }

  void check_object(Attributes& attributes) {
    const std::string_view type = attributes["type"];
    const std::string object =
        "object " + std::to_string(++num_objects_) + ", " + std::string(type).substr(0, 32) + ", ";
    if (num_objects_ == 1 && is_version_2_) {
      constexpr std::array kSets = {"cpuset",  "complete_cpuset",  "allowed_cpuset",
                                    "nodeset", "complete_nodeset", "allowed_nodeset"};
      for (const char* set : kSets) {
        if (attributes.count(set) == 0) return fail(object + "has no " + set);
      }
    }
    for (const std::string_view set : {"cpuset", "nodeset"}) {
      const std::string complete = "complete_" + std::string(set);
      if (attributes.count(set) != 0 && attributes.count(complete) == 0) {
        return fail(object + "has a " + std::string(set) + " and no " + complete);
      }
    }
    has_cpu_ = has_cpu_ || (type == "PU" && attributes.count("os_index") != 0);
  }

  std::string_view rest_;
  std::vector<std::string_view> open_;  // the elements around
  std::size_t num_objects_ = 0;
  bool is_version_2_ = false;
  bool has_cpu_ = false;
  std::string problem_;
};

}  // namespace

std::string xml_problem(std::string_view xml) { return Checker(xml).run(); }

namespace {

// Why a file of that name cannot be read, or is not regular, or is too large; empty if it is fine.
std::string reading_problem(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || access(path.c_str(), R_OK) != 0)
    return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "not a regular file";
  return static_cast<unsigned long>(status.st_size) <= kMaxTopologyBytes
             ? ""
             : "larger than " + std::to_string(kMaxTopologyBytes >> 20) + " MiB";
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
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
         text.ends_with(".xml") || access(text.c_str(), F_OK) == 0;
}

std::string description_problem(const std::string& description) {
  if (is_file_name(description)) {
    if (const std::string problem = reading_problem(description); !problem.empty()) {
      return "cannot read '" + description + "': " + problem;
    }
    const std::string problem = xml_problem(read_whole_file(description).value_or(""));
    return problem.empty()
               ? ""
               : "'" + description + "' is not an XML file that hwloc can read: " + problem;
  }
  if (described_cpus(description.c_str()) <= kMaxDescribedCpus) return "";
  return "'" + description + "' has more than " + std::to_string(kMaxDescribedCpus) + " cpus";
}

}  // namespace hierbar
