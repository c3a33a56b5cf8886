// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "placement/decision/own_share.hpp"
#include "placement/meeting/rendezvous.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/surroundings.hpp"
#include "topology/load.hpp"

namespace hierbar {
namespace {

// What a rank tells the test, which is another process.
struct ShareReport {
  std::atomic<int> loads;
  struct Rank {
    std::array<std::uint64_t, 8> share;  // 512 cpus
    bool has_share;
    std::uint64_t cpu_time_ns;
    char verdict[400];
  } ranks[64];
};

std::uint64_t cpu_time_ns() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + time.tv_usec * 1'000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// Ranks of MPICH's launcher on a machine that is not this one.
class OwnShare : public testing::Test {
 protected:
  OwnShare() {
    std::string directory = "/dev/shm/hierbar-test-XXXXXX";
    EXPECT_NE(mkdtemp(directory.data()), nullptr);
    directory_ = directory;
    report_ = new (mmap(nullptr, sizeof(ShareReport), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0)) ShareReport;
    use(test::make_machine("16 cores",
                           {{Level::kPackage, 2}, {Level::kNuma, 2}, {Level::kCore, 4}}));
  }
  ~OwnShare() override {
    EXPECT_TRUE(std::filesystem::is_empty(directory_));
    std::filesystem::remove_all(directory_);
    munmap(report_, sizeof(ShareReport));
  }

  void use(Machine machine) {
    load_ = [machine] { return machine; };
    evidence_ = {};
    evidence_.online = evidence_.kernel = machine.present;
    evidence_.grant = PoolEvidence::Grant{machine.present, "hydra_pmi_proxy (process 4711)"};
  }

  void launch(std::uint32_t rank, std::uint32_t num_ranks) {
    variables_["MPI_LOCALRANKID"] = std::to_string(rank);
    variables_["MPI_LOCALNRANKS"] = std::to_string(num_ranks);
  }

  ShareAnswer ask(const CpuSet& mask, std::uint32_t num_threads) {
    Surroundings around;
    around.environment = [this](const char* name) -> const char* {
      const auto variable = variables_.find(name);
      return variable == variables_.end() ? nullptr : variable->second.c_str();
    };
    around.cpu_quota = [this] { return quota_; };
    around.process_facts = [this] {
      ++num_facts_read_;
      Process proxy;
      proxy.pid = 4711;
      proxy.start_ticks = 1;
      proxy.name = "hydra_pmi_proxy";
      return ProcessFacts{{proxy}, "boot"};
    };
    around.pool_evidence = [this](const std::vector<Process>&) {
      return Result<PoolEvidence>(evidence_);
    };
    around.load_machine = [this] {
      if (!machine_) {
        ++report_->loads;
        machine_ = load_();
      }
      return &*machine_;
    };
    around.adopt_machine = [this](Machine machine) {
      return &machine_.emplace(std::move(machine));
    };
    around.patience_ns = patience_ns_;
    around.meeting_directory = directory_;
    return find_own_share({.mask = mask, .num_threads = num_threads}, around);
  }

  // All ranks, as processes; masks(rank) and threads(rank) say what they were given.
  template <class Masks, class Threads>
  void ask_all(std::uint32_t num_ranks, const Masks& masks, const Threads& threads) {
    std::vector<pid_t> children;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      launch(rank, num_ranks);
      ShareReport::Rank& own = report_->ranks[rank];
      const CpuSet mask = masks(rank);
      const std::uint64_t start_ns = cpu_time_ns();
      const ShareAnswer answer = ask(mask, threads(rank));
      own.cpu_time_ns = cpu_time_ns() - start_ns;
      own.has_share = answer.share.has_value();
      if (answer.share)
        std::copy(answer.share->words().begin(), answer.share->words().end(), own.share.begin());
      answer.verdict.copy(own.verdict, sizeof own.verdict - 1);
      _exit(0);
    }
    for (const pid_t child : children) waitpid(child, nullptr, 0);
  }
  CpuSet share(std::uint32_t rank) const { return {report_->ranks[rank].share.data(), 8}; }

