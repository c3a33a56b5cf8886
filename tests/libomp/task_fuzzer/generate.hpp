// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "program.hpp"
#include "tests/support/draw_by_weight.hpp"

namespace fuzzer {

// Which constructs a program may have.
struct Limits {
  int max_roots = 3;
  bool with_detach = true;
};

// Makes a random program. Equal seeds and limits give equal programs. What it makes ends on any
// conforming library: a task whose event another task fulfils is deferred, and nothing that may be
// cancelled is detached.
class Generator {
 public:
  Generator(std::uint64_t seed, const Limits& limits) : random_(seed), limits_(limits) {}

  Program make() {
    Program program;
    const int num_roots = random_.one_in(4) ? 1 + below(limits_.max_roots) : 1;
    for (int i = 0; i < num_roots; ++i) {
      std::vector<Node> root;
      budget_ = kBudget / num_roots;
      const int num_regions = 1 + below(3);
      while (static_cast<int>(root.size()) < num_regions) root.push_back(region(Place{}));
      program.roots.push_back(std::move(root));
    }
    program.num_nodes = num_nodes_;
    return program;
  }

 private:
  static constexpr int kBudget = 250;  // nodes that threads run in one root, about

  // Where a node stands.
  struct Place {
    int runs = 1;             // how many threads or tasks run it
    int region_depth = 0;     // of regions around it
    int task_depth = 0;       // of tasks in the innermost region
    bool in_team = false;     // directly in a region, where barriers may stand
    bool may_reduce = false;  // a reduction must stand in the same function as its region, and that
                              // is so for one kind of region
    bool may_be_cancelled = false;
    bool is_final = false;
  };

  int below(int bound) { return static_cast<int>(random_.below(bound)); }
  bool one_in(int chances) { return random_.one_in(chances); }

  Node make_node(Kind kind, const Place& place) {
    budget_ -= place.runs;
    Node node;
    node.kind = kind;
    node.id = num_nodes_++;
    return node;
  }

  Node region(const Place& outer) {
    const bool cancelled = one_in(6);
    Node node = make_node(cancelled ? Kind::kCancelRegion : Kind::kRegion, outer);
    node.count = 1 + below(outer.region_depth == 0 ? 9 : 4);
    if (one_in(5)) node.count = 1;
    node.choice = below(9);
    Place inner;
    inner.runs = outer.runs * node.count;
    inner.region_depth = outer.region_depth + 1;
    inner.in_team = true;
    inner.may_reduce = !cancelled;
    inner.may_be_cancelled = outer.may_be_cancelled || cancelled;
    node.body = body(inner, 1 + below(outer.region_depth == 0 ? 8 : 3));
    return node;
  }

  std::vector<Node> body(const Place& place, int num_nodes) {
    std::vector<Node> nodes;
    while (num_nodes-- > 0 && budget_ > 0) nodes.push_back(any_node(place));
    return nodes;
  }

  Node any_node(const Place& place) {
    Kind kind = any_kind(place);
    if (kind == Kind::kReductionLoop && !place.may_reduce) kind = Kind::kBarrier;
    if (kind == Kind::kRegion) return region(place);
    if (kind == Kind::kTask) return task(place);
    Node node = make_node(kind, place);
    node.choice = below(9);
    Place inner = place;
    inner.in_team = false;
    fill_team_construct(node, inner);
    fill_task_construct(node, inner);
    if (kind == Kind::kDelay) node.count = one_in(8) ? below(3000) : below(100);
    return node;
  }

  // What a construct of a team has in it, if it is one.
  void fill_team_construct(Node& node, Place inner) {
    switch (node.kind) {
      case Kind::kLoop:
        node.schedule = static_cast<Schedule>(below(kNumSchedules));
        node.nowait = one_in(3);
        node.count = below(12);
        inner.runs = std::max(1, inner.runs * node.count / 4);
        node.body = body(inner, one_in(2) ? 1 + below(2) : 0);
        break;
      case Kind::kReductionLoop:
      case Kind::kCancelLoop:
        node.count = below(30);
        break;
      case Kind::kSingle:
      case Kind::kSections:
        node.nowait = one_in(3);
        node.body = body(inner, 1 + below(4));
        break;
      case Kind::kOneThread:
        node.body = body(inner, 1 + below(5));
        break;
      default:
        break;
    }
  }

