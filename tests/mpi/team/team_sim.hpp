// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "barrier/barrier.hpp"
#include "bench/common/random.hpp"
#include "mpi/team/protocols.hpp"
#include "tests/barrier/engine_subject.hpp"
#include "tests/barrier/simulated/sim_machine.hpp"
#include "tests/barrier/simulated/sim_trial.hpp"
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
  enum class Role : std::uint8_t {
    kLock,
    kNumCome,
    kClosed,
    kPublished,
    kCleared,
    kMet,
    kNever,
    kSlot
  };

  explicit SimTeam(const TeamShape& shape)
      : num_participants_(shape.num_threads()), num_cells_(num_participants_) {
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
    start_lines<SimWord>(plan, node.areas[area].data(), 0,
                         [&](SimWord& word, std::uint64_t) { add_word(word, Role::kSlot); });
    node.slot_cells[area] = num_cells_;
    num_cells_ += node.num_slots;
  }

  static std::vector<TestPlan> plans_for(std::uint32_t count) {
    std::vector<TestPlan> plans = {make_flat(count)};
    if (count == 1) return plans;
    plans.push_back(make_forest("tree", {{count}, 2, HIERBAR_RELEASE_FLAGS}));
    plans.push_back(make_forest("star", {{count}, count - 1, HIERBAR_RELEASE_LINES}));
    plans.push_back(make_crews(count, 2));
    if (count > 2)
      plans.push_back(
          make_forest("domains", {{2, count - 2}, 2, HIERBAR_RELEASE_FLAGS, Numbering::kRound}));
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

// The machine has stopped: a participant that waits gives up.
struct Stopped {};

// What happens in one run. It is drawn from a seed, and all participants know it beforehand.
class TeamScript {
 public:
  // Two episodes for each: between them everybody reads what everybody wrote before the first. Five
  // plans: each area is used again.
  static constexpr std::uint32_t kNumRounds = 4;

  explicit TeamScript(std::uint64_t seed) : seed_(mix(seed)) {}

  static std::uint32_t num_episodes() { return 2 * kNumRounds; }
  // Episodes are counted from 0 on here.
  bool joins(std::uint32_t participant, std::uint32_t episode) const {
    return episode == 0 || draw(participant, episode, 1) % 6 == 0;
  }
  std::uint64_t binding(std::uint32_t participant, std::uint32_t episode) const {
    return draw(participant, episode, 2);
  }
  std::uint64_t value(std::uint32_t participant, std::uint32_t episode) const {
    return draw(participant, episode, 3);
  }
  // Which of so many threads calls MPI before an episode, in the program.
  std::uint32_t caller(std::uint32_t first, std::uint32_t num_threads,
                       std::uint32_t episode) const {
    return first + static_cast<std::uint32_t>(draw(first, episode, 4) % num_threads);
  }
  // The plan that participant 0 makes of such bindings.
  static std::size_t plan_for(std::uint64_t sum_of_bindings, std::size_t num_plans) {
    return mix(sum_of_bindings) % num_plans;
  }

 private:
  std::uint64_t draw(std::uint32_t participant, std::uint32_t episode, std::uint32_t what) const {
    return mix(seed_ + 4096 * participant + 16 * episode + what) >> 8;
  }
  std::uint64_t seed_;
};

// The engine's memory on one node: a thread makes MPI progress while it waits, and the engine's
// participant 0 is the node's first.
template <class Mem, class Poke>
class NodeMem : public Mem {
 public:
  NodeMem(const Mem& mem, const Poke& poke, std::uint32_t first)
      : Mem(mem), poke_(poke), first_(first) {}

  void wake(std::uint32_t participant) const noexcept { Mem::wake(first_ + participant); }

  template <class AwaitedWord>
  WaitResult wait(AwaitedWord& pending) const noexcept {
    struct Poking {
      AwaitedWord& awaited_word;
      const Poke& poke;
      bool ready() const noexcept {
        if (awaited_word.ready()) return true;
        poke();
        return false;
      }
      bool announce() const noexcept { return awaited_word.announce(); }
      void retract() const noexcept { awaited_word.retract(); }
      const SimWord& awaited() const noexcept { return awaited_word.awaited(); }
    } poking{pending, poke_};
    return Mem::wait(poking);
  }

 private:
  const Poke& poke_;
  const std::uint32_t first_;
};

// One thread of the team: mpi::Team with simulated memory, and the program around it.
template <class Mem>
class SimTeamMember {
 public:
  SimTeamMember(SimTeam& team, SimMachine& machine, const TeamScript& script, mpi::Callers callers,
                std::uint32_t me)
      : team_(team),
        machine_(machine),
        script_(script),
        node_(team.node_of(me)),
        process_(team.process_of(me)),
        callers_(callers),
        turns_(callers, process_.num_threads, process_.lock, process_.words),
        mem_(machine, me),
        me_(me),
        own_(me - node_.first) {}

  // Returns how often it has called MPI while it waited.
  std::uint64_t run() try {
    for (std::uint32_t episode = 0; episode < TeamScript::num_episodes(); ++episode) {
      if (episode % 2 == 0)
        machine_.write_cell(me_, SimTeam::value_cell(me_), script_.value(me_, episode));
      call_mpi_in_the_program(episode);
      cross(episode);
      if (episode % 2 == 0) check_values(episode);
    }
    call_mpi_in_the_program(TeamScript::num_episodes());
    return num_calls_;
  } catch (const Stopped&) {
    return num_calls_;
  }

 private:
  const hierbar_plan& plan() const { return node_.plans[plan_]; }
  std::uint32_t thread() const { return me_ - process_.first; }

  void check_values(std::uint32_t episode) {
    for (std::uint32_t p = 0; p < team_.num_participants(); ++p)
      expect(SimTeam::value_cell(p), script_.value(p, episode));
  }
  void expect(std::uint32_t cell, std::uint64_t right) {
    const std::uint64_t seen = machine_.read_cell(me_, cell);
    if (seen == right) return;
    machine_.fail(Failure::kWrongValue, "participant " + std::to_string(me_) + ": cell " +
                                            std::to_string(cell) + " has " + std::to_string(seen) +
                                            ", should have " + std::to_string(right));
  }

  // With MPI_THREAD_MULTIPLE the library has locks of its own, and only waiting threads may not
  // meet in it.
  void call_mpi_in_the_program(std::uint32_t episode) {
    if (callers_ == mpi::Callers::kAny) return;
    const bool calls = callers_ == mpi::Callers::kThread0
                           ? thread() == 0
                           : script_.caller(process_.first, process_.num_threads, episode) == me_;
    if (calls) use_library();
  }
  void use_library() const {
    machine_.write_cell(me_, process_.library_cell, me_);
    static_cast<void>(mem_.load_relaxed(team_.never()));  // others may run meanwhile
    machine_.write_cell(me_, process_.library_cell, me_);
  }

  void poke() {
    turns_.try_call(mem_, thread(), episode_, [this] {
      ++num_calls_;
      use_library();
    });
  }
  // What a thread does while it waits outside the engine.
  void wait(const SimWord& word) {
    if (!machine_.is_stopped()) machine_.watch(me_, word.index);
    if (machine_.is_stopped()) throw Stopped{};
  }

  void cross(std::uint32_t episode) {
    episode_ = episode + 1;
    std::uint32_t bits = 0;
    if (script_.joins(me_, episode)) {
      machine_.write_cell(me_, node_.binding_cells + own_, script_.binding(me_, episode));
      bits = mpi::kThreadHasJoined;
    }
    mpi::run_team_episode(
        turns_, mem_, episode_, [&] { return cross_by_engine(bits); }, [&] { renew(episode); },
        [this](const SimWord& word) { wait(word); });
  }

  // As PlannedBarrier does.
  std::uint32_t cross_by_engine(std::uint32_t bits) {
    const auto poke_while_waiting = [this] { poke(); };
    using Waiting = NodeMem<Mem, decltype(poke_while_waiting)>;
    Waiting mem(mem_, poke_while_waiting, node_.first);
    const std::size_t area = number_ % 2;
    const Barrier<Waiting> barrier(plan(), node_.areas[area].data());
    look_at_slots(area);
    Crossing crossing{};
    if (team_.nodes().size() == 1) {
      crossing = barrier.cross(mem, own_, bits);
    } else {
      crossing = barrier.gather(mem, own_, bits, [](std::uint32_t) {});
      if (crossing.result == WaitResult::kAborted) throw Stopped{};
      if (own_ == 0) meet();
      crossing = barrier.release(mem, own_, crossing.bits);
    }
    if (crossing.result == WaitResult::kAborted) throw Stopped{};
    look_at_slots(area);
    return crossing.bits;
  }
  // Slots that were cleared for this plan, and for no later one.
  void look_at_slots(std::size_t area) {
    for (std::uint32_t p = 0; p < node_.num_participants; ++p)
      expect(node_.slot_cells[area] + plan().nodes[p].slot, number_);
  }

  void meet() {
    const auto meet_others = [this] {
      if (callers_ != mpi::Callers::kAny) use_library();
      mem_.fetch_add(team_.met(), 1);
      while (mem_.load_acquire(team_.met()) < episode_ * team_.nodes().size()) wait(team_.met());
      return 0;
    };
    turns_.meet(mem_, meet_others, [this](const SimWord& word) { wait(word); });
  }

  void renew(std::uint32_t episode) {
    const mpi::PlanChange<Mem> change(node_.published, node_.cleared, node_.num_participants);
    ++number_;
    const auto make_plan = [&] {
      std::uint64_t sum = 0;
      for (std::uint32_t p = 0; p < node_.num_participants; ++p)
        sum += machine_.read_cell(me_, node_.binding_cells + p);
      machine_.write_cell(me_, node_.image_cell, TeamScript::plan_for(sum, node_.plans.size()));
    };
    const auto take_plan = [&] {
      plan_ = newest_plan(episode);
      expect(node_.image_cell, plan_);
      clear_slot();
    };
    change.run(mem_, own_, number_, make_plan, take_plan, [this](const SimWord& word) {
      poke();
      wait(word);
    });
    expect(node_.image_cell, plan_);
  }
  // As all bindings of the node make it.
  std::size_t newest_plan(std::uint32_t episode) const {
    std::uint64_t sum = 0;
    for (std::uint32_t p = node_.first; p < node_.first + node_.num_participants; ++p) {
      std::uint32_t last = episode;
      while (!script_.joins(p, last)) --last;
      sum += script_.binding(p, last);
    }
    return TeamScript::plan_for(sum, node_.plans.size());
  }
  void clear_slot() {
    const std::size_t area = number_ % 2;
    const std::uint32_t slot = plan().nodes[own_].slot;
    machine_.write_cell(me_, node_.slot_cells[area] + slot, number_);
    const std::uint32_t first = node_.area_words[area] + slot * SimTeam::kWordsPerSlot;
    for (std::uint32_t i = 0; i < SimTeam::kWordsPerSlot; ++i) {
      SimWord word{first + i};
      mem_.store_relaxed(word, 0);
    }
  }

  SimTeam& team_;
  SimMachine& machine_;
  const TeamScript& script_;
  SimTeam::Node& node_;
  SimTeam::Process& process_;
  const mpi::Callers callers_;
  const mpi::CallerTurns<Mem> turns_;
  const Mem mem_;
  const std::uint32_t me_;   // in the team
  const std::uint32_t own_;  // on the node
  std::uint64_t episode_ = 0;
  std::uint64_t number_ = 0;  // of the plan
  std::size_t plan_ = 0;      // in node_.plans
  std::uint64_t num_calls_ = 0;
};

// A team under one schedule after another. Mem is SimMem or derived from it.
template <class Mem>
class SimTeamTrial {
 public:
  explicit SimTeamTrial(const TeamShape& shape)
      : callers_(shape.callers),
        team_(shape),
        machine_(team_.num_participants(), team_.num_words(), team_.num_cells()) {}

  Outcome run(std::uint64_t seed) {
    const TeamScript script(seed);
    machine_.begin(seed);
    return machine_.run([&](std::uint32_t me) {
      num_calls_ += SimTeamMember<Mem>(team_, machine_, script, callers_, me).run();
    });
  }
  SimTeam& team() { return team_; }
  // Of threads that waited, into MPI, in all runs.
  std::uint64_t num_calls() const { return num_calls_; }

 private:
  const mpi::Callers callers_;
  SimTeam team_;
  SimMachine machine_;
  std::uint64_t num_calls_ = 0;
};

}  // namespace hierbar::test
