// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sim_memory.hpp"

#include <algorithm>

namespace hierbar::test {
namespace {

constexpr std::uint32_t kEarlyLoadChances = 8;  // one load in so many returns an earlier value

}  // namespace

SimMemory::SimMemory(std::uint32_t num_participants, std::uint32_t num_words, std::uint32_t num_cells)
    : num_participants_(num_participants),
      num_words_(num_words),
      newest_(num_words),
      versions_(std::size_t{num_words} * kKept),
      attached_clocks_(std::size_t{num_words} * kKept * num_participants),
      clocks_(std::size_t{num_participants} * num_participants),
      acquired_at_(num_participants),
      seen_(std::size_t{num_participants} * num_words),
      buffer_sizes_(num_participants),
      buffers_(std::size_t{num_participants} * kBufferSize),
      buffered_clocks_(buffers_.size() * num_participants),
      cells_(num_cells),
      read_at_(std::size_t{num_cells} * num_participants) {
  reset();
}

void SimMemory::reset() {
  now_ = 0;
  heavy_fence_at_ = 0;
  std::fill(newest_.begin(), newest_.end(), 0);
  for (std::uint32_t word = 0; word < num_words_; ++word) versions_[word * kKept] = Version{0, 0, false};
  changed_words_.clear();
  std::fill(clocks_.begin(), clocks_.end(), 0);
  for (std::uint32_t p = 0; p < num_participants_; ++p) clock_of(p)[p] = 1;
  std::fill(acquired_at_.begin(), acquired_at_.end(), 0);
  std::fill(seen_.begin(), seen_.end(), 0);
  std::fill(buffer_sizes_.begin(), buffer_sizes_.end(), 0);
  std::fill(cells_.begin(), cells_.end(), Cell{0, 0, 0});
  std::fill(read_at_.begin(), read_at_.end(), 0);
}

void SimMemory::join(std::uint32_t* into, const std::uint32_t* from) const {
  for (std::uint32_t p = 0; p < num_participants_; ++p) into[p] = std::max(into[p], from[p]);
}

void SimMemory::assign(std::uint32_t* into, const std::uint32_t* from) const { std::copy(from, from + num_participants_, into); }

std::uint64_t SimMemory::load(std::uint32_t me, std::uint32_t word, Order order, Random& random) {
  const Buffered* buffer = buffer_of(me);
  for (std::uint32_t i = buffer_sizes_[me]; i-- > 0;) {
    if (buffer[i].word == word) return buffer[i].value;
  }
  // A version may be left out if the one before it was still there after the last acquire.
  std::uint32_t& seen = seen_[me * num_words_ + word];
  const std::uint32_t newest = newest_[word];
  std::uint32_t chosen = newest;
  std::uint64_t satisfied_at = now_;
  while (chosen > seen && newest - chosen + 1 < kKept) {
    const Version& version = versions_[position(word, chosen)];
    if (version.written_at <= acquired_at_[me] || !random.one_in(kEarlyLoadChances)) break;
    satisfied_at = version.written_at - 1;
    --chosen;
  }
  seen = chosen;
  const std::uint32_t pos = position(word, chosen);
  if (order == Order::kOrdered) {
    acquired_at_[me] = satisfied_at;
    if (versions_[pos].has_clock) join(clock_of(me), attached_clock(pos));
  }
  return versions_[pos].value;
}

void SimMemory::store(std::uint32_t me, std::uint32_t word, std::uint64_t value, Order order, Random& random) {
  if (buffer_sizes_[me] == kBufferSize) drain_one(me, random);
  Buffered* buffer = buffer_of(me);
  const std::uint32_t size = buffer_sizes_[me]++;
  std::uint32_t clock = me * kBufferSize;
  const auto is_taken = [&](std::uint32_t candidate) {
    return std::any_of(buffer, buffer + size, [candidate](const Buffered& entry) { return entry.clock == candidate; });
  };
  while (is_taken(clock)) ++clock;
  buffer[size] = Buffered{value, word, clock, order};
  if (order == Order::kRelaxed) return;
  assign(&buffered_clocks_[clock * num_participants_], clock_of(me));
  ++clock_of(me)[me];
}

SimMemory::Version& SimMemory::append_version(std::uint32_t me, std::uint32_t word, std::uint64_t value) {
  const std::uint32_t version = ++newest_[word];
  seen_[me * num_words_ + word] = version;
  changed_words_.push_back(word);
  return versions_[position(word, version)] = Version{value, ++now_, false};
}

bool SimMemory::may_drain(std::uint32_t me, std::uint32_t entry) {
  const Buffered* buffer = buffer_of(me);
  if (buffer[entry].order == Order::kOrdered) return entry == 0;
  return std::none_of(buffer, buffer + entry, [&](const Buffered& earlier) { return earlier.word == buffer[entry].word; });
}

void SimMemory::drain_entry(std::uint32_t me, std::uint32_t entry) {
  Buffered* buffer = buffer_of(me);
  const Buffered& leaving = buffer[entry];
  Version& version = append_version(me, leaving.word, leaving.value);
  if (leaving.order == Order::kOrdered) {
    version.has_clock = true;
    assign(attached_clock(position(leaving.word, newest_[leaving.word])), &buffered_clocks_[leaving.clock * num_participants_]);
  }
  std::copy(buffer + entry + 1, buffer + buffer_sizes_[me], buffer + entry);
  --buffer_sizes_[me];
}

void SimMemory::drain_one(std::uint32_t me, Random& random) {
  if (buffer_sizes_[me] == 0) return;
  std::uint32_t entry = random.below(buffer_sizes_[me]);
  while (!may_drain(me, entry)) --entry;  // the oldest may always drain
  drain_entry(me, entry);
}

void SimMemory::drain_all(std::uint32_t me) {
  while (buffer_sizes_[me] != 0) drain_entry(me, 0);
}

std::uint64_t SimMemory::begin_rmw(std::uint32_t me, std::uint32_t word, Order order) {
  const std::uint32_t pos = position(word, newest_[word]);
  if (order == Order::kOrdered) {
    acquired_at_[me] = now_ + 1;  // the time at which publish_rmw() writes
    if (versions_[pos].has_clock) join(clock_of(me), attached_clock(pos));
  }
  return versions_[pos].value;
}

void SimMemory::publish_rmw(std::uint32_t me, std::uint32_t word, std::uint64_t value, Order order) {
  const std::uint32_t before = position(word, newest_[word]);
  // Whether it is in the release sequence of an earlier store.
  const bool continues = versions_[before].has_clock;
  Version& version = append_version(me, word, value);
  std::uint32_t* attached = attached_clock(position(word, newest_[word]));
  version.has_clock = continues || order == Order::kOrdered;
  if (continues) {
    assign(attached, attached_clock(before));
    if (order == Order::kOrdered) join(attached, clock_of(me));
  } else if (order == Order::kOrdered) {
    assign(attached, clock_of(me));
  }
  if (order == Order::kOrdered) ++clock_of(me)[me];
}

bool SimMemory::write_cell(std::uint32_t me, std::uint32_t cell, std::uint64_t value) {
  const std::uint32_t* clock = clock_of(me);
  Cell& target = cells_[cell];
  bool ordered = target.written_at <= clock[target.writer];
  const std::uint32_t* read_at = &read_at_[cell * num_participants_];
  for (std::uint32_t p = 0; p < num_participants_; ++p) ordered &= read_at[p] <= clock[p];
  target = Cell{value, me, clock[me]};
  return ordered;
}

bool SimMemory::read_cell(std::uint32_t me, std::uint32_t cell, std::uint64_t& value) {
  const std::uint32_t* clock = clock_of(me);
  const Cell& source = cells_[cell];
  value = source.value;
  read_at_[cell * num_participants_ + me] = clock[me];
  return source.written_at <= clock[source.writer];
}

}  // namespace hierbar::test