  // The same for constructs of tasks; task() makes single tasks.
  void fill_task_construct(Node& node, Place inner) {
    switch (node.kind) {
      case Kind::kTaskgroup:
        node.body = body(inner, 1 + below(4));
        break;
      case Kind::kCancelGroup:
        node.count = 2 + below(6);
        inner.may_be_cancelled = true;
        inner.runs *= node.count;
        ++inner.task_depth;
        node.body = body(inner, below(3));
        break;
      case Kind::kTaskloop:
        node.count = 1 + below(10);
        node.nowait = one_in(3);  // nogroup
        inner.runs *= node.count;
        ++inner.task_depth;
        node.body = body(inner, below(2));
        break;
      case Kind::kTaskReduction:
        node.count = 1 + below(12);
        break;
      default:
        break;
    }
  }

  Node task(const Place& place) {
    Node node = make_node(Kind::kTask, place);
    node.choice = below(2);
    node.untied = one_in(4);
    node.undeferred = one_in(6);
    node.final = one_in(8);
    node.priority = one_in(4) ? 1 + below(4) : 0;
    node.depend = one_in(3) ? static_cast<Depend>(below(kNumDepends)) : Depend::kNone;
    const bool is_final = place.is_final || node.final;
    if (is_final) node.untied = false;
    if (limits_.with_detach && !place.may_be_cancelled && one_in(3)) {
      node.detach = static_cast<Detach>(below(kNumDetaches));
      const bool undeferred = is_final || node.undeferred;
      if (undeferred && node.detach == Detach::kOtherTask) node.detach = Detach::kForeignThread;
    }
    // LLVM's library leaves undeferred tasks out of the order of dependences, which shows in these
    // two (see UPSTREAM.md).
    if ((is_final || node.undeferred) &&
        (node.detach != Detach::kNone || node.depend == Depend::kMutexinoutset))
      node.depend = Depend::kNone;
    node.mergeable = node.detach == Detach::kNone && one_in(5);  // OpenMP allows one of the two
    node.count = one_in(4) ? below(300) : 0;  // how late a foreign thread fulfils the event
    Place inner = place;
    inner.in_team = false;
    inner.is_final = is_final;
    ++inner.task_depth;
    if (inner.task_depth < 4) node.body = body(inner, one_in(2) ? below(4) : 0);
    if (std::any_of(node.body.begin(), node.body.end(), waits_for_tasks)) node.untied = false;
    return node;
  }

  // An untied task must not wait for tied children. A thread that has begun a tied task runs only
  // what descends from that. If each has, and none is above the children, nobody may run them, and
  // OpenMP lets the program hang.
  static bool waits_for_tasks(const Node& node) {
    switch (node.kind) {
      case Kind::kTaskwait:
      case Kind::kTaskgroup:
      case Kind::kCancelGroup:
      case Kind::kTaskloop:
      case Kind::kTaskReduction:
        return true;
      case Kind::kTask:
        return node.undeferred;  // it may wait in its turn
      default:
        return false;
    }
  }

  Kind any_kind(const Place& place) {
    struct Weight {
      Kind kind;
      int weight;
    };
    static constexpr Weight kInTeam[] = {
        {Kind::kBarrier, 8},  {Kind::kLoop, 4},      {Kind::kReductionLoop, 2}, {Kind::kSingle, 5},
        {Kind::kSections, 2}, {Kind::kOneThread, 5}, {Kind::kCancelLoop, 1}};
    static constexpr Weight kAnywhere[] = {
        {Kind::kTask, 14},       {Kind::kTaskwait, 4}, {Kind::kTaskgroup, 3},
        {Kind::kCancelGroup, 1}, {Kind::kTaskloop, 2}, {Kind::kTaskReduction, 1},
        {Kind::kCritical, 1},    {Kind::kYield, 1},    {Kind::kDelay, 2}};
    if (place.in_team && !one_in(3)) return hierbar::test::draw_by_weight(random_, kInTeam).kind;
    if (place.region_depth < 3 && one_in(10)) return Kind::kRegion;
    return hierbar::test::draw_by_weight(random_, kAnywhere).kind;
  }

  hierbar::test::Random random_;
  const Limits limits_;
  int budget_ = 0;
  int num_nodes_ = 0;
};

}  // namespace fuzzer
