// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hierbar {

// A set of cpus, by the operating system's numbers. It grows as needed: the limit of cpu_set_t,
// 1024 cpus, does not apply.
//
// Equal sets compare equal, however they were made. The order is total: by first cpu, where the
// empty set comes first, and disjoint sets sort as people list them.
class CpuSet {
 public:
  // The highest cpu that parse() accepts. Linux has at most 8192 cpus. The limit keeps a mistyped
  // number from taking memory.
  static constexpr std::uint32_t kMaxParsedCpu = (1U << 20) - 1;

  class Iterator;
  using value_type = std::uint32_t;
  using const_iterator = Iterator;

  CpuSet() = default;
  // Cpu i is bit i % 64 of bits[i / 64].
  CpuSet(const std::uint64_t* bits, std::uint32_t num_words);
  // From first to last, both included.
  static CpuSet range(std::uint32_t first, std::uint32_t last);
  // Parses the kernel's list format: "0-3,8". Empty text is the empty set. Errors: anything else, a
  // range that runs backwards, a cpu above kMaxParsedCpu.
  static Result<CpuSet> parse(std::string_view list);
  // The reverse of parse().
  std::string to_string() const;

  void set(std::uint32_t cpu);
  void reset(std::uint32_t cpu);
  bool test(std::uint32_t cpu) const;

  bool empty() const { return words_.empty(); }
  std::uint32_t count() const;
  int first() const { return next(-1); }  // -1 if empty
  int last() const;                       // -1 if empty
  int next(int cpu) const;                // the smallest member above cpu; -1 if there is none

  bool is_subset_of(const CpuSet& other) const;
  bool intersects(const CpuSet& other) const;

  CpuSet& operator|=(const CpuSet& other);
  CpuSet& operator&=(const CpuSet& other);
  CpuSet& operator-=(const CpuSet& other);
  friend CpuSet operator|(CpuSet a, const CpuSet& b) { return a |= b; }
  friend CpuSet operator&(CpuSet a, const CpuSet& b) { return a &= b; }
  // The members of a that are not in b.
  friend CpuSet operator-(CpuSet a, const CpuSet& b) { return a -= b; }

  friend bool operator==(const CpuSet&, const CpuSet&) = default;
  friend std::strong_ordering operator<=>(const CpuSet& a, const CpuSet& b);

  // The words as for the first constructor. The last one is never zero. Valid until the set
  // changes.
  std::span<const std::uint64_t> words() const { return words_; }

  // Members in ascending order.
  Iterator begin() const;
  Iterator end() const;

 private:
  void trim();

  std::vector<std::uint64_t> words_;
};

class CpuSet::Iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = std::uint32_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::uint32_t*;
  using reference = std::uint32_t;

  Iterator() = default;
  Iterator(const CpuSet* set, int cpu) : set_(set), cpu_(cpu) {}

  std::uint32_t operator*() const { return static_cast<std::uint32_t>(cpu_); }
  Iterator& operator++() {
    cpu_ = set_->next(cpu_);
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  const CpuSet* set_ = nullptr;
  int cpu_ = -1;  // -1: the end
};

inline CpuSet::Iterator CpuSet::begin() const { return {this, first()}; }
inline CpuSet::Iterator CpuSet::end() const { return {this, -1}; }

}  // namespace hierbar