  std::map<std::string, std::string> variables_;
  PoolEvidence evidence_;
  std::function<Machine()> load_;
  std::optional<Machine> machine_;
  std::uint64_t patience_ns_ = 60'000'000'000;
  std::optional<std::uint32_t> quota_;
  int num_facts_read_ = 0;
  std::string directory_;
  ShareReport* report_;
};

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST_F(OwnShare, TheOnlyRankGetsThePool) {
  launch(0, 1);
  const ShareAnswer answer = ask(*CpuSet::parse("5"), 4);
  ASSERT_TRUE(answer.share.has_value()) << answer.verdict;
  EXPECT_EQ(answer.share->to_string(), "0-15");
  EXPECT_THAT(answer.verdict,
              AllOf(StartsWith("placed: "), HasSubstr("takes cpus 0-15 in place of 5")));
}

TEST_F(OwnShare, AncestorsAreReadOnlyWhereALaunchersVariablesAre) {
  EXPECT_THAT(ask(*CpuSet::parse("5"), 4).verdict, StartsWith("no-launcher: "));
  EXPECT_EQ(num_facts_read_, 0);
  launch(0, 1);
  ask(*CpuSet::parse("5"), 4);
  EXPECT_EQ(num_facts_read_, 1);
}

TEST_F(OwnShare, NoReasonToActNeedsNoMachine) {
  const auto verdict = [&](const char* mask, std::uint32_t num_threads) {
    const ShareAnswer answer = ask(*CpuSet::parse(mask), num_threads);
    EXPECT_FALSE(answer.share.has_value());
    return answer.verdict;
  };
  EXPECT_THAT(verdict("0", 4), HasSubstr("no-launcher: this process stays on cpus 0: "));
  launch(0, 1);
  EXPECT_THAT(verdict("0", 0),
              AllOf(StartsWith("threads-unknown: "), HasSubstr("OMP_NUM_THREADS")));
  EXPECT_THAT(verdict("0-15", 4), AllOf(StartsWith("sufficient: "), HasSubstr("whole pool")));
  EXPECT_THAT(verdict("0", 17),
              AllOf(StartsWith("oversubscribed: "), HasSubstr("17 threads for 16 cpus")));
  variables_["OMP_PLACES"] = "{0},{1}";
  EXPECT_THAT(verdict("0", 4), AllOf(StartsWith("user-placed: "), HasSubstr("OMP_PLACES={0},{1}")));
  variables_.erase("OMP_PLACES");
  variables_["HIERBAR_PLACE"] = "off";
  EXPECT_THAT(verdict("0", 4), AllOf(StartsWith("off: "), HasSubstr("HIERBAR_PLACE is off")));
  EXPECT_EQ(report_->loads, 0);
}

// Who is bound by a launcher to a part of the node, or is in a batch job, is alone there.
TEST_F(OwnShare, CpusAreItsOwnWhereSomebodyHasGivenThem) {
  const auto has_own_cpus = [&](const char* mask, std::uint32_t num_threads) {
    const ShareAnswer answer = ask(*CpuSet::parse(mask), num_threads);
    EXPECT_FALSE(answer.share.has_value());
    return answer.has_own_cpus;
  };
  EXPECT_FALSE(has_own_cpus("0-3", 4)) << "no launcher";
  launch(0, 1);
  EXPECT_TRUE(has_own_cpus("0-3", 4));
  EXPECT_FALSE(has_own_cpus("0-15", 4)) << "the launcher has bound nothing";
  EXPECT_FALSE(has_own_cpus("0-15", 17)) << "oversubscribed";
  evidence_.scheduled = PoolEvidence::Limit{16, "SLURM_CPUS_ON_NODE"};
  EXPECT_TRUE(has_own_cpus("0-15", 4));
  variables_["HIERBAR_PLACE"] = "off";
  EXPECT_FALSE(has_own_cpus("0-3", 4));
}

TEST_F(OwnShare, AQuotaLimitsTeamsWithoutANumber) {
  const auto answer = [&](const char* setting, std::uint32_t num_threads,
                          std::optional<std::uint32_t> quota) {
    variables_["HIERBAR_PLACE"] = setting;
    quota_ = quota;
    return ask(*CpuSet::parse("0-3"), num_threads);
  };
  const ShareAnswer capped = answer("", 0, 2);
  EXPECT_EQ(capped.team_size, 2U);
  EXPECT_THAT(capped.warnings, ElementsAre(AllOf(HasSubstr("quota allows 2 cpus"),
                                                 HasSubstr("2 threads instead of 4"),
                                                 HasSubstr("HIERBAR_PLACE=quota=off"))));
  EXPECT_EQ(answer("", 0, 4).team_size, 0U) << "enough for all";
  EXPECT_EQ(answer("", 0, std::nullopt).team_size, 0U);
  EXPECT_EQ(answer("", 3, 2).team_size, 0U) << "the user's number counts";
  EXPECT_EQ(answer("quota=off", 0, 2).team_size, 0U);
  EXPECT_THAT(answer("off", 0, 2).warnings, IsEmpty());
  EXPECT_EQ(answer("check", 0, 2).team_size, 0U);
  EXPECT_THAT(answer("check", 0, 2).warnings, ElementsAre(HasSubstr("would default to 2 threads")));
}

TEST_F(OwnShare, CheckTellsAndDoesNothing) {
  launch(0, 1);
  variables_["HIERBAR_PLACE"] = "check";
  const ShareAnswer answer = ask(*CpuSet::parse("5"), 4);
  EXPECT_FALSE(answer.share.has_value());
  EXPECT_THAT(answer.verdict, AllOf(StartsWith("checked: "), HasSubstr("would take cpus 0-15")));
}

TEST_F(OwnShare, ABadSettingIsToldAndAutoIsUsed) {
  launch(0, 1);
  variables_["HIERBAR_PLACE"] = "of";
  const ShareAnswer answer = ask(*CpuSet::parse("5"), 4);
  EXPECT_TRUE(answer.share.has_value());
  EXPECT_THAT(answer.warnings,
              testing::ElementsAre(testing::AllOf(HasSubstr("'of'"), HasSubstr("allowed: off"))));
}

TEST_F(OwnShare, RanksWithDifferentThreadCountsAgree) {
  ask_all(
      3, [](std::uint32_t rank) { return CpuSet::range(rank, rank); },
      [](std::uint32_t rank) { return 2U << rank; });
  EXPECT_EQ(share(0).to_string() + " " + share(1).to_string() + " " + share(2).to_string(),
            "0-3 4-7 8-15")
      << report_->ranks[0].verdict;
  EXPECT_EQ(report_->loads, 1);
}

TEST_F(OwnShare, TeamsCanBeAsLargeAsTheShare) {
  launch(0, 1);
  variables_["HIERBAR_PLACE"] = "threads=share";
  const ShareAnswer open = ask(*CpuSet::parse("5"), 0);
  ASSERT_TRUE(open.share.has_value()) << open.verdict;
  EXPECT_EQ(open.team_size, 16U);
  EXPECT_THAT(open.verdict, HasSubstr("takes cpus 0-15 for teams of 16 in place of 5"));
  const ShareAnswer given = ask(*CpuSet::parse("5"), 4);
  EXPECT_THAT(given.verdict, HasSubstr("takes cpus 0-15 in place of 5"));
  variables_["HIERBAR_PLACE"] = "threads=keep";
  EXPECT_EQ(ask(*CpuSet::parse("5"), 4).team_size, 0U);
  variables_["HIERBAR_PLACE"] = "check,threads=share";
  const ShareAnswer check = ask(*CpuSet::parse("5"), 0);
  EXPECT_FALSE(check.share.has_value());
  EXPECT_EQ(check.team_size, 0U);
  EXPECT_THAT(check.verdict, HasSubstr("would take cpus 0-15 for teams of 16"));
}

TEST_F(OwnShare, RanksWithAndWithoutANumberAgree) {
  variables_["HIERBAR_PLACE"] = "threads=share";
  ask_all(
      3, [](std::uint32_t rank) { return CpuSet::range(rank, rank); },
      [](std::uint32_t rank) { return rank == 0 ? 8U : 0U; });
  EXPECT_EQ(share(0).to_string() + " " + share(1).to_string() + " " + share(2).to_string(),
            "0-7 8-11 12-15")
      << report_->ranks[0].verdict;
  EXPECT_THAT(report_->ranks[1].verdict, HasSubstr("for teams of 4"));
}

TEST_F(OwnShare, WithoutTheOthersAPoolThatIsKnownIsCutInEqualParts) {
  patience_ns_ = 20'000'000;
  launch(2, 4);
  const ShareAnswer answer = ask(*CpuSet::parse("0"), 4);
  ASSERT_TRUE(answer.share.has_value()) << answer.verdict;
  EXPECT_EQ(answer.share->to_string(), "8-11");
  EXPECT_THAT(answer.warnings, testing::ElementsAre(HasSubstr("only 1 of 4 ranks")));
  variables_["HIERBAR_PLACE"] = "threads=share";
  const ShareAnswer open = ask(*CpuSet::parse("0"), 0);
  ASSERT_TRUE(open.share.has_value()) << open.verdict;
  EXPECT_EQ(open.share->to_string(), "8-11");
  EXPECT_EQ(open.team_size, 4U);
  variables_.erase("HIERBAR_PLACE");
  evidence_.grant.reset();  // then only the ranks together know what they have
  const ShareAnswer unknown = ask(*CpuSet::parse("0"), 4);
  EXPECT_FALSE(unknown.share.has_value());
  EXPECT_THAT(unknown.verdict, AllOf(StartsWith("absent-ranks: "), HasSubstr("only 1 of 4 ranks")));
}

// All ranks are there, and the one that reads the machine for all takes longer than the others
// wait.
TEST_F(OwnShare, AMachineThatIsReadTooLateIsNoAbsentRank) {
  patience_ns_ = 20'000'000;
  const Machine machine = test::make_machine("16 cores", {{Level::kPackage, 2}, {Level::kCore, 8}});
  load_ = [this, machine] {
    // The first reader is done when another rank has given up, and reads the machine itself.
    while (report_->loads < 2) sched_yield();
    return machine;
  };
  ask_all(2, [](std::uint32_t) { return CpuSet::range(0, 0); }, [](std::uint32_t) { return 4U; });
  EXPECT_EQ(share(0).to_string() + " " + share(1).to_string(), "0-7 8-15");
  for (const std::uint32_t rank : {0U, 1U}) {
    EXPECT_THAT(report_->ranks[rank].verdict,
                AllOf(HasSubstr("its share of 16 cpus (0-15), those of hydra_pmi_proxy"),
                      HasSubstr("; all 2 ranks of this node arrived, but the one that reads the "
                                "machine for all took too long, so each "
                                "takes an equal part")));
  }
}

// 64 processes share out 512 cpus. What they pay is cpu time: they share two cpus here.
TEST_F(OwnShare, SixtyFourRanksLoadOnceAndPayLittle) {
  constexpr std::uint32_t kRanks = 64;
  constexpr const char* kDescription = "pack:2 [numa] l3:16 l2:8 core:1 pu:2";
  Result<Machine> machine = load_described_machine(kDescription);
  ASSERT_TRUE(machine.ok()) << machine.error();
  use(*machine);
  load_ = [] { return *load_described_machine(kDescription); };
  const CpuSet all = machine->present;
  ask_all(kRanks, [&](std::uint32_t) { return all; }, [](std::uint32_t) { return 4U; });
  EXPECT_EQ(report_->loads, 1);
  CpuSet taken;
  std::vector<std::uint64_t> times;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    ASSERT_TRUE(report_->ranks[rank].has_share) << report_->ranks[rank].verdict;
    EXPECT_EQ(share(rank).count(), 8u);
    EXPECT_FALSE(share(rank).intersects(taken));
    taken |= share(rank);
    times.push_back(report_->ranks[rank].cpu_time_ns);
  }
  EXPECT_EQ(taken, all);
  std::sort(times.begin(), times.end());
  const auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };
  // The one that loads is among the most expensive.
  std::printf("cpu time of %u ranks: median %.3f ms, second largest %.3f ms, largest %.3f ms\n",
              kRanks, ms(times[kRanks / 2]), ms(times[kRanks - 2]), ms(times[kRanks - 1]));
  if (!kSanitized) {
    EXPECT_LE(ms(times[kRanks - 2]), 5.0);
  }
}

