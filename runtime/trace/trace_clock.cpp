// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/trace_clock.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <system_error>
#include <thread>

#include "base/bound_thread.hpp"

namespace hierbar {
namespace {

// Both clocks at one time. Of 16 attempts the one with the shortest interval counts.
TraceClock::Anchor read_both() {
  TraceClock::Anchor best{};
  std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = read_counter();
    const std::uint64_t ns = read_system_ns();
    const std::uint64_t after = read_counter();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + narrowest / 2, ns};
  }
  return best;
}

// The two readings may be 20 ns apart. Over 2 ms that is an error of 10 millionths.
double measure_ns_per_tick() {
  constexpr std::uint64_t kSpan_ns = 2'000'000;
  const TraceClock::Anchor start = read_both();
  TraceClock::Anchor end = start;
  while (end.ns - start.ns < kSpan_ns) end = read_both();
  return static_cast<double>(end.ns - start.ns) /
         static_cast<double>(std::max<std::uint64_t>(end.ticks - start.ticks, 1));
}

}  // namespace

TraceClock::TraceClock(ClockSource source, std::uint64_t ns_per_tick)
    : source_(source), ns_per_tick_(ns_per_tick) {
  measure_stamps();
}

TraceClock TraceClock::measure() {
  if (!counter_is_usable()) return system();
  return TraceClock(ClockSource::kCounter,
                    static_cast<std::uint64_t>(measure_ns_per_tick() *
                                               static_cast<double>(std::uint64_t{1} << kShift)));
}

TraceClock::Anchor TraceClock::anchor() const {
  if (source_ == ClockSource::kCounter) return read_both();
  const std::uint64_t ns = read_system_ns();
  return {ns, ns};
}

std::string TraceClock::name() const {
  if (source_ == ClockSource::kSystem) return "clock_gettime(CLOCK_MONOTONIC)";
  return kCounterName;
}

// The shortest of several rounds counts, because an interrupt only adds time.
void TraceClock::measure_stamps() {
  constexpr int kRounds = 20;
  constexpr int kStamps = 500;
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t quickest = smallest;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t start = now();
    std::uint64_t last = start;
    for (int i = 0; i < kStamps; ++i) {
      const std::uint64_t stamp = now();
      if (stamp != last) smallest = std::min(smallest, stamp - last);
      last = stamp;
    }
    quickest = std::min(quickest, last - start);
  }
  // If all stamps were equal, a tick is longer than a round. A round is the best that is known
  // then.
  if (smallest > quickest && quickest > 0) smallest = quickest;
  resolution_ns_ = static_cast<double>(smallest) * ns_per_tick();
  stamp_ns_ = static_cast<double>(quickest) * ns_per_tick() / kStamps;
}

namespace {

constexpr std::uint64_t kNumExchanges = 200;
constexpr std::uint64_t kDeadline_ns = 20'000'000;

// A series of exchanges between two threads, one after the other. No wait goes beyond the deadline.
//
//   asked     written by the asker: the number of the exchange, from 1
//   answered  written by the answerer: the same number, after `stamp`
class Exchange {
 public:
  explicit Exchange(const TraceClock& clock)
      : clock_(clock), deadline_ns_(read_system_ns() + kDeadline_ns) {}

  void answer(int cpu) {
    if (!bind_this_thread(static_cast<std::uint32_t>(cpu))) return give_up();
    for (std::uint64_t number = 1; number <= kNumExchanges; ++number) {
      if (!wait_for(asked_, number)) return;
      stamp_ = clock_.now();
      // (O1) release; pairs with (O3) in ask(). Publishes the stamp.
      answered_.store(number, std::memory_order_release);
    }
  }

  struct Found {
    double offset_ns;
    double error_ns;
  };
  // Nothing if the deadline passed, or if a thread could not be bound.
  std::optional<Found> ask(int cpu) {
    if (!bind_this_thread(static_cast<std::uint32_t>(cpu))) give_up();
    std::optional<Found> best;
    for (std::uint64_t number = 1; number <= kNumExchanges; ++number) {
      const std::uint64_t sent = clock_.now();
      // (O2) release; pairs with (O3) in answer(). The asker has read the last stamp before, so the
      // answerer may overwrite it.
      asked_.store(number, std::memory_order_release);
      if (!wait_for(answered_, number)) return std::nullopt;
      const std::uint64_t back = clock_.now();
      const double half_ns = clock_.ns_per_tick() * static_cast<double>(back - sent) / 2;
      if (best && half_ns >= best->error_ns) continue;
      const auto apart = static_cast<double>(static_cast<std::int64_t>(stamp_ - sent));
      best = Found{apart * clock_.ns_per_tick() - half_ns, half_ns};
    }
    return best;
  }

 private:
  // (O3) acquire; pairs with (O1) for the asker and with (O2) for the answerer.
  bool wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t number) {
    while (word.load(std::memory_order_acquire) != number) {
      if (given_up_.load(std::memory_order_relaxed) || read_system_ns() > deadline_ns_)
        return false;
    }
    return true;
  }
  // Relaxed: it publishes nothing else. wait_for() of the other thread reads it.
  void give_up() { given_up_.store(true, std::memory_order_relaxed); }

  const TraceClock& clock_;
  const std::uint64_t deadline_ns_;
  alignas(128) std::atomic<std::uint64_t> asked_{0};
  alignas(128) std::atomic<std::uint64_t> answered_{0};
  std::uint64_t stamp_ = 0;
  std::atomic<bool> given_up_{false};
};

// Both ends are new threads, so that the caller's binding does not change.
std::optional<Exchange::Found> measure_two(const TraceClock& clock, int cpu, int other) {
  Exchange exchange(clock);
  std::optional<Exchange::Found> found;
  std::thread answerer([&] { exchange.answer(other); });
  std::thread asker([&] { found = exchange.ask(cpu); });
  asker.join();
  answerer.join();
  return found;
}

}  // namespace

std::vector<int> first_cpus_of_packages(const std::string& sysfs) {
  const KernelMask allowed = KernelMask::of_thread();
  std::map<long, int> first;  // by package
  for (std::uint32_t cpu = 0; cpu < KernelMask::kMostCpus; ++cpu) {
    if (!allowed.has(cpu)) continue;
    std::ifstream file(sysfs + "/cpu" + std::to_string(cpu) + "/topology/physical_package_id");
    if (long package = 0; file >> package) first.emplace(package, static_cast<int>(cpu));
  }
  std::vector<int> cpus;
  for (const auto& [package, cpu] : first) cpus.push_back(cpu);
  return cpus;
}

ClockOffset measure_clock_offset(const TraceClock& clock, const std::vector<int>& cpus) try {
  ClockOffset worst;
  worst.num_packages = cpus.size();
  if (cpus.empty()) worst.problem = "the system does not say which cpu is in which package";
  for (std::size_t i = 1; i < cpus.size(); ++i) {
    const std::optional<Exchange::Found> found = measure_two(clock, cpus[0], cpus[i]);
    if (!found) {
      worst.problem = "cpus " + std::to_string(cpus[0]) + " and " + std::to_string(cpus[i]) +
                      " were busy with something else";
      return worst;
    }
    if (i > 1 && std::abs(found->offset_ns) + found->error_ns <= worst.offset_ns + worst.error_ns)
      continue;
    worst.offset_ns = std::abs(found->offset_ns);
    worst.error_ns = found->error_ns;
  }
  return worst;
} catch (const std::system_error& error) {
  return {.num_packages = cpus.size(),
          .problem = std::string("no thread could be made: ") + error.what()};
}

}  // namespace hierbar
