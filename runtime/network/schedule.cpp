// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/schedule.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string_view>

#include "base/text.hpp"

namespace hierbar::network {
namespace {

struct Entry {
  const char* name;
  Algorithm algorithm;
  std::uint32_t lowest_k;  // and what it is when no number is given; 0: it takes no number
};

constexpr std::array<Entry, 8> kEntries{{{"linear", Algorithm::kLinear, 0},
                                         {"double-ring", Algorithm::kDoubleRing, 0},
                                         {"recursive-doubling", Algorithm::kRecursiveDoubling, 0},
                                         {"dissemination", Algorithm::kDissemination, 1},
                                         {"tree", Algorithm::kTree, 1},
                                         {"combining-tree", Algorithm::kCombiningTree, 2},
                                         // Other names of the same come last: name_of() takes the
                                         // first.
                                         {"bruck", Algorithm::kDissemination, 0},
                                         {"central", Algorithm::kLinear, 0}}};

std::vector<Round> linear(std::uint32_t rank, std::uint32_t size) {
  if (rank != 0) return {{{0}, {0}}};
  std::vector<std::uint32_t> others(size - 1);
  for (std::uint32_t i = 0; i + 1 < size; ++i) others[i] = i + 1;
  return {{{}, others}, {others, {}}};
}

// The left neighbour of rank 0 is size - 1. With -1 it would be MPI_ANY_SOURCE in some libraries.
std::vector<Round> double_ring(std::uint32_t rank, std::uint32_t size) {
  const std::uint32_t left = (rank + size - 1) % size;
  const std::uint32_t right = (rank + 1) % size;
  if (rank == 0) return {{{right}, {left}}, {{right}, {left}}};
  return {{{}, {left}}, {{right}, {left}}, {{right}, {}}};
}

std::vector<Round> recursive_doubling(std::uint32_t rank, std::uint32_t size) {
  const std::uint32_t core = std::bit_floor(size);
  if (rank >= core) return {{{rank - core}, {rank - core}}};
  const bool has_extra = rank + core < size;
  std::vector<Round> all;
  if (has_extra) all.push_back({{}, {rank + core}});
  for (std::uint32_t distance = 1; distance < core; distance *= 2)
    all.push_back({{rank ^ distance}, {rank ^ distance}});
  if (has_extra) all.push_back({{rank + core}, {}});
  return all;
}

// Before a round a rank has heard, directly or not, from the `distance` ranks up to itself. After
// it, from (k + 1) times as many.
std::vector<Round> dissemination(std::uint32_t k, std::uint32_t rank, std::uint32_t size) {
  std::vector<Round> all;
  for (std::uint64_t distance = 1; distance < size; distance *= k + 1) {
    Round round;
    for (std::uint64_t j = 1; j <= k && j * distance < size; ++j) {
      const auto offset = static_cast<std::uint32_t>(j * distance);
      round.send_to.push_back((rank + offset) % size);
      round.receive_from.push_back((rank + size - offset) % size);
    }
    all.push_back(std::move(round));
  }
  return all;
}

// The distances over which `rank` has children in a binomial tree, nearest first, and its parent.
struct BinomialPlace {
  std::uint32_t parent = 0;
  std::vector<std::uint32_t> children;
};

BinomialPlace binomial_place(std::uint32_t rank, std::uint32_t size) {
  BinomialPlace place;
  for (std::uint32_t distance = 1; distance < size; distance *= 2) {
    if ((rank & distance) != 0) {
      place.parent = rank - distance;
      break;
    }
    if (rank + distance < size) place.children.push_back(rank + distance);
  }
  return place;
}

// The farthest child comes first: it has the most to pass on.
void append_binomial_release(std::uint32_t rank, std::uint32_t size, std::vector<Round>& all) {
  BinomialPlace place = binomial_place(rank, size);
  std::reverse(place.children.begin(), place.children.end());
  if (rank != 0) all.push_back({{}, {place.parent}});
  if (!place.children.empty()) all.push_back({std::move(place.children), {}});
}

std::vector<Round> binomial_tree(std::uint32_t rank, std::uint32_t size) {
  std::vector<Round> all;
  const BinomialPlace place = binomial_place(rank, size);
  if (!place.children.empty()) all.push_back({{}, place.children});
  if (rank != 0) all.push_back({{place.parent}, {}});
  append_binomial_release(rank, size, all);
  return all;
}

std::vector<Round> k_ary_tree(std::uint32_t k, std::uint32_t rank, std::uint32_t size) {
  std::vector<std::uint32_t> children;
  for (std::uint64_t child = std::uint64_t{rank} * k + 1;
       child <= std::uint64_t{rank} * k + k && child < size; ++child) {
    children.push_back(static_cast<std::uint32_t>(child));
  }
  std::vector<Round> all;
  if (!children.empty()) all.push_back({{}, children});
  if (rank != 0) all.push_back({{(rank - 1) / k}, {(rank - 1) / k}});
  if (!children.empty()) all.push_back({children, {}});
  return all;
}

std::vector<Round> combining_tree(std::uint32_t k, std::uint32_t rank, std::uint32_t size) {
  std::vector<Round> all;
  for (std::uint64_t distance = 1; distance < size; distance *= k) {
    const std::uint64_t place = rank / distance % k;
    if (place != 0) {
      all.push_back({{static_cast<std::uint32_t>(rank - place * distance)}, {}});
      break;
    }
    Round round;
    for (std::uint64_t j = 1; j < k && rank + j * distance < size; ++j) {
      round.receive_from.push_back(static_cast<std::uint32_t>(rank + j * distance));
    }
    if (!round.receive_from.empty()) all.push_back(std::move(round));
  }
  append_binomial_release(rank, size, all);
  return all;
}

}  // namespace

Result<Kind> parse_kind(const std::string& text) {
  const std::string word = lower_word(text);
  const std::size_t colon = word.find(':');
  for (const Entry& entry : kEntries) {
    if (word.substr(0, colon) != entry.name) continue;
    const std::uint32_t lowest = std::max(entry.lowest_k, 1U);
    if (colon == std::string::npos) return Kind{entry.algorithm, lowest};
    if (entry.lowest_k == 0) return Error{"'" + std::string(entry.name) + "' takes no number"};
    std::uint32_t k = 0;
    const char* end = word.data() + word.size();
    const auto [stop, problem] = std::from_chars(word.data() + colon + 1, end, k);
    if (problem == std::errc() && stop == end && k >= lowest && k <= kMostK)
      return Kind{entry.algorithm, k};
    return Error{"'" + word.substr(colon + 1) + "' is not a number from " + std::to_string(lowest) +
                 " to " + std::to_string(kMostK)};
  }
  return Error{"'" + word + "' is not a known algorithm"};
}

Result<std::vector<Kind>> parse_kinds(const std::string& text) {
  std::vector<Kind> kinds;
  for (const std::string& word : lower_words(text, ',')) {
    const Result<Kind> kind = parse_kind(word);
    if (!kind) return Error{kind.error()};
    if (std::find(kinds.begin(), kinds.end(), *kind) == kinds.end()) kinds.push_back(*kind);
  }
  return kinds;
}

std::string name_of(Kind kind) {
  const auto* entry = std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& known) {
    return known.algorithm == kind.algorithm;
  });
  return entry->lowest_k == 0 ? entry->name : entry->name + (":" + std::to_string(kind.k));
}

