// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar::bench::model {

// The accesses of a participant, for the barriers' Mems over both simulators. Simulated memory is
// sequentially consistent: the model computes costs. Missing orders are found by the tests of
// runtime/barrier.
template <class AnySimulator, class AnyWord>
class SimulatedMem {
 public:
  using Word = AnyWord;

  SimulatedMem(AnySimulator& simulator, std::uint32_t me) noexcept
      : simulator_(simulator), me_(me) {}

  std::uint64_t load_relaxed(const Word& word) const noexcept { return simulator_.load(me_, word); }
  std::uint64_t load_acquire(const Word& word) const noexcept { return simulator_.load(me_, word); }
  std::uint64_t load_seq_cst(const Word& word) const noexcept { return simulator_.load(me_, word); }
  void store_relaxed(Word& word, std::uint64_t value) const noexcept {
    simulator_.store(me_, word, value);
  }
  void store_release(Word& word, std::uint64_t value) const noexcept {
    simulator_.store(me_, word, value);
  }
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    return simulator_.read_modify_write(me_, word, [value](std::uint64_t) { return value; });
  }
  std::uint64_t fetch_or(Word& word, std::uint64_t bits) const noexcept {
    return simulator_.read_modify_write(me_, word,
                                        [bits](std::uint64_t before) { return before | bits; });
  }
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    return simulator_.read_modify_write(me_, word,
                                        [value](std::uint64_t before) { return before + value; });
  }
  std::uint64_t fetch_or_relaxed(Word& word, std::uint64_t bits) const noexcept {
    return fetch_or(word, bits);
  }
  std::uint64_t fetch_add_relaxed(Word& word, std::uint64_t value) const noexcept {
    return fetch_add(word, value);
  }
  void wake(std::uint32_t) const noexcept {}  // no participant ever sleeps
  bool heavy_fence() const noexcept { return true; }
  void light_fence() const noexcept {}
  void publish(Word& word, std::uint64_t value) const noexcept { store_release(word, value); }
  void fence_streams() const noexcept {}

 protected:
  AnySimulator& simulator_;
  std::uint32_t me_;
};

}  // namespace hierbar::bench::model
