// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/common/course.hpp"
#include "bench/common/floors/floor_runner.hpp"
#include "bench/common/host.hpp"
#include "bench/common/stop_requests.hpp"
#include "bench/runtimes/configuration.hpp"

namespace hierbar::bench {

// What one process, or one launch of ranks, gave.
struct Run {
  std::string failure;                                   // why there are no figures; else empty
  std::map<std::string, std::vector<double>> figures{};  // samples by quantity
  std::vector<double> ideal{};                           // for each sample, if the quantity has one
};

// Measures configurations, derived from Configuration, with progress on stderr:
//
// 1. In each repetition, goes through all parts: groups that one process measures together. So each
//    part is spread over the whole run.
// 2. A block is one part in one repetition. It runs every configuration and the floors once, one
//    after the other, each in processes of its own.
// 3. Measures the distance of the cpus between any two blocks. Blocks in which it changed are
//    dropped and repeated, as often as the options allow.
//
// A configuration that fails in a part is not tried again in that part. Its rows say why.
template <class KindConfiguration>
class Session {
 public:
  // `name` is the program's, for messages. The other arguments must live longer than this object.
  Session(const char* name, const RunOptions& options, const Host& host,
          const std::vector<KindConfiguration>& configurations)
      : options_(options),
        host_(host),
        configurations_(configurations),
        timeout_(static_cast<long long>(options.timeout_s * 1000)),
        floors_(name, options.libexec_dir / "floor_worker", host, timeout_) {}
  virtual ~Session() = default;

  [[nodiscard]] Measurements run() {
    std::vector<CoursePart> course;
    for (const Part& part : parts_) {
      course.push_back({part.description,
                        [this, &part](int repetition) { return measure_block(part, repetition); },
                        [this, &part] { return settle_all(part); }});
    }
    const auto begin = [this] {
      last_one_way_ns_ = measure_one_way();
      prepare(results_);
    };
    run_course(options_, begin, course, results_);
    return std::move(results_);
  }

 protected:
  // Neighbours in the measurements. They have the same number of participants.
  struct Part {
    std::string description;  // for the progress
    std::size_t first = 0;
    std::size_t count = 0;
  };
  using Turns = std::vector<const KindConfiguration*>;  // nullptr stands for the floors

  // A new group, with a row for each configuration that can be measured.
  [[nodiscard]] Group new_group(int num_participants, std::string_view quantity) const {
    Group group;
    group.num_participants = num_participants;
    group.quantity = quantity;
    group.oversubscribed = num_participants > static_cast<int>(host_.cpus.size());
    for (const KindConfiguration& configuration : configurations_) {
      if (configuration.unavailable.empty())
        group.series.push_back({configuration.name, configuration.family, "", {}});
    }
    return group;
  }

  void add_part(std::string description, std::vector<Group> groups) {
    parts_.push_back({std::move(description), results_.groups.size(), groups.size()});
    for (Group& group : groups) results_.groups.push_back(std::move(group));
  }

  [[nodiscard]] std::span<Group> groups_of(const Part& part) {
    return std::span(results_.groups).subspan(part.first, part.count);
  }

  // Adds the figures of a run to the rows that are called `name`.
  void record(const Part& part, const std::string& name, Family family, int repetition,
              const Run& run) {
    if (stop_request() != 0) return;  // its end may be no failure of its own
    for (Group& group : groups_of(part)) {
      Series& series = series_of(group, name, family);
      series.failure = run.failure;
      const auto found = run.figures.find(group.quantity);
      if (!run.failure.empty() || found == run.figures.end()) continue;
      series.samples[repetition] = found->second;
      if (!run.ideal.empty()) series.ideal[repetition] = run.ideal;
    }
  }

  // Before the first repetition, when the machine is quiet.
  virtual void prepare(Measurements&) {}
  // Puts the turns of a block into their order. The floors have the first one, if it does nothing.
  virtual void order(Turns& turns, int repetition) = 0;
  virtual void begin_block(const Part&) {}
  virtual void end_block() {}
  virtual void measure_floors(const Part& part, int repetition) = 0;
  // Measures and records one turn of a configuration.
  virtual void measure_configuration(const Part& part, const KindConfiguration& configuration,
                                     int repetition) = 0;

  const RunOptions& options_;
  const Host& host_;
  const std::vector<KindConfiguration>& configurations_;
  const std::chrono::milliseconds timeout_;
  FloorRunner floors_;

 private:
  Block measure_block(const Part& part, int repetition) {
    const LoadMeter meter;
    Turns turns{nullptr};
    for (const KindConfiguration& configuration : configurations_) {
      if (configuration.unavailable.empty()) turns.push_back(&configuration);
    }
    order(turns, repetition);

    Block block{repetition, last_one_way_ns_, std::nullopt, true};
    begin_block(part);
    for (const KindConfiguration* configuration : turns) {
      if (stop_request() != 0) break;
      if (configuration == nullptr) {
        measure_floors(part, repetition);
      } else if (!has_failed(part, *configuration)) {
        measure_configuration(part, *configuration, repetition);
      }
    }
    end_block();
    if (stop_request() != 0) return block;
    block.one_way_after_ns = last_one_way_ns_ = measure_one_way();
    block.taken_by_others = meter.share_of_part();
    for (Group& group : groups_of(part)) group.blocks.push_back(block);
    return block;
  }

  bool has_failed(const Part& part, const KindConfiguration& configuration) {
    Group& group = groups_of(part).front();
    return !series_of(group, configuration.name, configuration.family).failure.empty();
  }

  // Between the cpus that are farthest apart of those that the participants have for themselves.
  std::optional<double> measure_one_way() {
    int most = 2;
    for (const Group& group : results_.groups) {
      if (!group.oversubscribed) most = std::max(most, group.num_participants);
    }
    const auto one_way_ns = floors_.measure_one_way(most);
    record_one_way(results_, last_one_way_ns_, one_way_ns);
    return one_way_ns;
  }

  // Returns the number of good blocks, which is the same for all groups of one part.
  int settle_all(const Part& part) {
    int num_good = 0;
    for (Group& group : groups_of(part)) num_good = settle(group);
    return num_good;
  }

  Measurements results_;
  std::vector<Part> parts_;
  std::optional<double> last_one_way_ns_;
};

}  // namespace hierbar::bench