std::vector<Round> rounds(Kind kind, std::uint32_t rank, std::uint32_t size) {
  if (size < 2) return {};
  switch (kind.algorithm) {
    case Algorithm::kLinear:
      return linear(rank, size);
    case Algorithm::kDoubleRing:
      return double_ring(rank, size);
    case Algorithm::kRecursiveDoubling:
      return recursive_doubling(rank, size);
    case Algorithm::kDissemination:
      return dissemination(kind.k, rank, size);
    case Algorithm::kTree:
      return kind.k == 1 ? binomial_tree(rank, size) : k_ary_tree(kind.k, rank, size);
    case Algorithm::kCombiningTree:
      return combining_tree(kind.k, rank, size);
  }
  return {};
}

std::uint64_t num_messages(Kind kind, std::uint32_t size) {
  if (size < 2) return 0;
  const std::uint64_t others = size - 1;
  switch (kind.algorithm) {
    case Algorithm::kLinear:
    case Algorithm::kTree:
    case Algorithm::kCombiningTree:
      return 2 * others;
    case Algorithm::kDoubleRing:
      return 2 * std::uint64_t{size};
    case Algorithm::kRecursiveDoubling: {
      const std::uint64_t core = std::bit_floor(size);
      return core * static_cast<std::uint64_t>(std::bit_width(core) - 1) + 2 * (size - core);
    }
    case Algorithm::kDissemination: {
      std::uint64_t of_one = 0;
      for (const Round& round : dissemination(kind.k, 0, size)) of_one += round.send_to.size();
      return of_one * size;
    }
  }
  return 0;
}

}  // namespace hierbar::network
