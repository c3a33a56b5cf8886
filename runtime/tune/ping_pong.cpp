// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/ping_pong.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "base/arch/pause.hpp"
#include "base/bound_thread.hpp"

namespace hierbar {
namespace {

// A unit without labels usually lies between cores and an L3. It sorts before "l3", which has the
// same number.
constexpr int kGroup = static_cast<int>(Level::kL3);

// What two cpus share if this is the smallest unit that holds both. If the unit has several labels,
// the nearest one counts.
std::pair<int, const char*> kind_of(const Unit& unit) {
  if (unit.children.empty()) return {0, level_name(Level::kCore)};
  for (int i = 0; i < kNumLevels; ++i) {
    const auto level = static_cast<Level>(i);
    if (unit.has(level)) return {i, level_name(level)};
  }
  return {kGroup, "group"};
}

// The parts of a unit. Two cpus of different parts have the distance of this unit. The parts are
// the unit's children or, in a core, its cpus.
std::vector<CpuSet> parts_of(const Machine& machine, const Unit& unit) {
  std::vector<CpuSet> parts;
  for (const int child : unit.children)
    parts.push_back(machine.units[child].cpus & machine.allowed);
  if (unit.children.empty()) {
    for (const std::uint32_t cpu : unit.cpus & machine.allowed)
      parts.push_back(CpuSet::range(cpu, cpu));
  }
  std::erase_if(parts, [](const CpuSet& part) { return part.empty(); });
  return parts;
}

std::uint32_t member(const CpuSet& cpus, std::size_t index) {
  auto cpu = cpus.begin();
  for (; index > 0; --index) ++cpu;
  return *cpu;
}

}  // namespace

std::vector<PairClass> sample_pairs(const Machine& machine, std::size_t most_pairs) {
  using Parts = std::vector<CpuSet>;
  std::map<std::pair<int, std::string>, std::vector<Parts>> units_of_kind;
  for (const Unit& unit : machine.units) {
    Parts parts = parts_of(machine, unit);
    if (parts.size() >= 2) units_of_kind[kind_of(unit)].push_back(std::move(parts));
  }
  std::mt19937 random(1);
  // Not a standard distribution: their results differ from one C++ library to another.
  const auto below = [&random](std::size_t bound) { return random() % bound; };
  std::vector<PairClass> classes;
  for (const auto& [kind, units] : units_of_kind) {
    PairClass found{kind.second, kind.first, {}};
    // Twice as many tries as pairs, because a class may have fewer pairs.
    for (std::size_t i = 0; i < 2 * most_pairs && found.pairs.size() < most_pairs; ++i) {
      const Parts& parts = units[i < units.size() && units.size() > most_pairs
                                     ? i * units.size() / most_pairs % units.size()
                                     : i % units.size()];
      const std::size_t a = below(parts.size());
      const std::size_t b = (a + 1 + below(parts.size() - 1)) % parts.size();
      const CpuPair pair = std::minmax(member(parts[a], below(parts[a].count())),
                                       member(parts[b], below(parts[b].count())));
      if (std::find(found.pairs.begin(), found.pairs.end(), pair) == found.pairs.end())
        found.pairs.push_back(pair);
    }
    classes.push_back(std::move(found));
  }
  return classes;
}

namespace {

using Clock = std::chrono::steady_clock;
using Value = std::uint64_t;
constexpr Value kStop = ~Value{0};

// The word's cache line. The line beside it stays empty, because of the adjacent-line prefetcher.
struct alignas(128) Line {
  std::atomic<Value> word{0};
};

void pause(int times) {
  for (; times > 0; --times) cpu_pause();
}

// A handover polls for `seen`, with `pauses` pauses between two polls, and then writes `next`. It
// returns false if the peer has stopped.
struct ByStore {
  static bool pass(std::atomic<Value>& word, Value seen, Value next, int pauses) {
    // (1) acquire load; pairs with (2), the peer's release store. Nothing but the word is passed
    // on.
    for (Value value = 0; (value = word.load(std::memory_order_acquire)) != seen; pause(pauses)) {
      if (value == kStop) return false;
    }
    word.store(next, std::memory_order_release);  // (2) pairs with the peer's (1)
    return true;
  }
};
struct ByCas {
  static bool pass(std::atomic<Value>& word, Value seen, Value next, int pauses) {
    // (3) acq_rel; pairs with the peer's (3). A failed attempt orders nothing that is needed.
    for (Value value = seen; !word.compare_exchange_weak(value, next, std::memory_order_acq_rel,
                                                         std::memory_order_acquire);
         value = seen, pause(pauses)) {
      if (value == kStop) return false;
    }
    return true;
  }
};

// A ping-pong of two threads. The word counts up: this thread waits for even values, the other one
// for odd ones.
template <class Handover>
class Game {
 public:
  Game(std::uint32_t cpu, std::uint32_t other_cpu, int pauses)
      : pauses_(pauses), here_(cpu), other_([this, other_cpu] {
          const BoundThread there(other_cpu);
          for (Value value = 1; Handover::pass(line_.word, value, value + 1, pauses_); value += 2) {
          }
        }) {}
  ~Game() {
    // (4) acquire; pairs with the peer's last (2) or (3). The peer then polls again.
    while (line_.word.load(std::memory_order_acquire) != value_) {
    }
    line_.word.store(kStop, std::memory_order_release);  // (5) pairs with the peer's (1) or (3)
    other_.join();
  }
  Game(const Game&) = delete;
  Game& operator=(const Game&) = delete;

  // ns for one passage. A round has two.
  double play(std::uint64_t num_rounds) {
    const Clock::time_point start = Clock::now();
    for (std::uint64_t i = 0; i < num_rounds; ++i, value_ += 2)
      Handover::pass(line_.word, value_, value_ + 1, pauses_);
    // As (4): the round is complete.
    while (line_.word.load(std::memory_order_acquire) != value_) {
    }
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
    return elapsed.count() / (2 * static_cast<double>(num_rounds));
  }

 private:
  Line line_;
  Value value_ = 0;
  const int pauses_;
  BoundThread here_;
  std::thread other_;
};

template <class Handover>
Quartiles measure(std::uint32_t cpu, std::uint32_t other_cpu, int pauses) {
  constexpr std::uint64_t kRounds = 1000;
  constexpr int kBatches = 60;
  constexpr auto kLongest = std::chrono::milliseconds(100);  // a limit for busy machines
  Game<Handover> game(cpu, other_cpu, pauses);
  game.play(kRounds);  // afterwards both threads have come, and their cpus are awake
  std::vector<double> samples;
  const Clock::time_point end = Clock::now() + kLongest;
  for (int i = 0; i < kBatches && (i < 3 || Clock::now() < end); ++i)
    samples.push_back(game.play(kRounds));
  return quartiles_of(std::move(samples));
}

}  // namespace

OneWay measure_one_way(std::uint32_t cpu, std::uint32_t other_cpu) {
  return OneWay{measure<ByStore>(cpu, other_cpu, 0),
                measure<ByStore>(cpu, other_cpu, measure_pauses_per_poll()),
                measure<ByCas>(cpu, other_cpu, 0)};
}

}  // namespace hierbar
