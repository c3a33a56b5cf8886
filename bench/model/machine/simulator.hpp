// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "barrier/awaited_word.hpp"
#include "bench/model/machine/machine.hpp"
#include "bench/model/machine/memory.hpp"
#include "bench/model/machine/simulated_mem.hpp"
#include "bench/simulation/fiber.hpp"

namespace hierbar::bench::model {

// A word of simulated memory. Its value is stored where the algorithm put the word; its line
// follows from its address.
struct Word {
  std::uint64_t value;
};

// The memory of one run.
struct Storage {
  std::byte* begin;
  std::uint32_t line_bytes;                   // a power of two
  std::vector<std::uint32_t> domain_of_line;  // the domain in whose memory each line is
};

// Runs participants as fibers in simulated time, one at a time, in the order of their times. Equal
// seeds give equal runs.
//
// The work of a core between two accesses that other cores notice is added up and costs no event. A
// load that misses does not stop its core if the value is the awaited one: the branch after it was
// predicted right, and the next load is issued too (`outstanding` of them at a time). Stores,
// read-modify-writes and the end of a run wait for such loads. No core polls. A core that waits is
// woken when its copy of the line is taken away.
class Simulator {
 public:
  // `places` must live longer than the simulator.
  explicit Simulator(const Places& places);

  // Runs once: calls `body` for each participant. Returns what went wrong; empty if nothing did.
  // After a failure every wait is aborted, and `body` must end soon after that.
  std::string run(const Parameters& parameters, Storage storage, std::uint64_t seed,
                  const std::function<void(std::uint32_t me)>& body);

  // The running participant calls the following functions.
  std::uint64_t load(std::uint32_t me, const Word& word);
  void store(std::uint32_t me, Word& word, std::uint64_t value);
  template <class Change>
  std::uint64_t read_modify_write(std::uint32_t me, Word& word, Change&& change) {
    const std::uint32_t line = begin_read_modify_write(me, word);
    const std::uint64_t before = word.value;
    word.value = change(before);
    end_read_modify_write(me, line);
    return before;
  }
  // Returns when the word should be loaded again.
  void await_change(std::uint32_t me, const Word& word);

  // Waits until all that the participant has begun is complete. Returns its time then.
  Time settle(std::uint32_t me);
  // Waits until all participants have come, and returns for all of them at about the same moment.
  void meet(std::uint32_t me);
  // Lets time pass for this participant.
  void spend(std::uint32_t me, double ns) { cores_[me].debt += memory_.vary(ns); }

  void fail(const std::string& what);
  bool is_stopped() const { return !failure_.empty(); }

 private:
  struct Core {
    Time debt = 0;            // time of its own work since its last event
    Time loaded = 0;          // when its last load is complete
    Time stored = 0;          // when its last store is complete
    std::vector<Time> loads;  // a ring of the completion times of loads in flight
    std::vector<Time> stores;
    std::uint32_t next_load = 0;
    std::uint32_t next_store = 0;
    bool is_finished = false;
  };
  struct Event {
    Time time;
    std::uint64_t order;  // of two events at the same time, the one that was made first comes first
    std::uint32_t core;
    std::uint32_t store;  // kNoStore: the core continues
  };
  struct QueuedStore {
    Word* word;
    std::uint64_t value;
    std::uint32_t line;
    std::uint32_t writer;
  };
  static constexpr std::uint32_t kNoStore = ~std::uint32_t{0};
  static bool later(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }

  std::uint32_t line_of(const Word& word) const {
    return static_cast<std::uint32_t>((reinterpret_cast<const std::byte*>(&word) - storage_.begin) /
                                      storage_.line_bytes);
  }
  std::uint32_t begin_read_modify_write(std::uint32_t me, Word& word);
  void end_read_modify_write(std::uint32_t me, std::uint32_t line);
  void advance(std::uint32_t me, Time at_least);
  void push(Event event);
  void go_on(std::uint32_t me);
  void apply(const QueuedStore& store);
  void wake_watchers(std::uint32_t line);
  void finish(std::uint32_t me);

  const Places& places_;
  Parameters parameters_;
  Memory memory_;
  Storage storage_{};
  Time now_ = 0;
  std::uint64_t num_events_ = 0;
  std::uint32_t num_finished_ = 0;
  std::uint32_t num_met_ = 0;
  std::vector<Core> cores_;
  std::vector<Event> events_;  // a heap
  std::vector<QueuedStore> pending_;
  std::vector<std::uint32_t> free_pending_;
  std::vector<std::vector<std::uint32_t>> watchers_;  // by line
  std::string failure_;

  const std::function<void(std::uint32_t)>* body_ = nullptr;
  Fiber main_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
};

// The barriers' Mem over a Simulator. No participant may sleep.
class ModelMem : public SimulatedMem<Simulator, Word> {
 public:
  using SimulatedMem::SimulatedMem;

  void fence() const noexcept { simulator_.settle(me_); }

  template <class AwaitedWord>
  WaitResult wait(AwaitedWord& pending) const noexcept {
    while (!pending.ready()) {
      if (simulator_.is_stopped()) return WaitResult::kAborted;
      simulator_.await_change(me_, pending.awaited());
    }
    return WaitResult::kReleased;
  }
  bool can_sleep() const noexcept { return false; }
};

}  // namespace hierbar::bench::model
