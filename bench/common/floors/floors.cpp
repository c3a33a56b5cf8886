// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/floors/floors.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "base/arch/pause.hpp"
#include "base/bound_thread.hpp"

namespace hierbar::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Epoch = std::uint64_t;

using Word = std::atomic<Epoch>;  // written by its owner, read by all

// A cache line. The line beside it stays empty, because of the adjacent-line prefetcher.
constexpr int kWordsPerLine = 8;
struct alignas(128) Line {
  std::array<Word, kWordsPerLine> words{};
};

// The place of a participant's word.
struct OwnLines {
  static Word& word(Line* lines, int participant) { return lines[participant].words[0]; }
};
struct PackedLine {
  static Word& word(Line* lines, int participant) {
    return lines[0].words[static_cast<std::size_t>(participant)];
  }
};

// The way in which a participant arrives.
struct StoreArrival {
  // (1) store-release; pairs with the acquire (3) in wait_for(). On x86 it is a plain mov.
  static void arrive(Word& word, Epoch epoch) { word.store(epoch, std::memory_order_release); }
};
struct ExchangeArrival {
  // (2) seq_cst exchange; pairs with (3) in wait_for(), and orders the arrival before all later
  // loads.
  static void arrive(Word& word, Epoch epoch) { word.exchange(epoch, std::memory_order_seq_cst); }
};

// What a participant does between two polls of a word that has not been written yet.
struct PollFreely {
  static void relax() {}
};
struct PollWithPause {
  static void relax() { cpu_pause(); }
};
struct PollWithTwoPauses {
  static void relax() {
    cpu_pause();
    cpu_pause();
  }
};
struct PollWithYield {
  static void relax() { sched_yield(); }
};

// A peer may be one epoch ahead, but not more: it cannot finish the next episode without this
// thread.
template <class Poll>
void wait_for(const Word& word, Epoch epoch) {
  // (3) load-acquire; pairs with (1) and (2) in arrive().
  while (static_cast<std::int64_t>(word.load(std::memory_order_acquire) - epoch) < 0) Poll::relax();
}

template <class Layout, class Arrival, class Poll>
struct Exchange {
  static constexpr double kPerEpisode = 1;
  static constexpr int kLinesPerParticipant = 1;
  static void episode(Line* lines, int num_participants, int self, Epoch epoch) {
    Arrival::arrive(Layout::word(lines, self), epoch);
    for (int peer = 0; peer < num_participants; ++peer) {
      if (peer != self) wait_for<Poll>(Layout::word(lines, peer), epoch);
    }
  }
};

// Participant 0 writes a region into the line of each of the others and releases them by the first
// word of it; each arrives in a second line of its own.
template <class Poll>
struct Pool {
  static constexpr double kPerEpisode = 1;
  static constexpr int kLinesPerParticipant = 2;
  static void nothing(void*, void*) {}
  using Function = decltype(&nothing);

  static void episode(Line* lines, int num_participants, int self, Epoch epoch) {
    const auto go = [lines](int participant) -> Line& { return lines[2 * participant]; };
    const auto arrived = [lines](int participant) -> Word& {
      return lines[2 * participant + 1].words[0];
    };
    if (self != 0) {
      wait_for<Poll>(go(self).words[0], epoch);
      run(go(self));
      StoreArrival::arrive(arrived(self), epoch);
      return;
    }
    for (int other = 1; other < num_participants; ++other) {
      write_region(go(other), &epoch);
      StoreArrival::arrive(go(other).words[0], epoch);
    }
    nothing(&epoch, nullptr);
    for (int other = 1; other < num_participants; ++other) wait_for<Poll>(arrived(other), epoch);
  }

 private:
  // The words 1 to 3 are plain data, ordered by word 0 (1), (3).
  static void write_region(Line& line, void* argument) {
    line.words[1].store(reinterpret_cast<std::uintptr_t>(&nothing), std::memory_order_relaxed);
    line.words[2].store(reinterpret_cast<std::uintptr_t>(argument), std::memory_order_relaxed);
    line.words[3].store(0, std::memory_order_relaxed);
  }
  static void run(const Line& line) {
    const auto word = [&line](std::size_t i) {
      return line.words[i].load(std::memory_order_relaxed);
    };
    reinterpret_cast<Function>(word(1))(reinterpret_cast<void*>(word(2)),
                                        reinterpret_cast<void*>(word(3)));
  }
};

// Both use one line. Participant 0 writes the odd values, participant 1 the even ones.
template <class Poll>
struct PingPong {
  static constexpr double kPerEpisode = 2;  // passages in one episode
  static constexpr int kLinesPerParticipant = 1;
  static void episode(Line* lines, int, int self, Epoch epoch) {
    const Epoch ping = 2 * epoch - 1;
    Word& word = OwnLines::word(lines, 0);
    if (self == 0) {
      StoreArrival::arrive(word, ping);
      wait_for<Poll>(word, ping + 1);
    } else {
      wait_for<Poll>(word, ping);
      StoreArrival::arrive(word, ping + 1);
    }
  }
};

