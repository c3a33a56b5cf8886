// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/pair_simulator.hpp"

#include <algorithm>

namespace hierbar::bench::model {
namespace {

constexpr double kForever = 1e300;
constexpr std::uint64_t kMostSteps = 5'000'000;  // correct runs need far fewer

}  // namespace

std::string PairSimulator::run(const PairCosts& costs, std::byte* memory, std::size_t num_lines,
                               std::uint32_t line_bytes,
                               const std::function<void(std::uint32_t)>& body) {
  costs_ = costs;
  memory_ = memory;
  line_bytes_ = line_bytes;
  constexpr Span kHas{0, kForever};
  constexpr Span kHasNot{kForever, 0};
  lines_.assign(num_lines, Line{{kHas, kHasNot}, {kHas, kHasNot}, 0});  // core 0 has all lines
  cores_ = {};
  cores_[1].now = costs.transfer / 3;  // the cores do not begin in step
  num_transfers_ = 0;
  num_steps_ = 0;
  failure_.clear();
  for (std::uint32_t me = 0; me < 2; ++me) {
    fibers_[me] = std::make_unique<Fiber>([this, me, &body] {
      body(me);
      for (;;) finish(me);
    });
  }
  main_.switch_to(*fibers_[0]);
  return failure_;
}

void PairSimulator::finish(std::uint32_t me) {
  drain(me);
  cores_[me].is_finished = true;
  fibers_[me]->switch_to(cores_[1 - me].is_finished ? main_ : *fibers_[1 - me]);
}

// Returns when no action of the other core can come before this core's next one.
void PairSimulator::await_turn(std::uint32_t me) {
  if (++num_steps_ > kMostSteps) failure_ = "no end after " + std::to_string(num_steps_) + " steps";
  while (cores_[me].now > cores_[1 - me].now && !cores_[1 - me].is_finished)
    fibers_[me]->switch_to(*fibers_[1 - me]);
  for (Core& core : cores_) {
    std::erase_if(core.stores, [&](const Store& store) {
      if (store.visible > cores_[me].now) return false;
      store.word->value = store.value;
      return true;
    });
  }
}

// Returns the time at which the core has the line for this access.
double PairSimulator::take(std::uint32_t me, Line& line, Access access) {
  const double now = cores_[me].now;
  const std::uint32_t other = 1 - me;
  Span& mine = access == Access::kWrite ? line.write[me] : line.read[me];
  if (mine.from <= now && now < mine.until) return now;
  // A store has asked for it already.
  if (mine.from > now && mine.from < mine.until && mine.until == kForever) return mine.from;
  const double start = std::max(now, line.busy_until);
  const double complete = start + costs_.transfer;
  const double lost = start + costs_.hand_over * costs_.transfer;
  line.busy_until = complete;
  line.write[other].until = std::min(line.write[other].until, lost);
  const bool readable = line.read[me].from <= now && now < line.read[me].until;
  line.read[me] = Span{readable ? line.read[me].from : complete, kForever};
  if (access == Access::kWrite) {
    line.read[other].until = std::min(line.read[other].until, lost);
    line.write[me] = Span{complete, kForever};
  }
  ++num_transfers_;
  return complete;
}

void PairSimulator::fetch(std::uint32_t me, const Word& word, Access access) {
  await_turn(me);
  const double arrives = take(me, line_of(word), access);
  if (arrives <= cores_[me].now) return;
  cores_[me].now = arrives;
  await_turn(me);
}

std::uint64_t PairSimulator::load(std::uint32_t me, const Word& word) {
  await_turn(me);
  for (const Store& store : cores_[me].stores) {  // a core sees its own stores at once
    if (store.word != &word) continue;
    cores_[me].now += costs_.access;
    return store.value;
  }
  fetch(me, word, Access::kRead);
  cores_[me].now += costs_.access;
  return word.value;
}

void PairSimulator::store(std::uint32_t me, Word& word, std::uint64_t value) {
  await_turn(me);
  Core& core = cores_[me];
  const double arrives = take(me, line_of(word), Access::kWrite);
  // Stores become visible in order.
  const double visible =
      core.stores.empty() ? arrives : std::max(arrives, core.stores.back().visible);
  if (visible <= core.now) {
    word.value = value;
  } else {
    core.stores.push_back(Store{visible, &word, value});
  }
  core.now += costs_.access;
}

void PairSimulator::drain(std::uint32_t me) {
  Core& core = cores_[me];
  if (core.stores.empty()) return;
  core.now = std::max(core.now, core.stores.back().visible);
  await_turn(me);
}

}  // namespace hierbar::bench::model
