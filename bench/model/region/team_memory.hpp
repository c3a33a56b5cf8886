// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "barrier/awaited_word.hpp"

namespace hierbar::bench::model {

// libomp's KMP_BARRIER_STATE_BUMP.
inline constexpr std::uint64_t kStateBump = 4;
inline constexpr std::uint32_t kLineBytes = 128;

// A region's function and its first argument.
struct Payload {
  std::uint64_t function = 0;
  std::uint64_t argument = 0;
  bool operator==(const Payload&) const = default;
};

template <class Word>
struct alignas(kLineBytes) OneWord {
  Word word{};
};
template <class Word>
struct alignas(kLineBytes) PayloadLine {
  Word function{};
  Word argument{};
};

// The words of a thread that fork and join use in libomp. Each group has a line of its own, as in
// kmp_info_t and in distributedBarrier.
template <class Word>
struct ThreadLines {
  static constexpr std::uint32_t kNumIterations = 3;  // distributedBarrier::MAX_ITERS

  // th_bar[bs_forkjoin_barrier]: th_fixed_icvs with b_go, and b_arrived.
  struct alignas(kLineBytes) Go {
    Word payload[2]{};  // ICVs, or a lean region's function and argument
    Word go{};
  } release;
  OneWord<Word> arrived;
  OneWord<Word> task;  // its implicit task, which has its ICVs
  // distributedBarrier's arrays.
  OneWord<Word> iteration;
  OneWord<Word> go;
  OneWord<Word> still_needs[kNumIterations];
  OneWord<Word> suspend_mutex;
};

// The lines of a team.
template <class Word>
struct TeamLines {
  OneWord<Word> arrived;       // t_bar[bs_forkjoin_barrier].b_arrived
  PayloadLine<Word> function;  // t_pkfn and t_argv
  OneWord<Word> icvs;          // distributedBarrier::team_icvs
};

// Waits until a word has a value. False: the run has failed.
template <class Mem>
bool await_value(Mem& mem, typename Mem::Word& word, std::uint64_t value) {
  struct {
    Mem& mem;
    typename Mem::Word& word;
    std::uint64_t value;
    bool ready() const { return mem.load_acquire(word) == value; }
    typename Mem::Word& awaited() const { return word; }
  } pending{mem, word, value};
  return mem.wait(pending) == WaitResult::kReleased;
}

// A team of threads as libomp sees it. A view: it refers to the lines.
template <class Mem>
struct SimulatedTeam {
  using Word = typename Mem::Word;

  std::uint32_t num_threads;
  TeamLines<Word>& lines;
  ThreadLines<Word>* threads;  // [num_threads]
};

}  // namespace hierbar::bench::model
