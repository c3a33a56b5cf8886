// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/model/region/stock_shapes.hpp"

namespace hierbar::bench::model {

// How libomp's distributed barrier divides a team (distributedBarrier::computeVarsForN).
struct DistGroups {
  std::uint32_t threads_per_go;  // who wait for the same line
  std::uint32_t num_gos;
  std::uint32_t gos_per_group;
  std::uint32_t threads_per_group;

  DistGroups(std::uint32_t num_threads, std::uint32_t num_packages, std::uint32_t cores_per_package) {
    threads_per_go = std::max(1U, cores_per_package / 2);
    num_gos = divided_up(num_threads, threads_per_go);
    const std::uint32_t num_groups = num_packages == 1 || num_gos == 1 ? 1 : divided_up(num_gos, num_packages);
    gos_per_group = divided_up(num_gos, num_groups);
    threads_per_group = threads_per_go * gos_per_group;
  }

 private:
  static std::uint32_t divided_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }
};

// libomp's distributed barrier. Leaders look at the flags of their whole group, then at those of
// all leaders; a release is one line for many threads.
template <class Mem>
class DistPattern : StockPattern<Mem> {
  using Base = StockPattern<Mem>;
  static constexpr std::uint32_t kNumIterations = ThreadLines<typename Mem::Word>::kNumIterations;

 public:
  DistPattern(const SimulatedTeam<Mem>& team, const DistGroups& groups) : Base(team), groups_(groups) {
    for (std::uint32_t i = 0; i < team.num_threads; ++i) {
      for (auto& flag : team.threads[i].still_needs) flag.word.value = 1;
    }
  }

  bool release(Mem& mem, std::uint32_t me, Payload& payload) const {
    typename Base::Word& iteration = this->team_.threads[me].iteration.word;
    const std::uint64_t current = mem.load_relaxed(iteration);
    const std::uint64_t next_go = current + kNumIterations;
    const bool done = me == 0 ? release_all(mem, next_go, payload) : await_release(mem, me, next_go, payload);
    mem.store_relaxed(iteration, (current + 1) % kNumIterations);
    return done;
  }

  bool gather(Mem& mem, std::uint32_t me) const {
    this->read_blocktime(mem, me);
    const std::uint64_t current = mem.load_relaxed(this->team_.threads[me].iteration.word);
    const std::uint32_t size = groups_.threads_per_group;
    const bool leads = me % size == 0;
    if (leads && !await_flags(mem, current, me + 1, std::min(me + size, this->team_.num_threads), 1)) return false;
    mem.store_relaxed(flag(me, (current + 1) % kNumIterations), 1);
    mem.store_relaxed(flag(me, current), 0);
    if (leads && !await_flags(mem, current, 0, this->team_.num_threads, size)) return false;
    mem.fence();
    return true;
  }

 private:
  typename Base::Word& flag(std::uint32_t thread, std::uint64_t iteration) const {
    return this->team_.threads[thread].still_needs[iteration].word;
  }
  typename Base::Word& go(std::uint32_t index) const { return this->team_.threads[index].go.word; }

  // It reads all of them each time.
  bool await_flags(Mem& mem, std::uint64_t iteration, std::uint32_t begin, std::uint32_t end, std::uint32_t step) const {
    for (;;) {
      std::uint32_t pending = end;
      for (std::uint32_t thread = begin; thread < end; thread += step) {
        if (mem.load_acquire(flag(thread, iteration)) != 0) pending = thread;
      }
      if (pending == end) return true;
      if (!await_value(mem, flag(pending, iteration), 0)) return false;
    }
  }

  bool release_all(Mem& mem, std::uint64_t next_go, const Payload& payload) const {
    mem.store_relaxed(this->team_.lines.icvs.word, 1);
    this->set_function(mem, payload);
    for (std::uint32_t i = 0; i < groups_.num_gos; i += groups_.gos_per_group) mem.store_release(go(i), next_go);
    wake(mem, groups_.threads_per_group, this->team_.num_threads, groups_.threads_per_group);
    for (std::uint32_t i = 1; i < groups_.gos_per_group; ++i) mem.store_release(go(i), next_go);
    mem.fence();
    wake(mem, 1, std::min(groups_.threads_per_group, this->team_.num_threads), 1);
    return true;
  }

  bool await_release(Mem& mem, std::uint32_t me, std::uint64_t next_go, Payload& payload) const {
    const std::uint32_t own_go = me / groups_.threads_per_go;
    if (!await_value(mem, go(own_go), next_go)) return false;
    const bool leads = me % groups_.threads_per_group == 0;
    if (leads) {
      const std::uint32_t end = std::min(own_go + groups_.gos_per_group, groups_.num_gos);
      for (std::uint32_t i = own_go + 1; i < end; ++i) mem.store_release(go(i), next_go);
      mem.fence();
    }
    mem.load_relaxed(this->team_.lines.icvs.word);
    mem.store_relaxed(this->team_.threads[me].task.word, 1);
    if (leads) wake(mem, me + 1, std::min(me + groups_.threads_per_group, this->team_.num_threads), 1);
    payload = this->function(mem);
    return true;
  }

  // __kmp_dist_barrier_wakeup(): it locks the mutex of each thread, whether that one sleeps or not.
  void wake(Mem& mem, std::uint32_t begin, std::uint32_t end, std::uint32_t step) const {
    for (std::uint32_t thread = begin; thread < end; thread += step) {
      mem.exchange(this->team_.threads[thread].suspend_mutex.word, 1);
      mem.exchange(this->team_.threads[thread].suspend_mutex.word, 0);
    }
  }

  DistGroups groups_;
};

}  // namespace hierbar::bench::model
