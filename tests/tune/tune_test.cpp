// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "plan/locality.hpp"
#include "tests/support/machines.hpp"
#include "tune/ping_pong.hpp"
#include "tune/tune.hpp"
#include "tune/tune_report.hpp"

namespace hierbar {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A machine that is not there: each measurement takes some of a clock's time and gives what the
// test says.
class SimulatedMeter : public Meter {
 public:
  using PeriodOf = std::function<double(const EnginePlan&)>;

  SimulatedMeter(const Machine& machine, PeriodOf period_of)
      : machine_(machine), period_of_(std::move(period_of)) {}

  double pause_ns() override { return 20; }
  OneWay one_way(std::uint32_t cpu, std::uint32_t other_cpu) override {
    seconds_ += 0.05;
    CpuSet both = CpuSet::range(cpu, cpu);
    both.set(other_cpu);
    const double ns = 100 - 20 * machine_.units[machine_.smallest_unit_containing(both)].depth;
    return OneWay{{ns, ns, ns}, {ns + 1, ns + 1, ns + 1}, {ns + 5, ns + 5, ns + 5}};
  }
  std::unique_ptr<TeamMeter> team(const std::vector<std::uint32_t>& cpus,
                                  const std::vector<EnginePlan>& plans) override {
    EXPECT_EQ(cpus.size(), plans.front().nodes.size());
    return std::make_unique<Team>(*this, plans);
  }

  double seconds() const { return seconds_; }
  double seconds_per_batch = 0.001;
  double noise = 0;  // a period is up to so much of itself longer

 private:
  class Team : public TeamMeter {
   public:
    Team(SimulatedMeter& meter, const std::vector<EnginePlan>& plans)
        : meter_(meter), plans_(plans) {}
    double period_ns(std::size_t plan) override {
      meter_.seconds_ += meter_.seconds_per_batch;
      const double luck =
          static_cast<double>(meter_.random_()) / static_cast<double>(std::mt19937::max());
      return meter_.period_of_(plans_[plan]) * (1 + meter_.noise * luck);
    }

   private:
    SimulatedMeter& meter_;
    std::vector<EnginePlan> plans_;
  };

