// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "placement/decision/own_share.hpp"
#include "tests/support/machines.hpp"

namespace hierbar::test {

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

inline std::uint64_t cpu_time_ns() {
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
    report_ = new (mmap(nullptr, sizeof(ShareReport), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) ShareReport;
    use(make_machine("16 cores", {{Level::kPackage, 2}, {Level::kNuma, 2}, {Level::kCore, 4}}));
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
    around.process_facts = [] {
      Process proxy;
      proxy.pid = 4711;
      proxy.start_ticks = 1;
      proxy.name = "hydra_pmi_proxy";
      return ProcessFacts{{proxy}, "boot"};
    };
    around.pool_evidence = [this](const std::vector<Process>&) { return Result<PoolEvidence>(evidence_); };
    around.load_machine = [this] {
      if (!machine_) {
        ++report_->loads;
        machine_ = load_();
      }
      return &*machine_;
    };
    around.adopt_machine = [this](Machine machine) { return &machine_.emplace(std::move(machine)); };
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
      if (answer.share) std::copy(answer.share->words().begin(), answer.share->words().end(), own.share.begin());
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
  std::string directory_;
  ShareReport* report_;
};

}  // namespace hierbar::test
