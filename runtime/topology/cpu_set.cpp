// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/cpu_set.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include "topology/sequence_order.hpp"

namespace hierbar {
namespace {

constexpr std::uint32_t kWordBits = 64;

std::uint64_t bit_of(std::uint32_t cpu) { return std::uint64_t{1} << (cpu % kWordBits); }

// Reads a cpu number from the front of `text` and removes it.
bool take_cpu(std::string_view& text, std::uint32_t& cpu) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc{} || cpu > CpuSet::kMaxParsedCpu) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

CpuSet::CpuSet(const std::uint64_t* bits, std::uint32_t num_words)
    : words_(bits, bits + num_words) {
  trim();
}

CpuSet CpuSet::range(std::uint32_t first, std::uint32_t last) {
  CpuSet set;
  if (first > last) return set;
  // Word by word: ranges come from users, and each may be as long as CpuSet::kMaxParsedCpu.
  set.words_.resize(last / kWordBits + 1, 0);
  std::fill(set.words_.begin() + first / kWordBits, set.words_.end(), ~std::uint64_t{0});
  set.words_[first / kWordBits] &= ~(bit_of(first) - 1);
  set.words_.back() &= bit_of(last) | (bit_of(last) - 1);
  return set;
}

Result<CpuSet> CpuSet::parse(std::string_view list) {
  const auto malformed = [list] {
    return Error{std::string("'").append(list) +
                 "' is not a list of cpus such as '0-3,8' with numbers up to " +
                 std::to_string(kMaxParsedCpu)};
  };
  CpuSet set;
  for (std::string_view rest = list; !rest.empty();) {
    std::uint32_t first = 0;
    if (!take_cpu(rest, first)) return malformed();
    std::uint32_t last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      if (!take_cpu(rest, last) || last < first) return malformed();
    }
    set |= range(first, last);
    if (rest.empty()) break;
    if (!rest.starts_with(',') || rest.size() == 1) return malformed();
    rest.remove_prefix(1);
  }
  return set;
}

std::string CpuSet::to_string() const {
  std::string text;
  for (int first = next(-1); first >= 0;) {
    int last = first;
    int following = next(last);
    while (following == last + 1) {
      last = following;
      following = next(last);
    }
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += '-' + std::to_string(last);
    first = following;
  }
  return text;
}

void CpuSet::set(std::uint32_t cpu) {
  const std::size_t word = cpu / kWordBits;
  if (word >= words_.size()) words_.resize(word + 1, 0);
  words_[word] |= bit_of(cpu);
}

void CpuSet::reset(std::uint32_t cpu) {
  const std::size_t word = cpu / kWordBits;
  if (word >= words_.size()) return;
  words_[word] &= ~bit_of(cpu);
  trim();
}

bool CpuSet::test(std::uint32_t cpu) const {
  const std::size_t word = cpu / kWordBits;
  return word < words_.size() && (words_[word] & bit_of(cpu)) != 0;
}

std::uint32_t CpuSet::count() const {
  std::uint32_t total = 0;
  for (const std::uint64_t word : words_) total += static_cast<std::uint32_t>(std::popcount(word));
  return total;
}

int CpuSet::last() const {
  if (words_.empty()) return -1;
  const auto highest_bit = static_cast<int>(std::bit_width(words_.back())) - 1;
  return static_cast<int>((words_.size() - 1) * kWordBits) + highest_bit;
}

int CpuSet::next(int cpu) const {
  const auto from = static_cast<std::uint32_t>(cpu + 1);
  for (std::size_t word = from / kWordBits; word < words_.size(); ++word) {
    std::uint64_t bits = words_[word];
    if (word == from / kWordBits) bits &= ~std::uint64_t{0} << (from % kWordBits);
    if (bits != 0) return static_cast<int>(word * kWordBits) + std::countr_zero(bits);
  }
  return -1;
}

bool CpuSet::is_subset_of(const CpuSet& other) const {
  if (words_.size() > other.words_.size()) return false;
  return std::equal(words_.begin(), words_.end(), other.words_.begin(),
                    [](std::uint64_t mine, std::uint64_t theirs) { return (mine & ~theirs) == 0; });
}

bool CpuSet::intersects(const CpuSet& other) const {
  const std::size_t common = std::min(words_.size(), other.words_.size());
  for (std::size_t i = 0; i < common; ++i) {
    if ((words_[i] & other.words_[i]) != 0) return true;
  }
  return false;
}

CpuSet& CpuSet::operator|=(const CpuSet& other) {
  if (other.words_.size() > words_.size()) words_.resize(other.words_.size(), 0);
  for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  return *this;
}

CpuSet& CpuSet::operator&=(const CpuSet& other) {
  if (words_.size() > other.words_.size()) words_.resize(other.words_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  trim();
  return *this;
}

CpuSet& CpuSet::operator-=(const CpuSet& other) {
  const std::size_t common = std::min(words_.size(), other.words_.size());
  for (std::size_t i = 0; i < common; ++i) words_[i] &= ~other.words_[i];
  trim();
  return *this;
}

std::strong_ordering operator<=>(const CpuSet& a, const CpuSet& b) {
  if (const auto by_first = a.first() <=> b.first(); by_first != 0) return by_first;
  return compare_sequences(a.words_, b.words_);
}

void CpuSet::trim() {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

}  // namespace hierbar