  const Machine& machine_;
  PeriodOf period_of_;
  double seconds_ = 0;
  std::mt19937 random_{1};
};

TuneHooks hooks_of(const SimulatedMeter& meter) {
  return {[&meter] { return meter.seconds(); }, [] { return false; },
          [](double, const std::string&) {}};
}

// Best with 8 leaders and lines.
double eight_leaders_and_lines(const EnginePlan& plan) {
  const double leaders = static_cast<double>(plan.leaders.size());
  return 1000 + 20 * std::abs(leaders - 8) + (plan.release == HIERBAR_RELEASE_LINES ? 0 : 100);
}

TEST(Tune, FindsTheBestShapeAndTheProfileGivesIt) {
  const Machine machine = test::make_kunpeng();
  SimulatedMeter meter(machine, eight_leaders_and_lines);
  meter.noise = 0.02;
  const auto report = tune(machine, {}, meter, hooks_of(meter));
  ASSERT_TRUE(report.ok());
  ASSERT_THAT(report->teams, SizeIs(1));
  EXPECT_EQ(report->teams[0].verdict, Verdict::kBetter);

  auto profile = parse_profile(to_json(*report).dump());
  ASSERT_TRUE(profile.ok()) << profile.error();
  const auto paths = locate_all(machine, *map_participants(machine, Mapping::kCore, 128));
  ShapeOptions options;
  apply_profile(*profile, machine, paths, {}, options);
  const EnginePlan plan = *build_engine_plan(paths, machine, options);
  EXPECT_THAT(plan.leaders, SizeIs(8));
  EXPECT_EQ(plan.release, HIERBAR_RELEASE_LINES);
  EXPECT_THAT(describe(*report),
              Contains(AllOf(HasSubstr("128 threads on 128 cores: now 8 leaders, lines"),
                             HasSubstr("less"))));
}

TEST(Tune, TheReleaseAloneCanBeBetter) {
  const Machine machine = test::make_kunpeng();
  SimulatedMeter meter(machine, [](const EnginePlan& plan) {
    return plan.release == HIERBAR_RELEASE_LINES ? 900. : 1000.;
  });
  const auto report = tune(machine, {}, meter, hooks_of(meter));
  const auto profile = parse_profile(to_json(*report).dump());
  ASSERT_TRUE(profile.ok()) << profile.error();
  EXPECT_EQ(profile->plans[0].num_leaders, 0U) << "the automatic shape";
  EXPECT_EQ(profile->plans[0].release, HIERBAR_RELEASE_LINES);
}

TEST(Tune, NoiseIsNoGain) {
  const Machine machine = test::make_kunpeng();
  SimulatedMeter meter(machine, [](const EnginePlan&) { return 1000.; });
  meter.noise = 0.5;
  const auto report = tune(machine, {}, meter, hooks_of(meter));
  EXPECT_EQ(report->teams[0].verdict, Verdict::kDefault);
  const auto profile = parse_profile(to_json(*report).dump());
  ASSERT_TRUE(profile.ok()) << profile.error();
  EXPECT_TRUE(profile->plans.at(0).is_default());
  EXPECT_THAT(describe(*report), Contains(HasSubstr("the automatic shape stays")));
}

TEST(Tune, SmallTeamsHaveNoChoice) {
  const Machine machine = test::make_machine("small", {{Level::kL3, 1}, {Level::kCore, 4}});
  SimulatedMeter meter(machine, eight_leaders_and_lines);
  const auto report = tune(machine, {}, meter, hooks_of(meter));
  EXPECT_EQ(report->teams[0].verdict, Verdict::kNoChoice);
  EXPECT_TRUE(parse_profile(to_json(*report).dump())->plans.at(0).is_default());
}

TEST(Tune, MeasuresCoresAndCpusWhereTheyDiffer) {
  const Machine machine = test::make_machine("smt", {{Level::kL3, 2}, {Level::kCore, 8}}, 2);
  SimulatedMeter meter(machine, eight_leaders_and_lines);
  const auto report = tune(machine, {}, meter, hooks_of(meter));
  ASSERT_THAT(report->teams, SizeIs(2));
  EXPECT_EQ(report->teams[0].team, (TeamSpread{16, 16, 2}));
  EXPECT_EQ(report->teams[1].team, (TeamSpread{32, 16, 2}));
}

TEST(Tune, LatenciesGrowWithTheClasses) {
  const Machine machine = test::make_kunpeng();
  SimulatedMeter meter(machine, eight_leaders_and_lines);
  const auto report = tune(machine, {}, meter, hooks_of(meter));
  ASSERT_THAT(report->latencies, SizeIs(4));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_GT(report->latencies[i].pairs.front().one_way.store.median,
              report->latencies[i - 1].pairs.back().one_way.store.median);
  }
  const auto nearest = nearest_pair(nlohmann::json::parse(to_json(*report).dump()));
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->cpus, report->latencies[0].pairs[0].cpus);
  EXPECT_EQ(nearest->pause_ns, 20);
}

// Slow measurements must end in time too: no more than each class's first pair and each step's
// fewest turns is beyond it.
TEST(Tune, KeepsItsTimeLimitOnALargeMachine) {
  const Machine machine = test::make_machine("large",
                                             {{Level::kPackage, 4},
                                              {Level::kNuma, 2},
                                              {Level::kL3, 8},
                                              {Level::kL2, 4},
                                              {Level::kCore, 4}},
                                             4);
  ASSERT_EQ(machine.allowed.count(), 4096U);
  for (const double limit_s : {3., 60.}) {
    SimulatedMeter meter(machine, eight_leaders_and_lines);
    meter.seconds_per_batch = 0.005;
    const auto report = tune(machine, {.time_limit_s = limit_s}, meter, hooks_of(meter));
    ASSERT_TRUE(report.ok());
    EXPECT_LT(meter.seconds(), limit_s + 2);
    EXPECT_THAT(report->latencies, SizeIs(6));
  }
}

TEST(Tune, WithoutTimeSaysNothingAboutTeams) {
  const Machine machine = test::make_kunpeng();
  SimulatedMeter meter(machine, eight_leaders_and_lines);
  const auto report = tune(machine, {.time_limit_s = 0.01}, meter, hooks_of(meter));
  EXPECT_EQ(report->teams[0].verdict, Verdict::kNoTime);
  EXPECT_TRUE(parse_profile(to_json(*report).dump())->plans.at(0).is_default());
}

TEST(Tune, StopsAtOnceWhenAsked) {
  const Machine machine = test::make_kunpeng();
  SimulatedMeter meter(machine, eight_leaders_and_lines);
  TuneHooks hooks = hooks_of(meter);
  hooks.is_stopped = [&meter] { return meter.seconds() > 1.7; };
  EXPECT_FALSE(tune(machine, {}, meter, hooks).ok());
  EXPECT_LT(meter.seconds(), 1.8);
}

