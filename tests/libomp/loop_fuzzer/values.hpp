// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "loop.hpp"

namespace loop_fuzzer {

// What a pointer of a loop points to. Its size is no power of two.
struct Element {
  char bytes[12];
};
inline constexpr std::uint64_t kNumElements = 1U << 28;

// Addresses that nothing else uses. Nobody reads the elements, and they take no memory.
inline Element* elements() {
  static Element* const first = [] {
    void* const memory =
        mmap(nullptr, kNumElements * sizeof(Element), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("loop_fuzzer: mmap");
      std::exit(2);
    }
    return static_cast<Element*>(memory);
  }();
  return first;
}

// A random access iterator over positions. Its copies are not trivial, so that a compiler copies it
// by a function of the task.
class Iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::int64_t;
  using difference_type = std::int64_t;
  using pointer = const std::int64_t*;
  using reference = std::int64_t;

  Iterator() = default;
  explicit Iterator(std::int64_t position) : position_(position) {}
  Iterator(const Iterator& other) : position_(other.position_) {}
  Iterator& operator=(const Iterator& other) {
    position_ = other.position_;
    return *this;
  }
  ~Iterator() { position_ = 0; }

  std::int64_t operator*() const { return position_; }
  Iterator& operator++() { return *this += 1; }
  Iterator& operator--() { return *this -= 1; }
  Iterator& operator+=(std::int64_t distance) {
    position_ += distance;
    return *this;
  }
  Iterator& operator-=(std::int64_t distance) {
    position_ -= distance;
    return *this;
  }
  friend Iterator operator+(Iterator from, std::int64_t distance) { return from += distance; }
  friend Iterator operator-(Iterator from, std::int64_t distance) { return from -= distance; }
  friend std::int64_t operator-(const Iterator& to, const Iterator& from) { return to.position_ - from.position_; }
  friend auto operator<=>(const Iterator& left, const Iterator& right) { return left.position_ <=> right.position_; }
  friend bool operator==(const Iterator& left, const Iterator& right) { return left.position_ == right.position_; }

 private:
  std::int64_t position_ = 0;
};

// What a Type is in the program, and how its values are kept in a Range.
template <class T>
struct Values {
  using Step = T;
  static T make(std::uint64_t bits) { return static_cast<T>(bits); }
  static std::uint64_t bits(T value) { return static_cast<std::uint64_t>(value); }
};
template <>
struct Values<Element*> {
  using Step = std::ptrdiff_t;
  static Element* make(std::uint64_t bits) { return elements() + bits; }
  static std::uint64_t bits(const Element* value) { return static_cast<std::uint64_t>(value - elements()); }
};
template <>
struct Values<Iterator> {
  using Step = std::int64_t;
  static Iterator make(std::uint64_t bits) { return Iterator(static_cast<std::int64_t>(bits)); }
  static std::uint64_t bits(const Iterator& value) { return static_cast<std::uint64_t>(*value); }
};

// Which iteration of the range has this value; `count` or more: none has.
template <class T>
std::uint64_t find_iteration(const Range& range, Form form, const T& value) {
  const std::uint64_t bits = Values<T>::bits(value);
  const std::uint64_t distance = goes_up(form) ? bits - range.first : range.first - bits;
  return distance % range.step == 0 ? distance / range.step : range.count;
}

}  // namespace loop_fuzzer