// Shares of ranks that cannot meet, because another program has the name of their meeting.
class SquattedShare : public OwnShare {
 protected:
  // The name, from a rank that is killed while it waits for the other.
  SquattedShare() {
    std::filesystem::permissions(directory_, std::filesystem::perms{01777});
    launch(1, 2);
    const pid_t rank = fork();
    if (rank == 0) {
      ask(*CpuSet::parse("0"), 4);
      _exit(0);
    }
    while (std::filesystem::is_empty(directory_)) usleep(100);
    name_ = std::filesystem::directory_iterator(directory_)->path();
    kill(rank, SIGKILL);
    waitpid(rank, nullptr, 0);
    EXPECT_EQ(sweep_meetings(directory_), 1);
  }
  ~SquattedShare() override { std::filesystem::remove(name_); }

  // What one of two ranks tells its user, who has not asked for more.
  std::vector<std::string> warnings_of(std::uint32_t rank) {
    launch(rank, 2);
    const ShareAnswer answer = ask(*CpuSet::parse("0"), 4);
    EXPECT_FALSE(answer.share.has_value());
    EXPECT_THAT(answer.verdict, StartsWith("no-meeting: "));
    return answer.warnings;
  }

  std::string name_;
};

TEST_F(SquattedShare, TheFirstRankAloneNamesWhatIsThereAndItsOwner) {
  std::filesystem::create_directory(name_);
  EXPECT_THAT(warnings_of(0),
              testing::ElementsAre(AllOf(HasSubstr("the directory " + name_ + " of user " +
                                                   std::to_string(geteuid()) + " has the name"),
                                         HasSubstr("stay on the cpus that they were given"),
                                         HasSubstr("HIERBAR_PLACE=off"))));
  EXPECT_THAT(warnings_of(1), testing::IsEmpty());
  std::filesystem::remove(name_);
  std::filesystem::create_symlink("nowhere", name_);
  EXPECT_THAT(warnings_of(0), testing::ElementsAre(HasSubstr("the link " + name_)));
}

TEST_F(SquattedShare, AnotherUsersFileIsNamed) {
  if (!test::can_become_others()) GTEST_SKIP() << test::kCannotBecomeOthers;
  const auto plant = [&] {
    return close(open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  };
  ASSERT_EQ(test::run_as(test::kAttacker, plant), 0);
  EXPECT_THAT(warnings_of(0), testing::ElementsAre(HasSubstr("the file " + name_ + " of user " +
                                                             std::to_string(test::kAttacker))));
  EXPECT_THAT(warnings_of(1), testing::IsEmpty());
}

}  // namespace
}  // namespace hierbar