TEST(Rivals, AreDifferentPlansOfWhichTheFirstIsAutomatic) {
  const Machine machine = test::make_kunpeng();
  const auto paths = locate_all(machine, *map_participants(machine, Mapping::kCore, 64));
  std::vector<EnginePlan> plans;
  const auto rivals = rival_shapes(paths, machine, plans);
  ASSERT_EQ(rivals.size(), plans.size());
  EXPECT_EQ(rivals[0].num_leaders, 0U);
  EXPECT_EQ(rivals[0].release, HIERBAR_RELEASE_FLAGS);
  std::set<std::uint32_t> leaders;
  for (const RivalShape& rival : rivals) leaders.insert(rival.actual_leaders);
  EXPECT_THAT(leaders, ::testing::IsSupersetOf({2U, 4U, 8U, 16U, 32U, 64U}));
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<PairClass>& classes) {
  std::vector<std::string> names;
  for (const PairClass& pair_class : classes) names.push_back(pair_class.name);
  return names;
}

std::vector<std::string> labels_of(const Unit& unit) {
  std::vector<std::string> names;
  for (int i = 0; i < kNumLevels; ++i) {
    if (unit.has(static_cast<Level>(i))) names.emplace_back(level_name(static_cast<Level>(i)));
  }
  return names;
}

const Machine& with_smt() {
  static const Machine machine = test::make_machine(
      "2 x EPYC 7742",
      {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kL3, 16}, {Level::kCore, 4}}, 2);
  return machine;
}

TEST(CpuPairs, ClassesAreNearestFirst) {
  EXPECT_THAT(names_of(sample_pairs(test::make_kunpeng(), 8)),
              ElementsAre("cluster", "l3", "package", "machine"));
  EXPECT_THAT(names_of(sample_pairs(with_smt(), 8)), ElementsAre("core", "l3", "numa", "machine"));
}

TEST(CpuPairs, AreAsFarApartAsTheirClassSays) {
  for (const Machine& machine :
       {test::make_kunpeng(), with_smt(), test::make_hybrid(), test::make_partial_l3()}) {
    for (const PairClass& pair_class : sample_pairs(machine, 8)) {
      EXPECT_THAT(pair_class.pairs, ::testing::Not(IsEmpty()));
      for (const auto& [a, b] : pair_class.pairs) {
        EXPECT_LT(a, b);
        CpuSet both;
        both.set(a);
        both.set(b);
        const Unit& unit = machine.units[machine.smallest_unit_containing(both)];
        if (pair_class.name == "core") {
          EXPECT_THAT(unit.children, IsEmpty());
        } else {
          EXPECT_THAT(labels_of(unit), ::testing::Contains(pair_class.name));
        }
      }
    }
  }
}

TEST(CpuPairs, AreSpreadOverTheUnitsOfAClass) {
  std::set<std::uint32_t> domains;
  const std::vector<PairClass> classes = sample_pairs(with_smt(), 8);
  for (const CpuPair& pair : classes[1].pairs) domains.insert(pair.first / 8);
  EXPECT_THAT(domains, SizeIs(8)) << "8 pairs inside an L3 are in 8 of the 32";
}

TEST(CpuPairs, AreEachTakenOnceAndNoMoreThanWanted) {
  for (const PairClass& pair_class : sample_pairs(with_smt(), 5))
    EXPECT_THAT(pair_class.pairs, SizeIs(5)) << pair_class.name;
  const std::vector<PairClass> two_cpus =
      sample_pairs(test::make_machine("two", {{Level::kCore, 2}}), 8);
  ASSERT_THAT(two_cpus, SizeIs(1));
  EXPECT_THAT(two_cpus[0].pairs, ElementsAre(CpuPair(0, 1)));
}

TEST(CpuPairs, OnlyAllowedCpusCount) {
  Machine machine = with_smt();
  machine.allowed = CpuSet::range(4, 11);
  for (const PairClass& pair_class : sample_pairs(machine, 8)) {
    for (const auto& [a, b] : pair_class.pairs) {
      EXPECT_GE(a, 4U);
      EXPECT_LE(b, 11U);
    }
  }
  machine.allowed = CpuSet::range(4, 4);
  EXPECT_THAT(sample_pairs(machine, 8), IsEmpty());
}

TEST(CpuPairs, EqualMachinesGiveEqualPairs) {
  const auto first = sample_pairs(test::make_kunpeng(), 8);
  const auto again = sample_pairs(test::make_kunpeng(), 8);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].pairs, again[i].pairs);
}

}  // namespace
}  // namespace hierbar
