// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/team/team_episode.hpp"
#include "tests/barrier/engine_subject.hpp"
#include "tests/barrier/simulated/sim_machine.hpp"
#include "tests/barrier/simulated/sim_mem.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar::test {

struct TeamShape {
  std::string name;
  mpi::Callers callers;
  std::vector<std::vector<std::uint32_t>> nodes;  // the threads of each rank of each node

  std::uint32_t num_threads() const {
    std::uint32_t count = 0;
    for (const auto& ranks : nodes) {
      for (const std::uint32_t threads : ranks) count += threads;
    }
    return count;
  }
};

// Where everything of a team is in the simulated memory. Plain cells stand for what is no atomic:
// the program's data, the bindings, the plan's image, the memory of slots that is cleared, and the
// inside of each process's MPI library. Two unordered accesses to one of these are a data race.
class SimTeam {
 public:
  // One process.
  struct Process {
    std::uint32_t first;  // participant of the team: its thread 0
    std::uint32_t num_threads;
    std::uint32_t library_cell;
    SimWord lock;
    mpi::CallerWords<SimWord> words;
  };

  struct alignas(64) Line {
    std::byte bytes[64];
  };
  // One node.
  struct Node {
    std::uint32_t first;  // participant of the team: the node's participant 0
    std::uint32_t num_participants, num_slots;
    std::vector<TestPlan> owners;
    std::vector<hierbar_plan> plans;  // among which it changes; the first is the one to begin with
    SimWord published, cleared;
    std::array<std::uint32_t, 2> area_words;  // the first of each area
    std::array<std::vector<Line>, 2> areas;
    std::uint32_t image_cell;
    std::uint32_t binding_cells;              // the first of one for each participant
    std::array<std::uint32_t, 2> slot_cells;  // the first of one for each slot
  };

  static constexpr std::uint32_t kWordsPerSlot = kEngineWords;
  enum class Role : std::uint8_t { kLock, kNumCome, kClosed, kPublished, kCleared, kMet, kNever, kSlot };

  explicit SimTeam(const TeamShape& shape) : num_participants_(shape.num_threads()), num_cells_(num_participants_) {
    for (const auto& ranks : shape.nodes) add_node(ranks);
    add_word(met_, Role::kMet);
    add_word(never_, Role::kNever);
  }

  std::uint32_t num_participants() const { return num_participants_; }
  std::uint32_t num_words() const { return static_cast<std::uint32_t>(roles_.size()); }
  std::uint32_t num_cells() const { return num_cells_; }
  std::vector<Node>& nodes() { return nodes_; }
  Node& node_of(std::uint32_t participant) { return nodes_[node_of_[participant]]; }
  Process& process_of(std::uint32_t participant) { return processes_[process_of_[participant]]; }
  std::uint32_t num_processes() const { return static_cast<std::uint32_t>(processes_.size()); }
  const Process& process(std::uint32_t number) const { return processes_[number]; }
  static std::uint32_t value_cell(std::uint32_t participant) { return participant; }
  // How many nodes have come to all meetings so far.
  SimWord& met() { return met_; }
  // Nobody ever writes it.
  const SimWord& never() const { return never_; }
  Role role(const SimWord& word) const { return roles_[word.index]; }

 private:
  void add_word(SimWord& word, Role role) {
    word.index = num_words();
    roles_.push_back(role);
  }
  void add_node(const std::vector<std::uint32_t>& ranks) {
    Node& node = nodes_.emplace_back();
    node.first = static_cast<std::uint32_t>(node_of_.size());
    for (const std::uint32_t threads : ranks) add_process(threads);
    node.num_participants = static_cast<std::uint32_t>(node_of_.size()) - node.first;
    node.owners = plans_for(node.num_participants);
    for (const TestPlan& owner : node.owners) {
      node.plans.push_back(owner.view());
      node.num_slots = std::max(node.num_slots, node.plans.back().num_slots);
    }
    add_word(node.published, Role::kPublished);
    add_word(node.cleared, Role::kCleared);
    node.image_cell = num_cells_++;
    node.binding_cells = num_cells_;
    num_cells_ += node.num_participants;
    for (std::size_t area = 0; area < 2; ++area) add_area(node, area);
  }

  void add_process(std::uint32_t num_threads) {
    Process process{static_cast<std::uint32_t>(node_of_.size()), num_threads, num_cells_++, {}, {}};
    add_word(process.lock, Role::kLock);
    add_word(process.words.num_come, Role::kNumCome);
    add_word(process.words.closed, Role::kClosed);
    for (std::uint32_t i = 0; i < num_threads; ++i) {
      node_of_.push_back(nodes_.size() - 1);
      process_of_.push_back(processes_.size());
    }
    processes_.push_back(process);
  }

  // The words of a slot have consecutive numbers.
  void add_area(Node& node, std::size_t area) {
    const TestPlan all_slots = make_flat(node.num_slots);
    const hierbar_plan plan = all_slots.view();
    node.areas[area].resize(BarrierMemory<SimWord>::size_bytes(plan) / sizeof(Line));
    node.area_words[area] = num_words();
    start_lines<SimWord>(plan, node.areas[area].data(), 0, [&](SimWord& word, std::uint64_t) { add_word(word, Role::kSlot); });
    node.slot_cells[area] = num_cells_;
    num_cells_ += node.num_slots;
  }

  static std::vector<TestPlan> plans_for(std::uint32_t count) {
    std::vector<TestPlan> plans = {make_flat(count)};
    if (count == 1) return plans;
    plans.push_back(make_forest("tree", {{count}, 2, HIERBAR_RELEASE_FLAGS}));
    plans.push_back(make_forest("star", {{count}, count - 1, HIERBAR_RELEASE_LINES}));
    plans.push_back(make_crews(count, 2));
    if (count > 2) plans.push_back(make_forest("domains", {{2, count - 2}, 2, HIERBAR_RELEASE_FLAGS, Numbering::kRound}));
    return plans;
  }

  std::uint32_t num_participants_;
  std::vector<Role> roles_;  // by word
  std::uint32_t num_cells_;  // the first are the values of the participants
  std::vector<Node> nodes_;
  std::vector<Process> processes_;
  std::vector<std::size_t> node_of_, process_of_;  // by participant
  SimWord met_{}, never_{};
};

}  // namespace hierbar::test