// Runs num_batches batches of batch_size episodes among num_participants threads. Returns a value
// for each batch: ns for one passage, as participant 0 measures it.
template <class Pattern>
std::vector<double> run_batches(int num_participants, const std::vector<int>& cpus, int num_batches,
                                Epoch batch_size) {
  const auto lines = std::make_unique<Line[]>(
      static_cast<std::size_t>(num_participants * Pattern::kLinesPerParticipant));
  std::vector<double> samples;
  const auto participate = [&](int self) {
    // If the cpu went offline, only precision is lost.
    if (!cpus.empty())
      bind_this_thread(
          static_cast<std::uint32_t>(cpus[static_cast<std::size_t>(self) % cpus.size()]));
    Epoch epoch = 1;
    // No thread's clock starts before all threads have arrived.
    Pattern::episode(lines.get(), num_participants, self, epoch);
    for (int batch = 0; batch < num_batches; ++batch) {
      const Clock::time_point start = Clock::now();
      for (Epoch i = 0; i < batch_size; ++i)
        Pattern::episode(lines.get(), num_participants, self, ++epoch);
      const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
      if (self == 0)
        samples.push_back(elapsed.count() /
                          (static_cast<double>(batch_size) * Pattern::kPerEpisode));
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(num_participants));
  for (int self = 0; self < num_participants; ++self) threads.emplace_back(participate, self);
  for (std::thread& thread : threads) thread.join();
  return samples;
}

// 1. Episodes are timed in batches. A batch is long compared with the clock's own cost, and short
//    compared with what disturbs a machine.
// 2. Trials of growing size show how many episodes fit into a batch. The fastest one counts. A
//    disturbed trial would lead to batches of so few episodes that their start would dominate them.
// 3. The budget is measured.
template <class Pattern>
std::vector<double> measure(int num_participants, const std::vector<int>& cpus,
                            std::chrono::nanoseconds budget) {
  constexpr int kNumBatches = 16;
  constexpr Epoch kLargestTrial = 1 << 14;
  const double batch_ns = static_cast<double>(budget.count()) / kNumBatches;
  double episode_ns = batch_ns;
  for (Epoch trial = 16; trial <= kLargestTrial; trial *= 4) {
    for (const double sample : run_batches<Pattern>(num_participants, cpus, 2, trial)) {
      episode_ns = std::min(episode_ns, sample * Pattern::kPerEpisode);
    }
    if (episode_ns * static_cast<double>(trial) > batch_ns / 4) break;
  }
  const auto batch_size = static_cast<Epoch>(std::max(1.0, batch_ns / episode_ns));
  return run_batches<Pattern>(num_participants, cpus, kNumBatches, batch_size);
}

template <class Lines>
void add_exchanges(const std::string& name, const std::vector<int>& cpus,
                   std::chrono::nanoseconds share, FloorSamples& samples) {
  const int count = static_cast<int>(cpus.size());
  samples[name + "-mov"] = measure<Exchange<Lines, StoreArrival, PollFreely>>(count, cpus, share);
  samples[name + "-mov-pause"] =
      measure<Exchange<Lines, StoreArrival, PollWithPause>>(count, cpus, share);
  samples[name + "-mov-2pauses"] =
      measure<Exchange<Lines, StoreArrival, PollWithTwoPauses>>(count, cpus, share);
  samples[name + "-xchg"] =
      measure<Exchange<Lines, ExchangeArrival, PollFreely>>(count, cpus, share);
  samples[name + "-xchg-pause"] =
      measure<Exchange<Lines, ExchangeArrival, PollWithPause>>(count, cpus, share);
}

}  // namespace

FloorSamples measure_one_way(int cpu, int other_cpu, std::chrono::nanoseconds budget) {
  const std::vector<int> cpus{cpu, other_cpu};
  return {{"one-way", measure<PingPong<PollFreely>>(2, cpus, budget / 2)},
          {"one-way-pause", measure<PingPong<PollWithPause>>(2, cpus, budget / 2)}};
}

FloorSamples measure_exchange(const std::vector<int>& cpus, std::chrono::nanoseconds budget) {
  const bool fits_one_line = static_cast<int>(cpus.size()) <= kWordsPerLine;
  const std::chrono::nanoseconds share = budget / (fits_one_line ? 10 : 5);
  FloorSamples samples;
  add_exchanges<OwnLines>("exchange", cpus, share, samples);
  if (fits_one_line) add_exchanges<PackedLine>("packed", cpus, share, samples);
  return samples;
}

FloorSamples measure_pool(const std::vector<int>& cpus, std::chrono::nanoseconds budget) {
  const int count = static_cast<int>(cpus.size());
  return {{"pool", measure<Pool<PollFreely>>(count, cpus, budget / 2)},
          {"pool-pause", measure<Pool<PollWithPause>>(count, cpus, budget / 2)}};
}

FloorSamples measure_yield_exchange(int num_participants, const std::vector<int>& cpus,
                                    std::chrono::nanoseconds budget) {
  return {{"exchange-yield", measure<Exchange<OwnLines, StoreArrival, PollWithYield>>(
                                 num_participants, cpus, budget)}};
}

}  // namespace hierbar::bench
