// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/levels.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>

namespace hierbar::report {
namespace {

constexpr std::uint32_t kMostLevels = 64;

void merge_all(std::vector<Histogram>& into, const std::vector<Histogram>& from) {
  into.resize(std::max(into.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) into[i].merge(from[i]);
}

// Adds to a list of names those that it does not have. Both lists have slashes between the names.
void add_names(std::string& names, const std::string& added) {
  for (std::size_t begin = 0, end = 0; begin < added.size(); begin = end + 1) {
    end = std::min(added.find('/', begin), added.size());
    const std::string name = added.substr(begin, end - begin);
    if (("/" + names + "/").find("/" + name + "/") == std::string::npos)
      names += (names.empty() ? "" : "/") + name;
  }
}

// The steps of the critical path, each with its level and its length.
class Path {
 public:
  Path(std::uint64_t start, LevelTimes& times) : start_(start), now_(start), times_(times) {}

  // A step back in time makes the path impossible.
  void step(std::uint64_t until, Histogram& level) {
    possible_ = possible_ && until >= now_ && num_steps_ < steps_.size();
    if (possible_) steps_[num_steps_++] = {&level, until - now_};
    now_ = until;
  }
  bool is_possible() const { return possible_; }
  std::uint64_t length() const { return now_ - start_; }
  LevelTimes& times() { return times_; }

  void add_to_histograms(const TraceClock& clock) const {
    for (std::uint32_t i = 0; i < num_steps_; ++i)
      steps_[i].level->add(clock.to_ns(steps_[i].ticks));
  }

 private:
  struct Step {
    Histogram* level;
    std::uint64_t ticks;
  };
  const std::uint64_t start_;
  std::uint64_t now_;
  LevelTimes& times_;
  std::array<Step, 2 * kMostLevels + 2> steps_;
  std::uint32_t num_steps_ = 0;
  bool possible_ = true;
};

void walk(Path& path, const Shape& shape, const std::vector<const Phases*>& phases,
          std::uint32_t last_in, std::uint32_t last_out) {
  LevelTimes& times = path.times();
  // 1. Up. A thread that gathers has its whole group some time after its own arrival.
  std::uint32_t at = last_in;
  if (phases[at]->gathered != 0) path.step(phases[at]->gathered, times.gather[shape.depths[at]]);
  while (shape.parents[at] != at) {
    at = shape.parents[at];
    path.step(phases[at]->gathered, times.gather[shape.depths[at]]);
  }
  // 2. Across. 3. Down, which is the path up from the thread that leaves last, backwards.
  std::uint32_t down[kMostLevels];
  std::uint32_t count = 0;
  for (at = last_out; shape.parents[at] != at && count < kMostLevels; at = shape.parents[at])
    down[count++] = at;
  path.step(phases[at]->released, times.exchange);
  while (count > 0) {
    const std::uint32_t next = down[--count];
    path.step(phases[next]->released, times.release[shape.depths[next] - 1]);
  }
}

}  // namespace

const char* unit_name(std::uint32_t unit) {
#define HIERBAR_LEVEL(unit, level, name, other_name, name_in_reports, preference) name_in_reports,
  static constexpr const char* kNames[] = {"", HIERBAR_LEVELS(HIERBAR_LEVEL)};
#undef HIERBAR_LEVEL
  return unit < HIERBAR_NUM_UNITS ? kNames[unit] : "";
}

Shape::Shape(std::uint64_t number, std::vector<std::uint32_t> tree,
             const std::vector<std::uint8_t>& units, std::uint32_t exchange)
    : serial(number), parents(std::move(tree)) {
  depths.resize(parents.size());
  for (std::uint32_t i = 0; i < parents.size(); ++i) {
    for (std::uint32_t at = i; parents[at] != at && depths[i] < parents.size(); at = parents[at])
      ++depths[i];
    num_levels = std::max(num_levels, depths[i]);
  }
  levels.resize(num_levels + 1);
  levels[0].groups.push_back({unit_name(exchange), {}});
  // For each thread, the index of the group that it gathers, at its level.
  std::vector<std::size_t> group_of(parents.size(), ~std::size_t{0});
  for (std::uint32_t i = 0; i < parents.size(); ++i) {
    if (parents[i] == i) {
      levels[0].groups[0].threads.push_back(i);
      continue;
    }
    const std::uint32_t parent = parents[i];
    std::vector<LevelGroups::Group>& groups = levels[depths[i]].groups;
    if (group_of[parent] == ~std::size_t{0}) {
      group_of[parent] = groups.size();
      groups.push_back({parent < units.size() ? unit_name(units[parent]) : "", {parent}});
    }
    groups[group_of[parent]].threads.push_back(i);
  }
  for (LevelGroups& level : levels) {
    for (const LevelGroups::Group& group : level.groups) add_names(level.name, group.unit);
  }
}

void LevelTimes::merge(const LevelTimes& other) {
  merge_all(gather, other.gather);
  exchange.merge(other.exchange);
  merge_all(release, other.release);
  outside.merge(other.outside);
  total_ns += other.total_ns;
  merge_groups(other.groups);
}

bool LevelTimes::adds_up() const {
  Histogram steps = exchange;
  steps.merge(outside);
  for (const Histogram& level : gather) steps.merge(level);
  for (const Histogram& level : release) steps.merge(level);
  return steps.sum_ns() <= total_ns && total_ns <= steps.sum_ns() + steps.count();
}

void LevelTimes::merge_groups(const std::vector<LevelGroups>& other) {
  for (std::size_t i = 0; i < other.size(); ++i) {
    if (i < groups.size())
      add_names(groups[i].name, other[i].name);
    else
      groups.push_back(other[i]);
  }
}

bool add_episode(LevelTimes& times, const Shape& shape, const std::vector<const Phases*>& phases,
                 std::uint64_t span, const TraceClock& clock) {
  std::uint32_t last_in = 0, last_out = 0;
  for (std::uint32_t i = 1; i < phases.size(); ++i) {
    if (phases[i]->arrived > phases[last_in]->arrived) last_in = i;
    if (phases[i]->released > phases[last_out]->released) last_out = i;
  }
  times.gather.resize(std::max<std::size_t>(times.gather.size(), shape.num_levels));
  times.release.resize(std::max<std::size_t>(times.release.size(), shape.num_levels));
  Path path(phases[last_in]->arrived, times);
  walk(path, shape, phases, last_in, last_out);
  if (!path.is_possible() || path.length() > span) return false;
  assert(path.length() == phases[last_out]->released - phases[last_in]->arrived);
  path.add_to_histograms(clock);
  times.outside.add(clock.to_ns(span - path.length()));
  times.total_ns += clock.to_ns(span);
  return true;
}

}  // namespace hierbar::report
