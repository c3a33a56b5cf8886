// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/export/machine_image.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "topology/machine.hpp"

namespace hierbar {
namespace {

constexpr std::uint32_t kVersion = 0x6D'68'62'01;  // "mhb" and 1

class Writer {
 public:
  void number(std::uint64_t value) {
    words_.push_back(static_cast<std::uint32_t>(value));
    words_.push_back(static_cast<std::uint32_t>(value >> 32));
  }
  void word(std::uint32_t value) { words_.push_back(value); }

  void cpus(const CpuSet& set) {
    const std::size_t count_index = words_.size();
    word(0);
    for (int first = set.first(); first >= 0;) {
      int last = first;
      while (set.test(static_cast<std::uint32_t>(last) + 1)) ++last;
      word(static_cast<std::uint32_t>(first));
      word(static_cast<std::uint32_t>(last));
      ++words_[count_index];
      first = set.next(last);
    }
  }

  void text(const std::string& text) {
    word(static_cast<std::uint32_t>(text.size()));
    for (const char c : text) word(static_cast<unsigned char>(c));
  }

  std::vector<std::uint32_t> take() { return std::move(words_); }

 private:
  std::vector<std::uint32_t> words_;
};

// Reads what Writer wrote. After something that does not fit, failed() is true and everything reads
// as 0.
class Reader {
 public:
  explicit Reader(std::span<const std::uint32_t> words) : words_(words) {}

  bool failed() const { return failed_; }
  bool at_end() const { return next_ == words_.size(); }

  std::uint32_t word() {
    if (next_ == words_.size()) failed_ = true;
    return failed_ ? 0 : words_[next_++];
  }
  std::uint64_t number() {
    const std::uint64_t low = word();
    return low | std::uint64_t{word()} << 32;
  }

  // How many items follow that have at least `words_each` words each. Fails if there is no room for
  // so many.
  std::uint32_t count(std::size_t words_each) {
    const std::uint32_t value = word();
    if (value > (words_.size() - next_) / words_each) failed_ = true;
    return failed_ ? 0 : value;
  }

  CpuSet cpus() {
    CpuSet set;
    for (std::uint32_t ranges = count(2); ranges > 0; --ranges) {
      const std::uint32_t first = word();
      const std::uint32_t last = word();
      if (first > last || last >= kMaxMachineCpus) failed_ = true;
      if (failed_) return {};
      set |= CpuSet::range(first, last);
    }
    return set;
  }

  std::string text() {
    std::string text(count(1), '\0');
    for (char& c : text) c = static_cast<char>(word());
    return text;
  }

 private:
  std::span<const std::uint32_t> words_;
  std::size_t next_ = 0;
  bool failed_ = false;
};

// Whether a machine with these cpus may have so many units. The units are distinct, and each is
// divided by its parts, so there are fewer than two for each cpu. This is checked before they are
// read, because each may take as much memory as the machine has cpu numbers.
bool is_possible(std::size_t num_units, const CpuSet& present) {
  return num_units < 2 * std::size_t{present.count()};
}

// Sets children and depths, which follow from the parents. False if a parent does not come before
// its child.
bool link_units(std::vector<Unit>& units) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    const int parent = units[i].parent;
    if (parent >= static_cast<int>(i) || (parent < 0) != (i == 0)) return false;
    if (i == 0) continue;
    units[static_cast<std::size_t>(parent)].children.push_back(static_cast<int>(i));
    units[i].depth = units[static_cast<std::size_t>(parent)].depth + 1;
  }
  return !units.empty();
}

}  // namespace

std::vector<std::uint32_t> machine_image(const Machine& machine) {
  Writer writer;
  writer.word(kVersion);
  writer.word(machine.line_bytes);
  writer.word(machine.l3_bytes);
  writer.number(machine.load_ns);
  writer.text(machine.name);
  writer.cpus(machine.present);
  writer.cpus(machine.allowed);
  writer.word(static_cast<std::uint32_t>(machine.warnings.size()));
  for (const std::string& warning : machine.warnings) writer.text(warning);
  writer.word(static_cast<std::uint32_t>(machine.units.size()));
  for (const Unit& unit : machine.units) {
    writer.word(unit.labels);
    writer.word(static_cast<std::uint32_t>(unit.parent));
    writer.cpus(unit.cpus);
  }
  return writer.take();
}

Result<Machine> machine_from_image(std::span<const std::uint32_t> image) {
  Reader reader(image);
  if (reader.word() != kVersion) return Error{"not the image of a machine, or has another version"};
  Machine machine;
  machine.line_bytes = reader.word();
  machine.l3_bytes = reader.word();
  machine.load_ns = reader.number();
  machine.name = reader.text();
  machine.present = reader.cpus();
  machine.allowed = reader.cpus();
  machine.warnings.resize(reader.count(1));
  for (std::string& warning : machine.warnings) warning = reader.text();
  const std::uint32_t num_units = reader.count(3);
  if (!is_possible(num_units, machine.present))
    return Error{"the image of the machine is damaged: it has too many units"};
  machine.units.resize(num_units);
  for (Unit& unit : machine.units) {
    unit.labels = reader.word();
    unit.parent = static_cast<int>(reader.word());
    unit.cpus = reader.cpus();
  }
  if (reader.failed() || !reader.at_end() || !link_units(machine.units))
    return Error{"the image of the machine is damaged"};
  if (const std::string problem = machine_problem(machine); !problem.empty()) {
    return Error{"the image of the machine is damaged: " + problem};
  }
  return machine;
}

}  // namespace hierbar
